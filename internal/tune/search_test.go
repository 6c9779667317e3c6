package tune_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/tune"
)

// valley is a landscape whose cost is least at a place and grows with the squares of the
// factors by which a point misses it. The baseline is on its slope; the seed moves all
// alike.
func valley(bottom ...float64) tune.Evaluate {
	return func(_ context.Context, at tune.Point, seed uint64) (tune.Outcome, error) {
		cost := 100 * float64(seed)
		if at == nil {
			return tune.Outcome{Cost: 2 * cost}, nil
		}
		height := 1.0
		for i := range at {
			height += math.Pow(math.Log(at[i]/bottom[i]), 2)
		}
		return tune.Outcome{Cost: height * cost}, nil
	}
}

func axes(values ...[]float64) (all []experiment.TuneAxis) {
	for i, of := range values {
		all = append(all, experiment.TuneAxis{Key: fmt.Sprintf("weighing.%c", 'a'+i), Values: of})
	}
	return all
}

func overCost(method string, runs int, evaluate tune.Evaluate, of []experiment.TuneAxis) *tune.Search {
	return &tune.Search{
		Method: method, Axes: of, Goal: experiment.Goal{Cost: 2}, Runs: runs, Seeds: []uint64{3, 4}, Workers: 2, Evaluate: evaluate,
	}
}

func run(t testing.TB, s *tune.Search) *tune.Found {
	t.Helper()
	found, err := s.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestGridFindsTheBestOfItsPoints(t *testing.T) {
	t.Parallel()
	found := run(t, overCost(experiment.GridSearch, 12, valley(2, 0.5), axes([]float64{1, 2, 4, 8}, []float64{0.1, 0.5, 2})))
	if len(found.Points) != 12 {
		t.Fatalf("%d points, want all 12 combinations", len(found.Points))
	}
	best := found.Points[*found.Best]
	if best.At[0] != 2 || best.At[1] != 0.5 || best.Goal.Mean != 0.5 {
		t.Errorf("best %v with %v, want 2 and 0.5, half as dear as the baseline", best.At, best.Goal.Mean)
	}
	if found.Baseline.Goal.Mean != 1 {
		t.Errorf("the baseline has the goal %v", found.Baseline.Goal.Mean)
	}
}

// TestSimplexFindsTheBottom: wherever it is between the bounds.
func TestSimplexFindsTheBottom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := math.Pow(10, rapid.Float64Range(-1, 1).Draw(t, "log a"))
		b := math.Pow(10, rapid.Float64Range(-1, 1).Draw(t, "log b"))
		s := overCost(experiment.NelderMead, 60, valley(a, b), axes([]float64{0, 0.1, 10}, []float64{0.1, 10}))
		found, err := s.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		best := found.Points[*found.Best]
		if math.Abs(math.Log(best.At[0]/a)) > 0.15 || math.Abs(math.Log(best.At[1]/b)) > 0.15 {
			t.Errorf("found %v, the bottom is at %v and %v", best.At, a, b)
		}
		if len(found.Points) > 60 {
			t.Errorf("%d points for 60 runs", len(found.Points))
		}
		for _, p := range found.Points {
			if p.At[0] < 0.1 || p.At[0] > 10 || p.At[1] < 0.1 || p.At[1] > 10 {
				t.Errorf("%v is outside the bounds", p.At)
			}
		}
	})
}

// TestSimplexBeginsAgain: from a plain without a slope, runs that are left find the hole.
func TestSimplexBeginsAgain(t *testing.T) {
	t.Parallel()
	hole := func(_ context.Context, at tune.Point, _ uint64) (tune.Outcome, error) {
		if at != nil && at[0] < 0.3 {
			return tune.Outcome{Cost: 1}, nil
		}
		return tune.Outcome{Cost: 2}, nil
	}
	found := run(t, overCost(experiment.NelderMead, 80, hole, axes([]float64{0.1, 10})))
	if found.Best == nil || found.Points[*found.Best].At[0] >= 0.3 {
		t.Errorf("best %v of %d points", found.Best, len(found.Points))
	}
}

// TestSimplexLeavesAPlain: where β is so large that nobody minds paying nothing changes any more,
// and runs are not for looking around there.
func TestSimplexLeavesAPlain(t *testing.T) {
	t.Parallel()
	steps := func(_ context.Context, at tune.Point, _ uint64) (tune.Outcome, error) {
		switch {
		case at == nil:
			return tune.Outcome{Cost: 1}, nil
		case at[0] < 0.9:
			return tune.Outcome{Cost: 0.95}, nil
		default:
			return tune.Outcome{Cost: 1.1}, nil
		}
	}
	found := run(t, overCost(experiment.NelderMead, 20, steps, axes([]float64{0.3, 30}, []float64{0.3, 3})))
	if found.Best == nil {
		t.Errorf("none of %d points is below the plain", len(found.Points))
	}
}

// TestSameBytes: neither the workers nor chance change what is found, and no point is
// simulated twice.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	for _, method := range experiment.Methods() {
		var first string
		for _, workers := range []int{1, 2, 7} {
			var mu sync.Mutex
			counts := map[string]int{}
			of := valley(3, 0.7)
			s := overCost(method, 25, func(ctx context.Context, at tune.Point, seed uint64) (tune.Outcome, error) {
				mu.Lock()
				counts[fmt.Sprint(at, seed)]++
				mu.Unlock()
				return of(ctx, at, seed)
			}, axes([]float64{0.1, 1, 2, 5, 10}, []float64{0.1, 0.5, 1, 2, 10}))
			s.Workers = workers
			text, err := json.Marshal(run(t, s))
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(text)
			}
			if string(text) != first {
				t.Errorf("%s: other bytes with %d workers", method, workers)
			}
			for point, n := range counts {
				if n != 1 {
					t.Errorf("%s: %s was simulated %d times", method, point, n)
				}
			}
		}
	}
}

// TestTheBaselineMayBeBest: the file's own values stay unless something is better.
func TestTheBaselineMayBeBest(t *testing.T) {
	t.Parallel()
	flat := func(context.Context, tune.Point, uint64) (tune.Outcome, error) { return tune.Outcome{Cost: 1}, nil }
	if found := run(t, overCost(experiment.GridSearch, 9, flat, axes([]float64{1, 2}))); found.Best != nil {
		t.Errorf("point %d is called better than what it equals", *found.Best)
	}
}

func TestSearchThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the machine is on fire")
	fails := func(_ context.Context, at tune.Point, _ uint64) (tune.Outcome, error) {
		if at != nil && at[0] > 4 {
			return tune.Outcome{}, broken
		}
		return tune.Outcome{Cost: 1}, nil
	}
	for _, method := range experiment.Methods() {
		_, err := overCost(method, 50, fails, axes([]float64{1, 2, 8})).Run(t.Context(), nil)
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", method, err)
		}
	}
	free := func(context.Context, tune.Point, uint64) (tune.Outcome, error) { return tune.Outcome{}, nil }
	_, err := overCost(experiment.GridSearch, 50, free, nil).Run(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "tune.goal.cost: nothing can be compared") {
		t.Errorf("a baseline that costs nothing: %v", err)
	}
	_, err = overCost(experiment.GridSearch, 2, free, axes([]float64{1, 2, 3})).Run(t.Context(), nil)
	if err == nil {
		t.Error("a grid of 3 points in 2 runs")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err = overCost(experiment.GridSearch, 9, valley(1), axes([]float64{1, 2})).Run(stopped, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// TestProgress counts every simulation once, up to the number announced.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := overCost(experiment.GridSearch, 9, valley(1, 1), axes([]float64{1, 2}, []float64{1, 2, 3}))
	var reported []int
	if _, err := s.Run(t.Context(), func(done int) { reported = append(reported, done) }); err != nil {
		t.Fatal(err)
	}
	if want := s.Simulations(); want != 14 || len(reported) != want || reported[want-1] != want {
		t.Errorf("told %v of %d", reported, want)
	}
}
