package sarima

import "math"

// Coefficients are the ARMA part of a model,
//
//	(1 − Σ ARᵢBⁱ)(1 − Σ SeasonalARᵢBⁱˢ) z = (1 + Σ MAᵢBⁱ)(1 + Σ SeasonalMAᵢBⁱˢ) e,
//
// with the signs of R and statsmodels.
type Coefficients struct {
	AR, MA, SeasonalAR, SeasonalMA []float64
}

// nearest is how close a partial autocorrelation may come to ±1. Without a bound
// the likelihood of a series that repeats itself exactly has no maximum.
const nearest = 1 - 1e-7

// coefficientsAt maps any point of the search space to a stationary and invertible
// model: each coordinate is a partial autocorrelation on the scale of artanh
// (Barndorff-Nielsen and Schou 1973; Monahan 1984).
func (o Order) coefficientsAt(point []float64) Coefficients {
	at := 0
	stable := func(n int) []float64 {
		partial := make([]float64, n)
		for i := range partial {
			partial[i] = nearest * math.Tanh(point[at+i])
		}
		at += n
		return fromPartial(partial)
	}
	c := Coefficients{AR: stable(o.AR), MA: stable(o.MA), SeasonalAR: stable(o.SeasonalAR), SeasonalMA: stable(o.SeasonalMA)}
	negate(c.MA)
	negate(c.SeasonalMA)
	return c
}

func negate(values []float64) {
	for i := range values {
		values[i] = -values[i]
	}
}

// fromPartial turns partial autocorrelations into the coefficients of the
// autoregression that has them, in place (Durbin and Levinson).
func fromPartial(partial []float64) []float64 {
	for k := 1; k < len(partial); k++ {
		mirror(partial[:k], -partial[k])
	}
	return partial
}

// mirror replaces each a[i] by a[i] + by·a[len−1−i].
func mirror(a []float64, by float64) {
	for i, j := 0, len(a)-1; i <= j; i, j = i+1, j-1 {
		a[i], a[j] = a[i]+by*a[j], a[j]+by*a[i]
	}
}

// term is value·Bˡᵃᵍ. A product of seasonal polynomials is long and nearly empty,
// so they are kept as their terms.
type term struct {
	lag   int
	value float64
}

// product is the terms of (1 + sign·Σ aᵢBⁱ)(1 + sign·Σ bᵢBⁱˢ), the leading 1 included.
func product(to []term, a, b []float64, period int, sign float64) []term {
	to = to[:0]
	for j := range len(b) + 1 {
		outer := 1.0
		if j > 0 {
			outer = sign * b[j-1]
		}
		to = append(to, term{j * period, outer})
		for i, inner := range a {
			to = append(to, term{j*period + i + 1, outer * sign * inner})
		}
	}
	return to
}

// differencing is (1−B)ᵈ(1−Bˢ)ᴰ, dense: its value at lag i is at [i].
func (o Order) differencing() []float64 {
	poly := []float64{1}
	for range o.Diff {
		poly = subtractShifted(poly, 1)
	}
	for range o.SeasonalDiff {
		poly = subtractShifted(poly, o.Period)
	}
	return poly
}

// subtractShifted is poly·(1−Bˡᵃᵍ).
func subtractShifted(poly []float64, lag int) []float64 {
	out := make([]float64, len(poly)+lag)
	copy(out, poly)
	for i, value := range poly {
		out[i+lag] -= value
	}
	return out
}
