package wait_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*max(math.Abs(want), 1)
}

// started is the event of a job that met some features and waited for some seconds.
func started(meets wait.Features, waited float64) wait.Event {
	return wait.Event{
		Kind: wait.Started, Arrival: wait.Arrival{Meets: meets},
		Wait: protocol.Duration(math.Round(waited * 1000)),
	}
}

func historyOf(meets []wait.Features, waits []float64) *wait.History {
	h := wait.NewHistory(len(meets))
	for i := range meets {
		h.Add(started(meets[i], waits[i]))
	}
	return h
}

func TestRanks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(
			rapid.Float64Range(0, 1e15),
			rapid.SampledFrom([]float64{0, 1, 2, 0.5, 1e-300}),
		), 1, 60).Draw(t, "values")
		for i, got := range wait.Ranks(values) {
			less, equal := 0, 0
			for _, v := range values {
				if v < values[i] {
					less++
				} else if v == values[i] {
					equal++
				}
			}
			if want := float64(less) + float64(equal+1)/2; got != want {
				t.Fatalf("%v has rank %v in %v, want %v", values[i], got, values, want)
			}
		}
	})
}

// TestWeightsByHand has features whose rank correlations with the waits 1 to 5 are
// known.
func TestWeightsByHand(t *testing.T) {
	t.Parallel()
	columns := map[int][]float64{
		wait.FeatureCPUs:            {1, 2, 3, 4, 5},      // 1
		wait.FeatureEstimate:        {50, 40, 30, 20, 10}, // −1
		wait.FeatureArrival:         {1, 2, 3, 4, 5},      // never weighs
		wait.FeatureFree:            {1, 2, 3, 4, 5},      // never weighs
		wait.FeatureUserWaiting:     {2, 1, 3, 4, 5},      // 1 − 6·2 ÷ 120 = 0.9
		wait.FeatureUserRunning:     {2, 1, 3, 5, 4},      // 0.8, less than 0.9 of the best
		wait.FeatureUserRunningWork: {7, 7, 7, 7, 7},      // not defined
		wait.FeatureWaitingCPUs:     {1, 4, 9, 9, 16},     // ranks 1 2 3.5 3.5 5: 9.5 ÷ √(10·9.5)
	}
	meets := make([]wait.Features, 5)
	for f, column := range columns {
		for i, v := range column {
			meets[i][f] = v
		}
	}
	got := wait.WeightsOf(historyOf(meets, []float64{1, 2, 3, 4, 5}))
	want := wait.Weights{
		wait.FeatureCPUs: 1, wait.FeatureEstimate: 1, wait.FeatureUserWaiting: 0.9,
		wait.FeatureWaitingCPUs: 9.5 / math.Sqrt(95),
	}
	for f := range want {
		if !near(got[f], want[f], 1e-12) {
			t.Errorf("feature %d weighs %v, want %v", f, got[f], want[f])
		}
	}
}

func TestWeightsWithoutCorrelation(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]*wait.History{
		"no jobs":     wait.NewHistory(5),
		"equal waits": historyOf([]wait.Features{{1}, {2}, {3}}, []float64{4, 4, 4}),
		"equal jobs":  historyOf([]wait.Features{{1}, {1}, {1}}, []float64{4, 5, 6}),
	} {
		for f, got := range wait.WeightsOf(h) {
			want := 1.0
			if f == wait.FeatureArrival || f == wait.FeatureFree {
				want = 0
			}
			if got != want {
				t.Errorf("%s: feature %d weighs %v, want %v", name, f, got, want)
			}
		}
	}
}

func TestDistanceByHand(t *testing.T) {
	t.Parallel()
	h := historyOf([]wait.Features{
		{wait.FeatureCPUs: 4, wait.FeatureEstimate: 100, wait.FeatureWaitingCPUs: 7},
		{wait.FeatureCPUs: 8, wait.FeatureEstimate: 300, wait.FeatureWaitingCPUs: 7},
	}, []float64{1, 2})
	w := wait.Weights{wait.FeatureCPUs: 1, wait.FeatureEstimate: 0.5, wait.FeatureWaitingCPUs: 0.5}
	asked := wait.Features{wait.FeatureCPUs: 8, wait.FeatureEstimate: 200, wait.FeatureWaitingCPUs: 7}
	// (1·1 + ½·100÷200 + ½·0) ÷ 2 and (1·0 + ½·100÷200 + ½·0) ÷ 2
	if got := h.Squares(wait.Arrival{Meets: asked}, w); !near(got[0], 0.625, 1e-12) || !near(got[1], 0.125, 1e-12) {
		t.Errorf("the squared distances are %v, want 0.625 and 0.125", got)
	}
	// An estimate outside of what was seen widens the range: 300 ÷ 400 and 100 ÷ 400.
	asked[wait.FeatureEstimate] = 500
	w = wait.Weights{wait.FeatureEstimate: 2}
	if got := h.Squares(wait.Arrival{Meets: asked}, w); got[0] != 1 || got[1] != 0.5 {
		t.Errorf("the squared distances are %v, want 1 and 0.5", got)
	}
}

// TestNearest holds the choice against a sort, in a history that has wrapped.
func TestNearest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		h := wait.NewHistory(limit)
		newest := make([]int, limit) // the number of the job at each place
		for i := range rapid.IntRange(1, 50).Draw(t, "jobs") {
			h.Add(started(wait.Features{}, 0))
			newest[i%limit] = i
		}
		squares := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.1, 0.2, 0.3, 0.4}), h.Len(), h.Len()).Draw(t, "squares")
		count := rapid.IntRange(1, h.Len()).Draw(t, "count")
		want := make([]int, h.Len())
		for i := range want {
			want[i] = i
		}
		slices.SortFunc(want, func(a, b int) int {
			return cmp.Or(cmp.Compare(squares[a], squares[b]), cmp.Compare(newest[b], newest[a]))
		})
		if got := h.Nearest(squares, count); !slices.Equal(got, want[:count]) {
			t.Fatalf("of %v the nearest are at %v, want %v", squares, got, want[:count])
		}
	})
}

func TestSteadiestByHand(t *testing.T) {
	t.Parallel()
	p := wait.DefaultParams()
	weigh := func(d float64) float64 { return math.Exp(-d * d) }
	tests := map[string]struct {
		distances, waits []float64
		want             float64
		ok               bool
	}{
		"one window": {[]float64{0, 0.02}, []float64{100, 200}, (100 + 200*weigh(0.02)) / (1 + weigh(0.02)), true},
		"the second window is steadier": {
			[]float64{0, 0.03, 0.05, 0.07},
			[]float64{100, 180, 300, 310},
			(300*weigh(0.05) + 310*weigh(0.07)) / (weigh(0.05) + weigh(0.07)), true,
		},
		"without its outlier": {
			[]float64{0, 0.01, 0.02, 0.02, 0.03},
			[]float64{100, 110, 9000, 100, 110},
			(100 + 110*weigh(0.01) + 100*weigh(0.02) + 110*weigh(0.03)) / (1 + weigh(0.01) + weigh(0.02) + weigh(0.03)), true,
		},
		"too many outliers":         {[]float64{0, 0.01, 0.02, 0.03}, []float64{100, 110, 9000, 5000}, 0, false},
		"too far":                   {[]float64{0.35, 0.36}, []float64{100, 100}, 0, false},
		"loose, but no window near": {[]float64{0.25, 0.26}, []float64{100, 100}, 0, false},
		"loose, one window near":    {[]float64{0.2, 0.22, 0.25}, []float64{100, 100, 100}, 100, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := wait.Steadiest(test.distances, test.waits, 10_000, p)
			if ok != test.ok || !near(got, test.want, 1e-12) {
				t.Errorf("got %v %v, want %v %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// TestRidgeIsLeastSquares compares with an independent way to the same optimum: a
// QR factorisation of the standardised rows with √λ below them.
func TestRidgeIsLeastSquares(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	const jobs, features = 300, 6
	meets, waits := make([]wait.Features, jobs), make([]float64, jobs)
	draw := func() (f wait.Features) {
		for k := range features {
			f[wait.FeatureUserRunningEstimate+k] = 1e4 + math.Pow(10, float64(k))*random.Float64()
		}
		f[wait.FeatureCPUs] = 1
		return f
	}
	for i := range meets {
		meets[i] = draw()
		waits[i] = math.Round(math.Abs(1000*random.NormFloat64() + meets[i][wait.FeatureRunningCPUs]))
	}
	asked := draw()
	var w wait.Weights
	for f := range w {
		w[f] = 1 // those that are the same for all fall out
	}
	for _, lambda := range []float64{0.1, 1, 1000} {
		p := wait.Ridge{From: 2, Step: 1, To: 2, Enough: 1, Least: 10, Lambda: lambda}
		got, ok := historyOf(meets, waits).Fit(wait.Arrival{Meets: asked}, w, p)
		if want := leastSquares(t, meets, waits, asked, lambda); !ok || !near(got, want, 1e-9) {
			t.Errorf("λ = %v: %v (%v), want %v", lambda, got, ok, want)
		}
	}
}

// TestRidgeOnTheReference fits the shared target of 2,000 points in 8 dimensions.
func TestRidgeOnTheReference(t *testing.T) {
	t.Parallel()
	points := sharedNumbers(t, "reference", "wait", "dbscan_2000x8.csv.gz")
	targets := sharedNumbers(t, "reference", "wait", "dbscan_y.csv.gz")
	meets, waits := make([]wait.Features, len(points)), make([]float64, len(points))
	var w wait.Weights
	for i, point := range points {
		copy(meets[i][wait.FeatureUserWaiting:], point)
		waits[i] = math.Round(1000*targets[i][0]) / 1000
	}
	for k := range points[0] {
		w[wait.FeatureUserWaiting+k] = 1
	}
	h := historyOf(meets, waits)
	p := wait.Ridge{From: 2, Step: 1, To: 2, Enough: 1, Least: 10, Lambda: 0.1}
	var off, spread float64
	for i := 0; i < len(points); i += 100 {
		got, ok := h.Fit(wait.Arrival{Meets: meets[i]}, w, p)
		if want := leastSquares(t, meets, waits, meets[i], 0.1); !ok || !near(got, want, 1e-9) {
			t.Errorf("point %d: %v (%v), want %v", i, got, ok, want)
		}
		off += math.Abs(got - waits[i])
		spread += math.Abs(waits[0] - waits[i])
	}
	if off > spread/2 {
		t.Errorf("the fit is off by %v, the targets differ by %v", off, spread)
	}
}

func leastSquares(t *testing.T, meets []wait.Features, waits []float64, asked wait.Features, lambda float64) float64 {
	t.Helper()
	var columns []int
	for f := range asked {
		if slices.ContainsFunc(meets, func(m wait.Features) bool { return m[f] != asked[f] }) {
			columns = append(columns, f)
		}
	}
	n, k := len(meets), len(columns)
	rows, targets, x := mat.NewDense(n+k, k, nil), mat.NewVecDense(n+k, nil), make([]float64, k)
	mean := 0.0
	for _, v := range waits {
		mean += v / float64(n)
	}
	for i, v := range waits {
		targets.SetVec(i, v-mean)
	}
	for c, f := range columns {
		values := []float64{asked[f]}
		for _, m := range meets {
			values = append(values, m[f])
		}
		standardise(values)
		center := 0.0
		for _, v := range values[1:] {
			center += v / float64(n)
		}
		for i, v := range values[1:] {
			rows.Set(i, c, v-center)
		}
		rows.Set(n+c, c, math.Sqrt(lambda))
		x[c] = values[0] - center
	}
	var beta mat.VecDense
	if err := beta.SolveVec(rows, targets); err != nil {
		t.Fatal(err)
	}
	return mean + mat.Dot(&beta, mat.NewVecDense(k, x))
}

func standardise(values []float64) {
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean) / float64(len(values))
	}
	for i := range values {
		values[i] = (values[i] - mean) / math.Sqrt(squares)
	}
}

// TestRidgeWidensItsCircle: 30 jobs are near, 400 are far.
func TestRidgeWidensItsCircle(t *testing.T) {
	t.Parallel()
	var meets []wait.Features
	var waits []float64
	for i := range 430 {
		f, waited := wait.Features{wait.FeatureWaitingCPUs: 0.1}, 10.0
		if i >= 30 {
			f[wait.FeatureWaitingCPUs], waited = 0.6, 500 // 0.77 away
		}
		meets, waits = append(meets, f), append(waits, waited)
	}
	meets, waits = append(meets, wait.Features{wait.FeatureWaitingCPUs: 1}), append(waits, 0)
	h, w, p := historyOf(meets, waits), wait.Weights{wait.FeatureWaitingCPUs: 1}, wait.DefaultParams().Ridge
	got, ok := h.Fit(wait.Arrival{}, w, p)
	if !ok || got > 0 {
		t.Errorf("from all jobs the line through (0.1, 10) and (0.6, 500) ends below 0; got %v %v", got, ok)
	}
	p.Enough = 1
	if got, ok := h.Fit(wait.Arrival{}, w, p); !ok || !near(got, 10, 1e-9) {
		t.Errorf("from the near jobs alone: %v %v, want 10", got, ok)
	}
	p.To, p.Least = p.From, 32
	if _, ok := h.Fit(wait.Arrival{}, w, p); ok {
		t.Error("30 jobs and the one asked about are 32")
	}
}
