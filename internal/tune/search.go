package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/parallel"
	"github.com/switchyard-hpc/switchyard/internal/report"
)

// Point is a value for each axis of a search; nil is the baseline.
type Point []float64

// Evaluate simulates a point for a seed. The same point and seed give the same outcome. It
// is called from several goroutines at once.
type Evaluate func(ctx context.Context, at Point, seed uint64) (Outcome, error)

// Search looks for the point that does best.
type Search struct {
	Method   string // one of [experiment.Methods]
	Axes     []experiment.TuneAxis
	Goal     experiment.Goal
	Runs     int // points at most, besides the baseline
	Seeds    []uint64
	Workers  int // simulations at once
	Evaluate Evaluate
}

// Tried is a point that was simulated for every seed.
type Tried struct {
	At   Point          `json:"at,omitempty"`
	Goal report.Average `json:"goal"` // its [Score] for each seed
	Means

	outcomes []Outcome // by seed
}

// Found is what a search has found.
type Found struct {
	Baseline Tried   `json:"baseline"`
	Points   []Tried `json:"points"`         // in the order in which they were first tried
	Best     *int    `json:"best,omitempty"` // index of a point; nil if none is better than the baseline
}

// best is what does best.
func (f *Found) best() *Tried {
	if f.Best == nil {
		return &f.Baseline
	}
	return &f.Points[*f.Best]
}

// Simulations is how many a search needs at most.
func (s *Search) Simulations() int {
	points := s.Runs
	if s.Method == experiment.GridSearch {
		points = min(s.Runs, gridPoints(s.Axes))
	}
	return (1 + points) * len(s.Seeds)
}

// Run searches. Without axes it simulates the baseline alone. Progress receives how many
// simulations are done, from one goroutine at a time; it may be nil.
func (s *Search) Run(ctx context.Context, progress func(done int)) (*Found, error) {
	run := &running{Search: s, count: &parallel.Counter{Tell: progress}}
	if err := run.try(ctx, []Point{nil}); err != nil {
		return nil, err
	}
	var err error
	switch {
	case len(s.Axes) == 0:
	case s.Method == experiment.NelderMead:
		err = run.simplices(ctx)
	default:
		err = run.grid(ctx)
	}
	if err != nil {
		return nil, err
	}
	return run.found(), nil
}

// running is a search under way.
type running struct {
	*Search

	tried []Tried // the baseline first
	count *parallel.Counter
}

// left is how many new points may still be simulated.
func (r *running) left() int { return r.Runs + 1 - len(r.tried) }

// at is a point that was tried; nil: it was not.
func (r *running) at(p Point) *Tried {
	i := slices.IndexFunc(r.tried, func(t Tried) bool { return slices.Equal(t.At, p) })
	if i < 0 {
		return nil
	}
	return &r.tried[i]
}

// try simulates the points that are new, for every seed, as far as runs are left.
func (r *running) try(ctx context.Context, points []Point) error {
	first := len(r.tried)
	for _, p := range points {
		if (first == 0 || r.at(p) == nil) && r.left() > 0 {
			r.tried = append(r.tried, Tried{At: p, outcomes: make([]Outcome, len(r.Seeds))})
		}
	}
	fresh := r.tried[first:]
	err := parallel.Each(ctx, r.Workers, len(fresh)*len(r.Seeds), func(ctx context.Context, i int) (err error) {
		t, seed := &fresh[i/len(r.Seeds)], i%len(r.Seeds)
		t.outcomes[seed], err = r.Evaluate(ctx, t.At, r.Seeds[seed])
		r.count.Add()
		return err
	})
	for i := range fresh {
		if err == nil {
			fresh[i].Goal, err = scores(r.Goal, fresh[i].outcomes, r.tried[0].outcomes)
			fresh[i].Means = means(fresh[i].outcomes)
		}
	}
	return err
}

// found picks the best; of equals the one that was tried first, and the baseline before
// all.
func (r *running) found() *Found {
	f := &Found{Baseline: r.tried[0], Points: r.tried[1:]}
	least := f.Baseline.Goal.Mean
	for i := range f.Points {
		if goal := f.Points[i].Goal.Mean; goal < least {
			least, f.Best = goal, &i
		}
	}
	return f
}

// grid tries all combinations of the values.
func (r *running) grid(ctx context.Context) error {
	if err := fits(r.Axes, r.Runs); err != nil {
		return err
	}
	return r.try(ctx, combinations(r.Axes))
}

// fits returns why a grid cannot be tried in the given number of runs.
func fits(axes []experiment.TuneAxis, runs int) error {
	if n := gridPoints(axes); n > runs {
		return fmt.Errorf("the grid has %d points, and %d runs are allowed; raise runs, give fewer values, or use the method %q",
			n, runs, experiment.NelderMead)
	}
	return nil
}

// manyPoints is more than anybody has time for.
const manyPoints = 1 << 30

// gridPoints is how many combinations the axes' values have.
func gridPoints(axes []experiment.TuneAxis) int {
	n := 1
	for _, axis := range axes {
		n = min(n*len(axis.Values), manyPoints)
	}
	return n
}

// combinations are those of the axes' values; the last changes fastest.
func combinations(axes []experiment.TuneAxis) []Point {
	all := []Point{{}}
	for _, axis := range axes {
		var longer []Point
		for _, p := range all {
			for _, value := range axis.Values {
				longer = append(longer, append(slices.Clone(p), value))
			}
		}
		all = longer
	}
	return all
}
