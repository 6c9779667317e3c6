package wait_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func ofSeconds(n int64) protocol.Duration { return protocol.Duration(n) * protocol.Second }

// planned are plans and what became of them.
type planned struct {
	*wait.Plan

	now protocol.Instant
	id  int64
}

func newPlanned(recent int) *planned { return &planned{Plan: wait.NewPlan(recent)} }

func (p *planned) around(plannedWait protocol.Duration) wait.Prediction {
	return p.Predict(wait.Arrival{At: p.now, Planned: plannedWait, HasPlan: true})
}

// learn has a job of a planned wait start after another one.
func (p *planned) learn(plannedWait, waited protocol.Duration) {
	p.id++
	a := wait.Arrival{Job: wait.Job{ID: p.id}, At: p.now, Planned: plannedWait, HasPlan: true}
	p.Observe(wait.Event{Kind: wait.Submitted, At: p.now, Arrival: a})
	p.now = p.now.Add(waited)
	p.Observe(wait.Event{Kind: wait.Started, At: p.now, Arrival: a, Wait: waited})
}

// TestPlanIntervalByHand: scores are ratios of waits with a minute added to both. Plans of
// 60 s, of which one came true after 0 s (120 s became 60: half), one after 180 s (twice)
// and 17 in time: the 1st, 2nd, 18th and 19th of 19 are a half, one, one and two.
func TestPlanIntervalByHand(t *testing.T) {
	t.Parallel()
	p := newPlanned(100)
	learn := func(planned int64, waits ...int64) {
		for _, one := range waits {
			p.learn(ofSeconds(planned), ofSeconds(one))
		}
	}
	check := func(planned int64, want wait.Prediction) {
		t.Helper()
		want.Wait, want.By = ofSeconds(planned), wait.ByPlan
		got := p.around(ofSeconds(planned))
		got.Mean = 0 // see TestPlanMean
		if got != want {
			t.Errorf("around %d s: %+v, want %+v", planned, got, want)
		}
	}
	open := func(planned int64) wait.Prediction {
		return wait.Prediction{Median: ofSeconds(planned), High: protocol.Never, Bound: protocol.Never}
	}
	check(60, open(60))
	learn(60, 0, 60, 60, 60, 60, 60, 60, 180)
	check(60, open(60)) // eight are too few for a P90, and for a P10
	learn(60, 60)
	check(60, wait.Prediction{Low: 0, Median: ofSeconds(60), High: ofSeconds(180), Bound: protocol.Never})
	check(30, wait.Prediction{Low: 0, Median: ofSeconds(30), High: ofSeconds(120), Bound: protocol.Never})
	learn(60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60)
	check(60, wait.Prediction{Low: ofSeconds(60), Median: ofSeconds(60), High: ofSeconds(60), Bound: ofSeconds(180)})
	check(0, wait.Prediction{Low: 0, Median: 0, High: 0, Bound: ofSeconds(60)})
	check(61, open(61)) // above a minute is another magnitude
	check(7200, open(7200))
	learn(7200, 3570, 3570, 3570, 3570, 3570, 3570, 3570, 3570, 3570)
	check(7200, wait.Prediction{Low: ofSeconds(3570), Median: ofSeconds(3570), High: ofSeconds(3570), Bound: protocol.Never})
	check(3600, wait.Prediction{Low: ofSeconds(1770), Median: ofSeconds(1770), High: ofSeconds(1770), Bound: protocol.Never})
}

// TestPlanMean: of three plans of a minute one came true, one took no time and one three
// minutes: ratios of waits with a minute added of 1, ½ and 2, in the mean 7⁄6.
func TestPlanMean(t *testing.T) {
	t.Parallel()
	p := newPlanned(100)
	for _, waited := range []int64{60, 0, 180} {
		p.learn(ofSeconds(60), ofSeconds(waited))
	}
	if got := p.around(ofSeconds(60)).Mean; got != ofSeconds(80) {
		t.Errorf("the mean of plans of 60 s is %v, want 1m20s", got)
	}
	if got := p.around(ofSeconds(0)).Mean; got != ofSeconds(10) {
		t.Errorf("the mean of plans of 0 s is %v, want 10s", got)
	}
}

// TestPlanForgets what is longer ago than it looks back.
func TestPlanForgets(t *testing.T) {
	t.Parallel()
	p := newPlanned(10)
	for range 50 {
		p.learn(ofSeconds(60), ofSeconds(3600))
	}
	for range 10 {
		p.learn(ofSeconds(60), ofSeconds(60))
	}
	if got := p.around(ofSeconds(60)); got.Low != ofSeconds(60) || got.High != ofSeconds(60) {
		t.Errorf("got %+v", got)
	}
}

// TestPlanIsOrdered, whatever came, and keeps the plan as its answer.
func TestPlanIsOrdered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spans := rapid.Map(rapid.OneOf(rapid.Int64Range(0, 300_000), rapid.Int64Range(0, int64(30*protocol.Day))),
			func(ms int64) protocol.Duration { return protocol.Duration(ms) })
		p := newPlanned(rapid.IntRange(1, 50).Draw(t, "recent"))
		for range rapid.IntRange(0, 60).Draw(t, "starts") {
			p.learn(spans.Draw(t, "planned"), spans.Draw(t, "waited"))
		}
		planned := spans.Draw(t, "asked")
		got := p.around(planned)
		if got.Wait != planned || got.By != wait.ByPlan {
			t.Fatalf("the plan of %v became %+v", planned, got)
		}
		if got.Low < 0 || got.Low > got.Median || got.Median > got.High || got.High > got.Bound {
			t.Fatalf("out of order: %+v", got)
		}
	})
}

// TestPlanCovers: where jobs start by the same chances all the time, 80 % start within the
// interval and 95 % within the bound.
func TestPlanCovers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 9))
	p := newPlanned(1000)
	asked, within, bounded := 0, 0, 0
	for range 20_000 {
		planned := protocol.Duration(rng.Int64N(int64(2 * protocol.Hour)))
		waited := protocol.Duration(float64(planned) * (0.2 + 1.5*rng.Float64()*rng.Float64()))
		if got := p.around(planned); got.Bound != protocol.Never {
			asked++
			if got.Low <= waited && waited <= got.High {
				within++
			}
			if waited <= got.Bound {
				bounded++
			}
		}
		p.learn(planned, waited)
	}
	share := func(n int) float64 { return float64(n) / float64(asked) }
	if asked < 19_000 || share(within) < 0.79 || share(within) > 0.82 || share(bounded) < 0.945 {
		t.Errorf("of %d quotes %.3f came true within the interval, %.3f within the bound", asked, share(within), share(bounded))
	}
}
