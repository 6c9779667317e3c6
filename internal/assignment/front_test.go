package assignment_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/assignment"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// point is one of a front.
type point struct {
	end  protocol.Duration
	cost int64
}

// frontier is the front of all choices within the limits, the fastest first.
func frontier(p *assignment.Problem) (front []point) {
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
		got, err := assignment.Pareto(p, assignment.Options{}, points)
		want := frontier(p)
		if _, none := errors.AsType[*assignment.InfeasibleError](err); none {
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

// TestAlternatives: they are the best of what one component could change.
func TestAlternatives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		got, err := assignment.Solve(p, assignment.Options{})
		if err != nil {
			t.Skip("no choices")
		}
		for k, other := range assignment.Alternatives(p, got.Chosen) {
			want, best := assignment.Alternative{Choice: -1}, outcome{}
			for i := range p.Components[k].Choices {
				changed := slices.Clone(got.Chosen)
				changed[k] = i
				o, ok := worked(p, changed)
				if i != got.Chosen[k] && ok && o.within(p) && (want.Choice < 0 || o.better(&best)) {
					want, best = assignment.Alternative{Choice: i, Z: o.z, End: o.end, Cost: o.cost}, o
				}
			}
			if other != want {
				t.Fatalf("component %d: got %+v, want %+v", k, other, want)
			}
		}
	})
}
