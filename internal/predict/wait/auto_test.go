package wait_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fixed always answers the same.
type fixed struct {
	answer protocol.Duration
	by     wait.Method
}

func (f fixed) Name() string       { return "fixed" }
func (f fixed) Observe(wait.Event) {}

func (f fixed) Predict(wait.Arrival) wait.Prediction {
	return wait.Prediction{Wait: f.answer, Median: f.answer, High: protocol.Never, Bound: protocol.Never, By: f.by}
}

// TestAutoFollowsTheBest: the first answers until 30 jobs have started; then the one with
// the least mean error over the last 50 starts, also when that becomes another one. One
// without an answer is passed over.
func TestAutoFollowsTheBest(t *testing.T) {
	t.Parallel()
	u := wait.NewAuto(50, fixed{0, wait.ByNothing}, fixed{ofSeconds(500), "far"}, fixed{ofSeconds(100), "near"})
	id := int64(0)
	start := func(jobs int, waited float64) protocol.Duration {
		for range jobs {
			id++
			come(u, id, 1, waited)
		}
		p := u.Predict(wait.Arrival{})
		if p.Wait != p.Median {
			t.Errorf("the answer %v is not the median %v", p.Wait, p.Median)
		}
		return p.Wait
	}
	for _, step := range []struct {
		jobs   int
		waited float64
		want   int64
	}{{0, 0, 500}, {29, 90, 500}, {1, 90, 100}, {20, 90, 100}, {24, 500, 100}, {2, 500, 500}} {
		if got := start(step.jobs, step.waited); got != ofSeconds(step.want) {
			t.Errorf("after %d jobs, the last of which waited %v s: %v, want %d s", id, step.waited, got, step.want)
		}
	}
}

// TestAutoTakesThePlan where plans come true up to a factor, and is no worse than the
// plan's median.
func TestAutoTakesThePlan(t *testing.T) {
	t.Parallel()
	u, err := wait.DefaultAuto()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 7))
	var off, raw, n float64
	for i := range int64(1500) {
		now := protocol.Instant(i) * 1000 * second
		planned := ofSeconds(random.Int64N(7200))
		waited := protocol.Duration(float64(planned) * (0.3 + 0.2*random.Float64()))
		a := wait.Arrival{Job: wait.Job{ID: i, CPUs: 1}, At: now, Planned: planned, HasPlan: true}
		p := u.Predict(a)
		u.Observe(wait.Event{Kind: wait.Submitted, At: now, Arrival: a})
		u.Observe(wait.Event{Kind: wait.Started, At: now.Add(waited), Arrival: a, Wait: waited})
		if i < 500 {
			continue
		}
		n++
		off += math.Abs(float64(p.Wait - waited))
		raw += math.Abs(float64(planned - waited))
		if p.By != wait.ByPlan {
			t.Fatalf("job %d: the answer is from %s", i, p.By)
		}
	}
	if off/n > 0.2*raw/n {
		t.Errorf("the mean error is %v ms, that of the plan %v ms", off/n, raw/n)
	}
}

// TestBoundsHoldThroughBursts: waits grow a hundredfold for some days and fall again, ten
// times, while jobs overlap. A quantile of the recent waits is missed in each burst; the
// level follows, so that 94 to 97 % of all jobs start within their bounds.
func TestBoundsHoldThroughBursts(t *testing.T) {
	t.Parallel()
	auto, err := wait.DefaultAuto()
	if err != nil {
		t.Fatal(err)
	}
	instances, err := wait.NewIBL(wait.DefaultLearningParams())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 5))
	past := make([]wait.Past, 6000)
	for i := range past {
		scale := 10.0
		if i/300%2 == 1 {
			scale = 1000
		}
		past[i] = wait.Past{
			Job:    wait.Job{ID: int64(i) + 1, User: i % 7, CPUs: 1 + random.IntN(8), Estimate: protocol.Hour},
			Submit: protocol.Instant(i) * 60 * second, Wait: ofSeconds(int64(scale * random.ExpFloat64())), Run: protocol.Minute, Completed: true,
		}
	}
	predictors := append([]wait.Predictor{auto, instances, newAdaptive(t, wait.DefaultParams())}, wait.Baselines(1000)...)
	scores, err := wait.Evaluate(past, wait.EvaluateOptions{CPUs: 64, Warm: len(past) / 2}, predictors...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scores {
		if s.BoundHeld < 0.94 || s.BoundHeld > 0.97 || s.Bounded < 0.99 {
			t.Errorf("%s: %.3f of the bounds hold, stated for %.3f of the jobs", s.Predictor, s.BoundHeld, s.Bounded)
		}
	}
}

// TestCompletedOnly scores the jobs that neither failed nor were cancelled.
func TestCompletedOnly(t *testing.T) {
	t.Parallel()
	past := []wait.Past{
		{Job: wait.Job{ID: 1, CPUs: 1}, Wait: protocol.Hour, Run: 1, Completed: true},
		{Job: wait.Job{ID: 2, CPUs: 1}, Wait: 3 * protocol.Hour, Run: 1},
	}
	for completed, want := range map[bool]protocol.Duration{true: protocol.Hour, false: 2 * protocol.Hour} {
		scores, err := wait.Evaluate(past, wait.EvaluateOptions{CPUs: 1, CompletedOnly: completed}, wait.Baselines(10)[0])
		if err != nil {
			t.Fatal(err)
		}
		if scores[0].MeanError != want {
			t.Errorf("completed only %t: a mean error of %v, want %v", completed, scores[0].MeanError, want)
		}
	}
}

// TestBoundOfWaitsThatGrow: waits double with every 50 jobs, so that each new one may be the
// longest that ever was; the bound goes beyond all of them.
func TestBoundOfWaitsThatGrow(t *testing.T) {
	t.Parallel()
	zero := wait.Baselines(1000)[0]
	random := rand.New(rand.NewPCG(6, 6))
	held, jobs := 0, 0
	for i := range int64(600) {
		waited := (1 + random.Float64()) * 100 * math.Exp2(float64(i)/50)
		bound := zero.Predict(wait.Arrival{}).Bound
		come(zero, i+1, 1, waited)
		if bound == protocol.Never {
			continue
		}
		jobs++
		if ofSeconds(int64(waited)) <= bound {
			held++
		}
	}
	if share := float64(held) / float64(jobs); share < 0.8 {
		t.Errorf("%.2f of %d bounds hold", share, jobs)
	}
}
