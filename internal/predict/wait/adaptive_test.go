package wait_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func newAdaptive(tb testing.TB, p wait.Params) *wait.Adaptive {
	tb.Helper()
	d, err := wait.NewAdaptive(p)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// meets is what a job of some CPUs meets when a number of CPUs wait.
func meets(cpus, waiting float64) wait.Features {
	return wait.Features{wait.FeatureCPUs: cpus, wait.FeatureWaitingCPUs: waiting}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	d := newAdaptive(t, wait.DefaultParams())
	asked := wait.Arrival{Meets: meets(1, 10)}
	for i := range 17 {
		d.Observe(started(meets(1, float64(i)), 100*float64(i)))
		if got := d.Predict(asked); got.By != wait.ByNothing || got.Wait != 0 || got.Bound != protocol.Never {
			t.Fatalf("after %d jobs: %+v", i+1, got)
		}
	}
	for i := range 500 {
		d.Observe(started(meets(1, float64(i%100)), 100*float64(i%100)))
	}
	if got := d.Predict(asked); got.By != wait.ByCluster || got.Wait != 1000*protocol.Second {
		t.Errorf("among jobs that are equal: %+v", got)
	}
	// The history's range is 0 to 99. A job that meets 250 is 151 ÷ 250 and more away.
	if got := d.Predict(wait.Arrival{Meets: meets(1, 250)}); got.By != wait.ByRidge || !near(float64(got.Wait), 25e6, 0.01) {
		t.Errorf("far outside, on a line: %+v", got)
	}
	empty := asked
	empty.Empty = true
	if got := d.Predict(empty); got.By != wait.ByEmpty || got.Wait != 0 {
		t.Errorf("in an empty system: %+v", got)
	}
}

// TestNearestWhereTheLineFails: the more wait the shorter, so that the line
// through them falls below 0 beyond.
func TestNearestWhereTheLineFails(t *testing.T) {
	t.Parallel()
	d := newAdaptive(t, wait.DefaultParams())
	for i := range 300 {
		d.Observe(started(meets(1, float64(i%100)), 1000-10*float64(i%100)))
	}
	if got := d.Predict(wait.Arrival{Meets: meets(1, 300)}); got.By != wait.ByNearest || got.Wait != 10*protocol.Second {
		t.Errorf("got %+v, want the 10 s of the job that met most", got)
	}
}

func TestParamsAreChecked(t *testing.T) {
	t.Parallel()
	if err := wait.DefaultParams().IntrepidRanges().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(p *wait.Params){
		"history: 0, at least 1 is needed":                                       func(p *wait.Params) { p.History = 0 },
		"ridge.least: 2, at least 3 is needed":                                   func(p *wait.Params) { p.Ridge.Least = 2 },
		"share: NaN, it must be above 0 and at most 1":                           func(p *wait.Params) { p.Share = math.NaN() },
		"window: 0, it must be above 0.001 and at most 1":                        func(p *wait.Params) { p.Window = 0 },
		"ridge.step: 1e-05 needs more than 1000 steps from 0.6 to 1":             func(p *wait.Params) { p.Ridge.Step = 1e-5 },
		"estimate_range, wait_range: 0s and -1ms; write 0 for the running range": func(p *wait.Params) { p.WaitRange = -1 },
	} {
		p := wait.DefaultParams()
		change(&p)
		if _, err := wait.NewAdaptive(p); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestIntervalsHold replays jobs whose waits scatter around what they meet, and
// expects the intervals to hold as often as they say. 6,000 jobs leave a
// deviation of half a percent.
func TestIntervalsHold(t *testing.T) {
	t.Parallel()
	p := wait.DefaultParams()
	p.History = 1000
	d, random := newAdaptive(t, p), rand.New(rand.NewPCG(3, 3))
	var low, high, bound, n float64
	for i := range 8000 {
		met := meets(float64(1+random.IntN(3)), math.Floor(100*random.Float64()))
		waited := (60 + 50*met[wait.FeatureWaitingCPUs]) * math.Exp(random.NormFloat64())
		e := started(met, waited)
		e.Arrival.Job.ID = int64(i)
		reported := d.Predict(e.Arrival)
		submitted := e
		submitted.Kind = wait.Submitted
		d.Observe(submitted)
		d.Observe(e)
		if i < 2000 {
			continue
		}
		n++
		low += held(e.Wait < reported.Low)
		high += held(e.Wait > reported.High)
		bound += held(e.Wait <= reported.Bound)
	}
	if !near(low/n, 0.1, 0.02) || !near(high/n, 0.1, 0.02) || !near(bound/n, 0.95, 0.015) {
		t.Errorf("%.3f were below P10, %.3f above P90, %.3f within the bound", low/n, high/n, bound/n)
	}
}

func held(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// TestPredictionsAreOrdered: whatever happened, quantiles rise and waits are not
// below 0, for all predictors.
func TestPredictionsAreOrdered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		params := wait.DefaultParams()
		params.History, params.Least, params.Ridge.Least = rapid.IntRange(1, 40).Draw(t, "history"), 2, 3
		adaptive, _ := wait.NewAdaptive(params)
		bounds, _ := wait.NewQBETS(wait.BoundParams{Quantile: 0.8, Confidence: 0.6, Sizes: []int{8}, History: 30})
		instances, _ := wait.NewIBL(wait.LearningParams{History: 30, Neighbours: 3, Recent: 50})
		predictors := []wait.Predictor{adaptive, bounds, instances}
		s, l := wait.NewState(64), &life{}
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			l.step(t, func(kind wait.Kind, now protocol.Instant, job wait.Job) {
				for _, p := range predictors {
					got := p.Predict(s.Arrival(now, job))
					if got.Wait < 0 || got.Low < 0 || got.Median < got.Low || got.High < got.Median || got.Bound < got.High || got.By == "" {
						t.Fatalf("%s: %+v", p.Name(), got)
					}
				}
				observeAll(s, predictors, kind, now, job)
			})
		}
	})
}

func observeAll(s *wait.State, predictors []wait.Predictor, kind wait.Kind, now protocol.Instant, job wait.Job) {
	var event wait.Event
	var ok bool
	switch kind {
	case wait.Submitted:
		event, ok = s.Submit(s.Arrival(now, job))
	case wait.Started:
		event, ok = s.Start(now, job.ID)
	case wait.Ended, wait.Withdrawn:
		event, ok = s.Leave(now, job.ID)
	}
	for _, p := range predictors {
		if ok {
			p.Observe(event)
		}
	}
}
