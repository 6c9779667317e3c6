package sarima_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/sarima"
)

// dense is the same model without any trick: the whole covariance matrix of what was
// observed and what is to come, from the weights of the infinite moving average.
type dense struct {
	series []float64
	auto   []float64 // autocovariances, for innovations of variance 1
	seen   []int
}

// autocovariances are summed over so many weights that the rest does not matter; the
// coefficients must not be too near to the edge.
func autocovariances(o sarima.Order, c sarima.Coefficients, lags int) []float64 {
	const weights = 2000
	ar, ma := expand(c.AR, c.SeasonalAR, o.Period, -1), expand(c.MA, c.SeasonalMA, o.Period, 1)
	psi := make([]float64, weights)
	for k := range psi {
		if k < len(ma) {
			psi[k] = ma[k]
		}
		for lag := 1; lag < len(ar) && lag <= k; lag++ {
			psi[k] -= ar[lag] * psi[k-lag]
		}
	}
	auto := make([]float64, lags)
	for lag := range auto {
		for k := lag; k < weights; k++ {
			auto[lag] += psi[k] * psi[k-lag]
		}
	}
	return auto
}

func expand(a, b []float64, period int, sign float64) []float64 {
	out := make([]float64, 1+len(a)+period*len(b))
	for j := range len(b) + 1 {
		outer := 1.0
		if j > 0 {
			outer = sign * b[j-1]
		}
		out[j*period] += outer
		for i, inner := range a {
			out[j*period+i+1] += outer * sign * inner
		}
	}
	return out
}

func newDense(series []float64, o sarima.Order, c sarima.Coefficients, horizon int) dense {
	d := dense{series: series, auto: autocovariances(o, c, len(series)+horizon)}
	for i, value := range series {
		if !math.IsNaN(value) {
			d.seen = append(d.seen, i)
		}
	}
	return d
}

func (d dense) cov(i, j int) float64 { return d.auto[max(i-j, j-i)] }

// normal is the likelihood with the mean and variance that maximise it, and the
// expectation and standard error of an instant.
func (d dense) normal(t fataler, mean bool, at int) (logLikelihood, mu, variance, expected, stderr float64) {
	n := len(d.seen)
	sigma := mat.NewSymDense(n, nil)
	y, ones, c := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for a, i := range d.seen {
		for b, j := range d.seen {
			sigma.SetSym(a, b, d.cov(i, j))
		}
		y.SetVec(a, d.series[i])
		ones.SetVec(a, 1)
		c.SetVec(a, d.cov(i, at))
	}
	var chol mat.Cholesky
	if !chol.Factorize(sigma) {
		t.Fatal("the oracle's covariance is not positive definite")
	}
	solve := func(v *mat.VecDense) *mat.VecDense {
		out := mat.NewVecDense(n, nil)
		if err := chol.SolveVecTo(out, v); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if mean {
		mu = mat.Dot(ones, solve(y)) / mat.Dot(ones, solve(ones))
	}
	y.AddScaledVec(y, -mu, ones)
	variance = mat.Dot(y, solve(y)) / float64(n)
	logLikelihood = -(float64(n)*(math.Log(2*math.Pi*variance)+1) + chol.LogDet()) / 2
	expected = mu + mat.Dot(c, solve(y))
	stderr = math.Sqrt(variance * (d.auto[0] - mat.Dot(c, solve(c))))
	return logLikelihood, mu, variance, expected, stderr
}

type fataler interface{ Fatal(args ...any) }

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// The filter's likelihood, mean, variance, forecasts and errors are those of the
// multivariate normal distribution, with and without holes.
func TestModelIsTheMultivariateNormal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(-0.9, 0.9)
		o := sarima.Order{
			AR: rapid.IntRange(0, 1).Draw(t, "p"), MA: rapid.IntRange(0, 1).Draw(t, "q"),
			SeasonalAR: rapid.IntRange(0, 1).Draw(t, "P"), SeasonalMA: rapid.IntRange(0, 2).Draw(t, "Q"),
			Period: rapid.IntRange(2, 6).Draw(t, "s"), Mean: rapid.Bool().Draw(t, "mean"),
		}
		draw := func(n int, name string) []float64 { return rapid.SliceOfN(unit, n, n).Draw(t, name) }
		c := sarima.Coefficients{AR: draw(o.AR, "φ"), MA: draw(o.MA, "θ"), SeasonalAR: draw(o.SeasonalAR, "Φ"), SeasonalMA: draw(o.SeasonalMA, "Θ")}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		series := make([]float64, rapid.IntRange(40, 60).Draw(t, "length"))
		for i := range series {
			if series[i] = 10 * random.NormFloat64(); random.IntN(8) == 0 {
				series[i] = math.NaN()
			}
		}
		m, err := sarima.Evaluate(series, o, c)
		if err != nil {
			t.Fatal(err)
		}
		steps := rapid.IntRange(1, 15).Draw(t, "steps")
		oracle := newDense(series, o, c, steps)
		logLikelihood, mu, variance, expected, stderr := oracle.normal(t, o.Mean, len(series)+steps-1)
		if !near(m.LogLikelihood, logLikelihood, 1e-9) || !near(m.Mean, mu, 1e-8) || !near(m.Variance, variance, 1e-9) {
			t.Fatalf("likelihood %v, mean %v, variance %v; want %v, %v, %v", m.LogLikelihood, m.Mean, m.Variance, logLikelihood, mu, variance)
		}
		means, stderrs := m.Forecast(steps)
		if len(means) != steps || len(stderrs) != steps {
			t.Fatalf("%d and %d values for %d steps", len(means), len(stderrs), steps)
		}
		if got := means[steps-1]; !near(got, expected, 1e-8) {
			t.Fatalf("step %d is %v, want %v", steps, got, expected)
		}
		if got := stderrs[steps-1]; !near(got, stderr, 1e-8) {
			t.Fatalf("error of step %d is %v, want %v", steps, got, stderr)
		}
	})
}
