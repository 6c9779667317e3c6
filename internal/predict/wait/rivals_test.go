package wait_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestBoundRanks are known: 59 waits are the fewest, of which the largest is the
// bound.
func TestBoundRanks(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 58: 0, 59: 59, 92: 92, 93: 92, 100: 99, 1000: 962} {
		if got, ok := wait.BoundRank(n, 0.95, 0.95); got != want || ok != (want > 0) {
			t.Errorf("of %d the bound is at %d (%v), want %d", n, got, ok, want)
		}
	}
}

// TestBoundRankIsTheLeast sums the binomial distribution.
func TestBoundRankIsTheLeast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		q := rapid.Float64Range(0.05, 0.97).Draw(t, "quantile")
		c := rapid.Float64Range(0.5, 0.99).Draw(t, "confidence")
		want, below := 0, 0.0 // below is P(Binomial(n, q) < want)
		for k := 0; k < n && below < c; k++ {
			choose, _ := math.Lgamma(float64(n + 1))
			some, _ := math.Lgamma(float64(k + 1))
			rest, _ := math.Lgamma(float64(n - k + 1))
			below += math.Exp(choose - some - rest + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
			want = k + 1
			if math.Abs(below-c) < 1e-9 {
				t.Skip("too close to tell")
			}
		}
		got, ok := wait.BoundRank(n, q, c)
		if ok != (below >= c) || ok && got != want {
			t.Fatalf("rank %d (%v), want %d with %v", got, ok, want, below)
		}
	})
}

// TestRareRuns integrates the chance that successive normal values with a
// correlation all exceed their 95 % quantile. That of a rare run is at most that
// of three independent ones, and that of one less is not.
func TestRareRuns(t *testing.T) {
	t.Parallel()
	const rare = 0.05 * 0.05 * 0.05 * 1.0001
	for _, correlation := range []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9} {
		run := wait.RareRun(correlation)
		if before, after := runChance(correlation, run-1), runChance(correlation, run); before <= rare || after > rare {
			t.Errorf("correlation %v: %d misses in a row have a chance of %v, one less %v", correlation, run, after, before)
		}
	}
	if wait.RareRun(-0.5) != 3 || wait.RareRun(0.45) != 6 || wait.RareRun(1) != 42 {
		t.Error("correlations between and beyond the tenths")
	}
}

func runChance(correlation float64, run int) float64 {
	const z, width, points = 1.6448536269514722, 7.0, 200
	const step = width / points
	normal := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	at := func(i int) float64 { return z + (float64(i)+0.5)*step }
	density := make([]float64, points)
	for i := range density {
		density[i] = normal(at(i))
	}
	spread := math.Sqrt(1 - correlation*correlation)
	for range run - 1 {
		next := make([]float64, points)
		for i := range next {
			for j, d := range density {
				next[i] += d * normal((at(i)-correlation*at(j))/spread) / spread * step
			}
		}
		density = next
	}
	sum := 0.0
	for _, d := range density {
		sum += d * step
	}
	return sum
}

func newQBETS(tb testing.TB) *wait.QBETS {
	tb.Helper()
	q, err := wait.NewQBETS(wait.DefaultBoundParams())
	if err != nil {
		tb.Fatal(err)
	}
	return q
}

// come tells a predictor of a job from its submission to its start.
func come(p wait.Predictor, id int64, cpus int, waited float64) {
	e := started(wait.Features{wait.FeatureCPUs: float64(cpus)}, waited)
	e.Arrival.Job = wait.Job{ID: id, CPUs: cpus}
	submitted := e
	submitted.Kind = wait.Submitted
	p.Observe(submitted)
	p.Observe(e)
}

func TestQBETSBySize(t *testing.T) {
	t.Parallel()
	q := newQBETS(t)
	ask := func(cpus int) wait.Prediction { return q.Predict(wait.Arrival{Job: wait.Job{CPUs: cpus}}) }
	for i := range int64(100) {
		waited := float64(i*37%100 + 1)
		come(q, i, 4, waited)
		come(q, 1000+i, 5, 10*waited)
	}
	// The bound of the median is the 59th of 100, that of the 95 % quantile the 99th.
	small := wait.Prediction{
		Wait: 59 * protocol.Second, Low: 11 * protocol.Second, Median: 51 * protocol.Second, High: 90 * protocol.Second,
		Bound: 99 * protocol.Second, By: wait.ByQuantile,
	}
	if got := ask(1); got != small {
		t.Errorf("for up to 4 CPUs %+v, want %+v", got, small)
	}
	if got := ask(16); got.Bound != 990*protocol.Second {
		t.Errorf("for up to 16 CPUs the bound is %v", got.Bound)
	}
	if got := ask(17); got.By != wait.ByNothing || got.Bound != protocol.Never {
		t.Errorf("for a class without jobs: %+v", got)
	}
}

// TestQBETSForgets: when waits become ten times as long, few misses suffice, and
// the bound follows from the latest 59 waits.
func TestQBETSForgets(t *testing.T) {
	t.Parallel()
	q := newQBETS(t)
	id := int64(0)
	next := func(waited float64) protocol.Duration {
		id++
		come(q, id, 1, waited)
		return q.Predict(wait.Arrival{Job: wait.Job{CPUs: 1}}).Bound
	}
	for i := range 1000 {
		next(float64(i * 37 % 100))
	}
	changed := 0
	for bound := protocol.Duration(0); bound < 900*protocol.Second; changed++ {
		if changed == 10 {
			t.Fatalf("after %d longer waits the bound is %v", changed, bound)
		}
		bound = next(float64(900 + changed))
	}
	if changed < 3 {
		t.Errorf("%d misses are no change", changed)
	}
}

func TestIBLByHand(t *testing.T) {
	t.Parallel()
	l, err := wait.NewIBL(wait.LearningParams{History: 10, Neighbours: 2, Recent: 100})
	if err != nil {
		t.Fatal(err)
	}
	ask := wait.Arrival{Job: wait.Job{User: 1}, Meets: wait.Features{wait.FeatureCPUs: 10}}
	for _, job := range []struct {
		user         int
		cpus, waited float64
	}{{1, 10, 100}, {1, 5, 200}, {2, 10, 900}, {1, 0, 500}} {
		if got := l.Predict(ask); job.waited < 900 && job.cpus > 0 && got.By != wait.ByNothing {
			t.Fatalf("too early: %+v", got)
		}
		e := started(wait.Features{wait.FeatureCPUs: job.cpus}, job.waited)
		e.Arrival.Job.User = job.user
		l.Observe(e)
	}
	// Squared distances: 0, (5 ÷ 10)², 1 and 1; the second is the kernel's width.
	weight := math.Exp(-1)
	want := protocol.Duration(math.Round(1000 * (100 + 200*weight) / (1 + weight)))
	if got := l.Predict(ask); got.Wait != want || got.By != wait.ByKernel || got.Median != 200*protocol.Second || got.Bound != protocol.Never {
		t.Errorf("got %+v, want a wait of %v", got, want)
	}
}

func TestRivalsCheckTheirParams(t *testing.T) {
	t.Parallel()
	for _, p := range []wait.BoundParams{
		{Quantile: 1, Confidence: 0.95, History: 100},
		{Quantile: 0.95, Confidence: math.NaN(), History: 100},
		{Quantile: 0.95, Confidence: 0.95, History: 100, Sizes: []int{4, 2}},
		{Quantile: 0.95, Confidence: 0.95, History: 58},
	} {
		if _, err := wait.NewQBETS(p); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	for _, p := range []wait.LearningParams{{History: 0, Neighbours: 1, Recent: 1}, {History: 1, Neighbours: 0, Recent: 1}, {History: 1, Neighbours: 1}} {
		if _, err := wait.NewIBL(p); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
}

// TestMedianOf100 against a sort of the last 100 waits, many of them equal.
func TestMedianOf100(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		median := wait.Baselines(1000)[2]
		waits := rapid.SliceOfN(rapid.IntRange(0, 30), 1, 250).Draw(t, "waits")
		for i, waited := range waits {
			come(median, int64(i)+1, 1, float64(waited))
			last := slices.Sorted(slices.Values(waits[max(0, i-99) : i+1]))
			if got, want := median.Predict(wait.Arrival{}).Wait, ofSeconds(int64(last[(len(last)-1)/2])); got != want {
				t.Fatalf("after %d waits the median is %v, want %v", i+1, got, want)
			}
		}
	})
}
