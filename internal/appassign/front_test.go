package appassign_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// point is one of a front.
type point struct {
	end  protocol.Duration
	cost int64
}

// frontier is the front of all choices within the limits, the fastest first.
func frontier(p *appassign.Problem) (front []point) {
	var points []point
	every(p, func(_ []int, o *outcome) {
		if o.within(p) {
			points = append(points, point{o.end, o.cost})
		}
	})
	slices.SortFunc(points, func(a, b point) int {
		if a.end != b.end {
			return int(a.end - b.end)
		}
		return int(a.cost - b.cost)
	})
	for _, one := range points {
		if len(front) == 0 || one.cost < front[len(front)-1].cost {
			front = append(front, one)
		}
	}
	return front
}

// TestPareto: the front is that of all choices, or some of it with both ends.
func TestPareto(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		points := rapid.IntRange(0, 6).Draw(t, "points")
		got, err := appassign.Pareto(p, appassign.Options{}, points)
		want := frontier(p)
		if _, none := errors.AsType[*appassign.InfeasibleError](err); none {
			if len(want) > 0 {
				t.Fatalf("%v, but there is %v", err, want)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var found []point
		for _, one := range got.Points {
			found = append(found, point{one.End, one.Cost})
			if o, ok := worked(p, one.Chosen); !ok || !o.within(p) || o.end != one.End || o.cost != one.Cost {
				t.Fatalf("%+v is %+v", one, o)
			}
			if !slices.Contains(want, found[len(found)-1]) {
				t.Fatalf("%v is not of %v", found, want)
			}
		}
		if got.Gap != 0 || got.Whole != (len(want) <= max(2, points)) || got.Whole && !slices.Equal(found, want) {
			t.Fatalf("got %v, whole %t, want %v", found, got.Whole, want)
		}
		if len(found) > max(2, points) || found[0] != want[0] || found[len(found)-1] != want[len(want)-1] {
			t.Fatalf("got %v of %v", found, want)
		}
		if !slices.IsSortedFunc(found, func(a, b point) int { return int(a.end - b.end) }) {
			t.Fatalf("not the fastest first: %v", found)
		}
	})
}

// TestParetoGivingUp: with few steps the front still reaches from the earliest end that is
// found, no point beats another one, and the gap holds.
func TestParetoGivingUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		opt := appassign.Options{Nodes: rapid.IntRange(1, 60).Draw(t, "nodes")}
		got, err := appassign.Pareto(p, opt, rapid.IntRange(2, 6).Draw(t, "points"))
		if err != nil {
			t.Skip("no choices found")
		}
		for i, one := range got.Points {
			o, ok := worked(p, one.Chosen)
			if !ok || !o.within(p) || o.end != one.End || o.cost != one.Cost {
				t.Fatalf("%+v is %+v", one, o)
			}
			if i > 0 && (one.End <= got.Points[i-1].End || one.Cost >= got.Points[i-1].Cost) {
				t.Fatalf("%+v beats another point or is beaten: %+v", one, got.Points[i-1])
			}
			least := one.Cost
			for _, other := range frontier(p) {
				if other.end <= one.End {
					least = min(least, other.cost)
				}
			}
			if miss := float64(one.Cost-least) * protocol.PPM; miss > float64(got.Gap)*max(1, math.Abs(float64(one.Cost))) {
				t.Fatalf("%+v costs more than %d by more than %d parts per million", one, least, got.Gap)
			}
		}
		if soon := soonest(p, opt); got.Points[0].End > soon {
			t.Fatalf("it begins with %v; %v was found", got.Points[0].End, soon)
		}
	})
}

// TestParetoReachesTheFastest: so does that of a hundred components at sites that take few,
// where the search for a cheaper choice that is as fast finds none.
func TestParetoReachesTheFastest(t *testing.T) {
	t.Parallel()
	p, opt := limited(t, 100, 50, shared, 1), appassign.Options{Nodes: 1_000_000, Gap: appassign.DefaultGap}
	soon := soonest(p, opt)
	got, err := appassign.Pareto(p, opt, 32)
	if err != nil || got.Points[0].End > soon {
		t.Fatalf("it begins with %v, %v; %v was found", got.Points[0].End, err, soon)
	}
}

// soonest is the earliest end within the limits that is found.
func soonest(p *appassign.Problem, opt appassign.Options) protocol.Duration {
	fast := *p
	fast.Components, fast.EachLate = slices.Clone(p.Components), false
	fast.Late = func(end protocol.Duration) int64 { return int64(end) }
	for k := range fast.Components {
		fast.Components[k].Choices = slices.Clone(p.Components[k].Choices)
		for i := range fast.Components[k].Choices {
			fast.Components[k].Choices[i].Weighted = 0
		}
	}
	got, err := appassign.Solve(&fast, opt)
	if err != nil {
		return protocol.Never
	}
	return got.End
}

// TestAlternativesSpareWork: of 160 choices of each component few are placed anew, since each
// takes as long as there are components. With the printed z, where many wait, it is not so.
func TestAlternativesSpareWork(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{unlimited, cost, shared, crowded} {
		p := limited(t, 100, 40, kind, 1)
		got := appassign.Tries(p, solved(t, p).Chosen)
		if all := 100 * 160; got > all/10 {
			t.Errorf("%s: %d of %d choices are placed anew", kind, got, all)
		}
	}
}

// TestAlternatives: they are the best of what one component could change.
func TestAlternatives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		got, err := appassign.Solve(p, appassign.Options{})
		if err != nil {
			t.Skip("no choices")
		}
		for k, other := range appassign.Alternatives(p, got.Chosen) {
			want, best := appassign.Alternative{Choice: -1}, outcome{}
			for i := range p.Components[k].Choices {
				changed := slices.Clone(got.Chosen)
				changed[k] = i
				o, ok := worked(p, changed)
				if i != got.Chosen[k] && ok && o.within(p) && (want.Choice < 0 || o.better(&best)) {
					want, best = appassign.Alternative{Choice: i, Z: o.z, End: o.end, Cost: o.cost}, o
				}
			}
			if other != want {
				t.Fatalf("component %d: got %+v, want %+v", k, other, want)
			}
		}
	})
}
