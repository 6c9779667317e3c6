package sarima_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/sarima"
)

func parsed(t testing.TB, text string) sarima.Order {
	t.Helper()
	o, err := sarima.ParseOrder(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// simulate draws a seasonal series of hours with noise.
func simulate(seed uint64, n int) []float64 {
	random := rand.New(rand.NewPCG(seed, 0))
	out, noise := make([]float64, n), 0.0
	for i := range out {
		noise = 0.7*noise + random.NormFloat64()
		out[i] = 40 + 10*math.Sin(2*math.Pi*float64(i)/24) + noise
	}
	return out
}

func TestFitRefuses(t *testing.T) {
	t.Parallel()
	o := parsed(t, "(1,0,1)(1,0,1)24")
	full := simulate(1, 72)
	infinite := slices.Clone(full)
	infinite[7] = math.Inf(1)
	missing := slices.Repeat([]float64{math.NaN()}, 72)
	unknown := simulate(1, 96) // one hour of the day is known on no day
	for i := 5; i < len(unknown); i += 24 {
		unknown[i] = math.NaN()
	}
	cases := map[string]struct {
		series []float64
		order  sarima.Order
		want   string
	}{
		"nothing":      {nil, o, "no observation is known"},
		"all missing":  {missing, o, "no observation is known"},
		"too short":    {full[:30], o, "30 observations, 0 of them missing, are too few for (1,0,1)(1,0,1)24: differencing must leave 31, and leaves 30"},
		"differenced":  {full[:40], parsed(t, "(1,1,1)(1,1,1)24"), "leaves 15"},
		"infinite":     {infinite, o, "observation 7 is infinite"},
		"huge":         {slices.Repeat([]float64{1e200, -1e200}, 40), o, "scale the series"},
		"no order":     {full, sarima.Order{AR: -1}, "-1 is not from 0"},
		"unknown hour": {unknown, parsed(t, "(1,0,0)(0,1,1)24"), "each hour of the season must be observed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := sarima.Fit(c.series, c.order); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestEvaluateRefuses(t *testing.T) {
	t.Parallel()
	o := parsed(t, "(1,0,0)")
	for want, c := range map[string]sarima.Coefficients{
		"are not those of the order": {MA: []float64{0.5}},
		"they are not stationary":    {AR: []float64{1}},
		"cannot be computed":         {AR: []float64{math.NaN()}},
	} {
		if _, err := sarima.Evaluate(simulate(1, 72), o, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// A tariff that never changes, repeats itself or climbs steadily leaves nothing to
// explain to a model that takes just that away.
func TestFitOfWhatIsCertain(t *testing.T) {
	t.Parallel()
	flat, daily, ramp := make([]float64, 96), make([]float64, 96), make([]float64, 96)
	for i := range flat {
		flat[i], daily[i], ramp[i] = 74.1, 50+0.1*float64(i%24), 0.1*float64(i)
	}
	holed := slices.Clone(daily)
	holed[50], holed[95] = math.NaN(), math.NaN()
	drift := parsed(t, "(1,1,0)")
	drift.Mean = true
	for name, c := range map[string]struct {
		series []float64
		order  sarima.Order
		want   func(step int) float64
	}{
		"flat":          {flat, parsed(t, "(1,0,1)(1,0,1)24"), func(int) float64 { return 74.1 }},
		"flat, d":       {flat, parsed(t, "(1,1,1)"), func(int) float64 { return 74.1 }},
		"daily, D":      {daily, parsed(t, "(1,0,1)(1,1,1)24"), func(step int) float64 { return 50 + 0.1*float64(step%24) }},
		"daily, holes":  {holed, parsed(t, "(1,0,1)(1,1,1)24"), func(step int) float64 { return 50 + 0.1*float64(step%24) }},
		"ramp, drift":   {ramp, drift, func(step int) float64 { return 9.6 + 0.1*float64(step) }},
		"zero, no mean": {make([]float64, 96), sarima.Order{AR: 1}, func(int) float64 { return 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := sarima.Fit(c.series, c.order)
			if err != nil {
				t.Fatal(err)
			}
			if !math.IsInf(m.LogLikelihood, 1) || m.Variance != 0 {
				t.Errorf("log-likelihood %v, variance %v", m.LogLikelihood, m.Variance)
			}
			mean, stderr := m.Forecast(50)
			for step := range mean {
				if !near(mean[step], c.want(step), 1e-9) || stderr[step] != 0 {
					t.Fatalf("step %d: %v ± %v, want %v", step, mean[step], stderr[step], c.want(step))
				}
			}
		})
	}
}

// A series that repeats itself, without seasonal differences, has a likelihood
// without maximum; the model goes as far as the arithmetic carries.
func TestFitOfARepeatedDay(t *testing.T) {
	t.Parallel()
	series := slices.Repeat(simulate(3, 24), 3)
	m, err := sarima.Fit(series, parsed(t, "(1,0,1)(1,0,1)24"))
	if err != nil {
		t.Fatal(err)
	}
	mean, _ := m.Forecast(24)
	for h, got := range mean {
		if math.Abs(got-series[h]) > 0.2 {
			t.Errorf("hour %d is %v, want %v", h, got, series[h])
		}
	}
}

// Missing ends are cut off, and the forecast begins where the series ends.
func TestMissingEnds(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	series := simulate(2, 72)
	for _, text := range []string{"(1,0,1)(1,0,1)24", "(1,1,0)(0,1,1)24"} {
		o := parsed(t, text)
		whole, err := sarima.Fit(series, o)
		if err != nil {
			t.Fatal(err)
		}
		ends, err := sarima.Fit(slices.Concat([]float64{nan, nan}, series, []float64{nan, nan, nan}), o)
		if err != nil {
			t.Fatal(err)
		}
		if ends.LogLikelihood != whole.LogLikelihood {
			t.Errorf("%s: log-likelihood %v, want %v", text, ends.LogLikelihood, whole.LogLikelihood)
		}
		want, wantErr := whole.Forecast(13)
		got, gotErr := ends.Forecast(10)
		if !slices.Equal(got, want[3:]) || !slices.Equal(gotErr, wantErr[3:]) {
			t.Errorf("%s: forecast %v, want %v", text, got, want[3:])
		}
	}
}

// A second fit and a second forecast are the first, bit for bit.
func TestFitIsDeterministic(t *testing.T) {
	t.Parallel()
	series := simulate(4, 72)
	series[33] = math.NaN()
	o := parsed(t, "(2,0,1)(1,0,1)24")
	var means, stderrs [3][]float64
	one, err := sarima.Fit(series, o)
	if err != nil {
		t.Fatal(err)
	}
	two, err := sarima.Fit(series, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range []*sarima.Model{one, two, one} {
		means[i], stderrs[i] = m.Forecast(48)
		if !slices.Equal(means[i], means[0]) || !slices.Equal(stderrs[i], stderrs[0]) {
			t.Errorf("forecast %d differs", i)
		}
	}
	if mean, stderr := one.Forecast(0); mean != nil || stderr != nil {
		t.Error("a forecast of no steps is not empty")
	}
}

// The estimates come back from a long series that was made with them.
func TestFitFindsTheCoefficients(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 0))
	n, s := 1500, 12
	e, z := make([]float64, n), make([]float64, n)
	at := func(v []float64, i int) float64 {
		if i < 0 {
			return 0
		}
		return v[i]
	}
	for i := range z { // (1 − 0.6B)(1 − 0.5B¹²)z = (1 + 0.4B)e, with a mean of 30
		e[i] = 2 * random.NormFloat64()
		z[i] = 0.6*at(z, i-1) + 0.5*at(z, i-s) - 0.3*at(z, i-s-1) + e[i] + 0.4*at(e, i-1)
	}
	for i := range z {
		z[i] += 30
	}
	m, err := sarima.Fit(z, parsed(t, "(1,0,1)(1,0,0)12"))
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]float64{
		"φ": {m.Coefficients.AR[0], 0.6}, "θ": {m.Coefficients.MA[0], 0.4}, "Φ": {m.Coefficients.SeasonalAR[0], 0.5},
		"mean": {m.Mean / 10, 3}, "variance": {m.Variance / 100, 0.04},
	} {
		if math.Abs(pair[0]-pair[1]) > 0.06 {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
}

// Forecasts of differenced series with holes are those of universal kriging: the
// level is what it was before the start, unknown, plus the sums of the noise.
func TestDifferencedModelIsKriging(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := sarima.Order{AR: 1, Diff: rapid.IntRange(0, 2).Draw(t, "d"), MA: 1, Period: rapid.IntRange(2, 5).Draw(t, "s")}
		if o.Diff < 2 { // three integrations are more than the oracle's arithmetic bears
			o.SeasonalDiff = rapid.IntRange(0, 1).Draw(t, "D")
		}
		unit := rapid.Float64Range(-0.9, 0.9)
		c := sarima.Coefficients{AR: []float64{unit.Draw(t, "φ")}, MA: []float64{unit.Draw(t, "θ")}}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		series := make([]float64, 40)
		for i := range series {
			series[i] = 10 * random.NormFloat64()
			if i > 10 && i < 39 && random.IntN(8) == 0 {
				series[i] = math.NaN()
			}
		}
		steps := rapid.IntRange(1, 12).Draw(t, "steps")
		m, err := sarima.Evaluate(series, o, c)
		if err != nil {
			t.Fatal(err)
		}
		mean, stderr := m.Forecast(steps)
		wantMean, wantErr := krige(t, series, o, c, m.Variance, steps)
		if !near(mean[steps-1]/wantErr, wantMean/wantErr, 1e-6) || !near(stderr[steps-1], wantErr, 1e-6) {
			t.Fatalf("%v ± %v, want %v ± %v", mean[steps-1], stderr[steps-1], wantMean, wantErr)
		}
	})
}

func krige(t fataler, series []float64, o sarima.Order, c sarima.Coefficients, variance float64, steps int) (mean, stderr float64) {
	poly := []float64{1}
	for range o.Diff {
		poly = convolve(poly, []float64{1, -1})
	}
	for range o.SeasonalDiff {
		season := make([]float64, o.Period+1)
		season[0], season[o.Period] = 1, -1
		poly = convolve(poly, season)
	}
	lags, n := len(poly)-1, len(series)+steps
	auto := autocovariances(o, c, n)
	// Each level by the values before the start and by the noise.
	loads, free := mat.NewDense(n, n-lags, nil), mat.NewDense(n, max(lags, 1), nil)
	for i := range n {
		if i < lags {
			free.Set(i, i, 1)
			continue
		}
		loads.Set(i, i-lags, 1)
		for lag, by := range poly[1:] {
			for j := range n - lags {
				loads.Set(i, j, loads.At(i, j)-by*loads.At(i-lag-1, j))
			}
			for j := range lags {
				free.Set(i, j, free.At(i, j)-by*free.At(i-lag-1, j))
			}
		}
	}
	noise := mat.NewDense(n-lags, n-lags, nil)
	for i := range n - lags {
		for j := range n - lags {
			noise.Set(i, j, auto[max(i-j, j-i)])
		}
	}
	var half, cov mat.Dense
	half.Mul(loads, noise)
	cov.Mul(&half, loads.T())
	var seen []int
	for i, value := range series {
		if !math.IsNaN(value) {
			seen = append(seen, i)
		}
	}
	k := len(seen)
	system, right := mat.NewDense(k+lags, k+lags, nil), mat.NewVecDense(k+lags, nil)
	for a, i := range seen {
		for b, j := range seen {
			system.Set(a, b, cov.At(i, j))
		}
		for j := range lags {
			system.Set(a, k+j, free.At(i, j))
			system.Set(k+j, a, free.At(i, j))
		}
		right.SetVec(a, cov.At(i, n-1))
	}
	for j := range lags {
		right.SetVec(k+j, free.At(n-1, j))
	}
	var weights mat.VecDense
	if err := weights.SolveVec(system, right); err != nil {
		if _, badly := err.(mat.Condition); !badly { //nolint:errorlint // mat returns it bare
			t.Fatal(err)
		}
	}
	for a, i := range seen {
		mean += weights.AtVec(a) * series[i]
	}
	return mean, math.Sqrt(variance * (cov.At(n-1, n-1) - mat.Dot(&weights, right)))
}

func convolve(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			out[i+j] += x * y
		}
	}
	return out
}
