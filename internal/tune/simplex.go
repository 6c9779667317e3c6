package tune

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/optimize"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
)

// The search by simplices goes on in a cube: 0 is the least value of an axis and 1 the
// largest, and between them it goes by factors, as what matters of weights is their ratio.
const (
	simplexSize = 0.35  // of a simplex at first, along each axis
	same        = 0.001 // goals that differ by less are as good
	patience    = 4     // steps without a better goal, for each axis, after which a simplex has settled
	outside     = 10    // what leaving the cube adds to the goal, for each unit
	maxStarts   = 1000  // simplices, when they find nothing new
)

// simplices moves one simplex after the other until no runs are
// left: the first begins in the middle, others where the seed says.
func (r *running) simplices(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(r.Seeds[0], uint64(len(r.Axes))))
	start := slices.Repeat([]float64{0.5}, len(r.Axes))
	for starts := 0; r.left() > 0 && starts < maxStarts; starts++ {
		if err := r.settle(ctx, start); err != nil {
			return err
		}
		start = make([]float64, len(r.Axes))
		for i := range start {
			start[i] = rng.Float64()
		}
	}
	return nil
}

// settle moves one simplex until it settles, or no runs are left. It has the factors of
// Nelder and Mead (The Computer Journal 7, 1965).
func (r *running) settle(ctx context.Context, start []float64) error {
	corners := [][]float64{start}
	for i := range start {
		corner := slices.Clone(start)
		if corner[i] += simplexSize; corner[i] > 1 {
			corner[i] -= 2 * simplexSize
		}
		corners = append(corners, corner)
	}
	seen, err := r.goals(ctx, corners) // together, not one after the other
	if err != nil {
		return err
	}
	method := &optimize.NelderMead{
		InitialVertices: corners, InitialValues: slices.Clone(seen),
		Reflection: 1, Expansion: 2, Contraction: 0.5, Shrink: 0.5,
	}
	_, failed := optimize.Minimize(optimize.Problem{
		Func: func(at []float64) float64 {
			goals, wrong := r.goals(ctx, [][]float64{at})
			if err = wrong; err != nil {
				return math.Inf(1)
			}
			seen = append(seen, goals[0])
			return goals[0]
		},
		Status: func() (optimize.Status, error) {
			last := seen[len(seen)-len(corners):]
			if flat := slices.Max(last)-slices.Min(last) < same; err != nil || flat || r.left() == 0 {
				return optimize.Success, err
			}
			return optimize.NotTerminated, nil
		},
	}, start, &optimize.Settings{
		Converger: &optimize.FunctionConverge{Absolute: same, Iterations: patience * len(start)},
	}, method)
	return cmp.Or(err, failed)
}

// goals are what places of the cube score, simulated together if they are new. Where no
// runs are left for one it is as bad as can be.
func (r *running) goals(ctx context.Context, places [][]float64) ([]float64, error) {
	points, goals := make([]Point, len(places)), make([]float64, len(places))
	for i := range places {
		points[i], goals[i] = r.inside(places[i])
	}
	if err := r.try(ctx, points); err != nil {
		return nil, err
	}
	for i, p := range points {
		if known := r.at(p); known != nil {
			goals[i] = known.Goal.Mean + outside*goals[i]
		} else {
			goals[i] = math.Inf(1)
		}
	}
	return goals, nil
}

// inside is the point at a place of the cube, or the nearest to one outside and how far
// that is.
func (r *running) inside(at []float64) (p Point, far float64) {
	p = make(Point, len(at))
	for i, u := range at {
		into := min(max(u, 0), 1)
		far += math.Abs(u - into)
		low, high := bounds(r.Axes[i].Values)
		p[i] = rounded(low * math.Pow(high/low, into))
	}
	return p, far
}

// bounds are the least and the largest value above 0.
func bounds(values []float64) (low, high float64) {
	low = math.Inf(1)
	for _, v := range values {
		if v > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// digits of the values that a simplex tries: the goal is not known so well that more would
// mean anything.
const digits = 3

func rounded(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64) // it reads what it wrote
	return math.Round(short*1e6) / 1e6                                          // money and weights have six decimals
}

// movable says whether a simplex has room on the axes.
func movable(axes []experiment.TuneAxis) bool {
	return !slices.ContainsFunc(axes, func(a experiment.TuneAxis) bool {
		low, high := bounds(a.Values)
		return low >= high || slices.Min(a.Values) < 0
	})
}
