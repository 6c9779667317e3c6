package mincostflow_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
)

const missing = mincostflow.Missing

// solved solves a problem and checks the certificate.
func solved(tb rapid.TB, p *mincostflow.Problem, hint []byte) *mincostflow.Solution {
	tb.Helper()
	s, err := mincostflow.Solve(p, hint)
	if err != nil {
		tb.Fatal(err)
	}
	if err := mincostflow.Certify(p, s); err != nil {
		tb.Fatalf("certificate: %v", err)
	}
	return s
}

// anyProblem has up to so many jobs and systems: with missing pairs, systems
// without places or without bounds, steps, few or many equal costs, and costs as
// high as there may be.
func anyProblem(t *rapid.T, jobs, systems int) *mincostflow.Problem {
	p := &mincostflow.Problem{
		Jobs: rapid.IntRange(0, jobs).Draw(t, "jobs"), Systems: rapid.IntRange(0, systems).Draw(t, "systems"),
	}
	top := rapid.SampledFrom([]int32{0, 1, 3, 100, 1_000_000, mincostflow.MaxCost}).Draw(t, "highest cost")
	cost := rapid.Custom(func(t *rapid.T) int32 {
		if rapid.IntRange(0, 4).Draw(t, "compatible") == 0 {
			return missing
		}
		return rapid.Int32Range(0, top).Draw(t, "cost")
	})
	p.Costs = rapid.SliceOfN(cost, p.Jobs*p.Systems, p.Jobs*p.Systems).Draw(t, "costs")
	most := rapid.SampledFrom([]int{0, 1, 3, jobs}).Draw(t, "most places")
	place := rapid.Custom(func(t *rapid.T) int {
		if rapid.IntRange(0, 19).Draw(t, "bounded") == 0 {
			return mincostflow.Unbounded
		}
		return rapid.IntRange(0, most).Draw(t, "places")
	})
	p.Capacity = rapid.SliceOfN(place, p.Systems, p.Systems).Draw(t, "capacity")
	if rapid.Bool().Draw(t, "steps") {
		step := rapid.Custom(func(t *rapid.T) []int32 {
			steps := rapid.SliceOfN(rapid.Int32Range(0, top), 0, 4).Draw(t, "system's steps")
			slices.Sort(steps)
			return steps
		})
		p.Steps = rapid.SliceOfN(step, p.Systems, p.Systems).Draw(t, "all steps")
	}
	return p
}

// TestSolveEqualsBruteForce on problems so small that all ways can be tried.
func TestSolveEqualsBruteForce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t, 5, 4)
		got := solved(t, p, nil)
		if flow, cost := tryAll(p, 0, make([]int, p.Systems)); got.Flow != flow || got.Cost != cost {
			t.Fatalf("flow %d at %d, but %d at %d is possible", got.Flow, got.Cost, flow, cost)
		}
	})
}

// tryAll is the most jobs from this one on that can be served, and their least cost.
func tryAll(p *mincostflow.Problem, job int, load []int) (int, int64) {
	if job == p.Jobs {
		return 0, 0
	}
	flow, cost := tryAll(p, job+1, load)
	for s := range p.Systems {
		c := p.Costs[job*p.Systems+s]
		if c == missing || load[s] >= p.Capacity[s] {
			continue
		}
		here := int64(c)
		if p.Steps != nil && len(p.Steps[s]) > 0 {
			here += int64(p.Steps[s][min(load[s], len(p.Steps[s])-1)])
		}
		load[s]++
		f, rest := tryAll(p, job+1, load)
		load[s]--
		if f+1 > flow || f+1 == flow && here+rest < cost {
			flow, cost = f+1, here+rest
		}
	}
	return flow, cost
}

// TestSolveEqualsTheNetworkSimplex on larger problems, which are solved by samples.
func TestSolveEqualsTheNetworkSimplex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t, 400, 6)
		got := solved(t, p, nil)
		flow, cost := bySimplex(t, p)
		if got.Flow != flow || got.Cost != cost {
			t.Fatalf("flow %d at %d, but the simplex finds %d at %d", got.Flow, got.Cost, flow, cost)
		}
	})
}

// bySimplex solves a problem as a general network, in which a job may stay unserved
// at a price above all others.
func bySimplex(t *rapid.T, p *mincostflow.Problem) (int, int64) {
	penalty := int64(p.Systems+2) * (math.MaxInt32 + 1)
	sink := p.Jobs + p.Systems
	n := &Network{Supply: make([]int64, sink+1)}
	n.Supply[sink] = -int64(p.Jobs)
	for j := range p.Jobs {
		n.Supply[j] = 1
		n.Arcs = append(n.Arcs, Arc{From: j, To: sink, Capacity: 1, Cost: penalty})
		for s := range p.Systems {
			if c := p.Costs[j*p.Systems+s]; c != missing {
				n.Arcs = append(n.Arcs, Arc{From: j, To: p.Jobs + s, Capacity: 1, Cost: int64(c)})
			}
		}
	}
	for s, capacity := range p.Capacity {
		for u := range min(capacity, p.Jobs) {
			arc := Arc{From: p.Jobs + s, To: sink, Capacity: 1}
			if p.Steps != nil && len(p.Steps[s]) > 0 {
				arc.Cost = int64(p.Steps[s][min(u, len(p.Steps[s])-1)])
			}
			n.Arcs = append(n.Arcs, arc)
		}
	}
	f := carried(t, n)
	flow := p.Jobs
	for i, arc := range n.Arcs {
		if arc.Cost == penalty && arc.To == sink {
			flow -= int(f.Flow[i])
		}
	}
	return flow, f.Cost - int64(p.Jobs-flow)*penalty
}

// TestInstancesAreCertified where prices are right only after surveys: places are
// short, or just enough, at both scales, with steps.
func TestInstancesAreCertified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ jobs, systems, capacity, scale int }{
		"short": {3000, 40, 20, 100}, "short and fine": {3000, 40, 20, 1_000_000},
		"just enough": {3000, 40, 75, 100}, "just enough and fine": {3000, 40, 75, 1_000_000},
		"plenty": {3000, 40, 3000, 100}, "one each": {300, 300, 1, 1_000_000}, "dearest": {1000, 30, 35, 100_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := instance(t, c.jobs, c.systems, c.capacity, 3, c.scale)
			plain := solved(t, p, nil)
			p.Steps = make([][]int32, p.Systems)
			for s := range p.Steps {
				for u := range s {
					p.Steps[s] = append(p.Steps[s], int32(u*c.scale/100))
				}
			}
			if stepped := solved(t, p, nil); stepped.Flow != plain.Flow || stepped.Cost < plain.Cost {
				t.Errorf("with steps %d at %d, without %d at %d", stepped.Flow, stepped.Cost, plain.Flow, plain.Cost)
			}
		})
	}
}

// TestTiesGoToTheEmptiest: of equal systems each gets its part, the first ones more.
func TestTiesGoToTheEmptiest(t *testing.T) {
	t.Parallel()
	p := &mincostflow.Problem{Jobs: 7, Systems: 3, Costs: slices.Repeat([]int32{5}, 21), Capacity: []int{9, 9, 9}}
	if got := solved(t, p, nil).System; !slices.Equal(got, []int32{0, 1, 2, 0, 1, 2, 0}) {
		t.Errorf("jobs went to %v", got)
	}
	p.Capacity = []int{2, 5, 3}
	if got := solved(t, p, nil).System; !slices.Equal(got, []int32{1, 1, 1, 2, 0, 1, 2}) {
		t.Errorf("jobs went to %v, with 2, 5 and 3 places", got)
	}
}

// TestEverythingTies: lists would hold every pair, so only surveys are left. The first
// half of the jobs is free on the first half of the systems, the second half only on
// the first quarter, and each half lacks 100 places there.
func TestEverythingTies(t *testing.T) {
	t.Parallel()
	const jobs, systems = 4000, 400
	p := &mincostflow.Problem{Jobs: jobs, Systems: systems, Capacity: slices.Repeat([]int{19}, systems)}
	for j := range jobs {
		for s := range systems {
			c := int32(0)
			if s >= systems/2 || j >= jobs/2 && s >= systems/4 {
				c = 1
			}
			p.Costs = append(p.Costs, c)
		}
	}
	if s := solved(t, p, nil); s.Flow != jobs || s.Cost != 200 {
		t.Errorf("%d jobs at %d, want all at 200", s.Flow, s.Cost)
	}
}

func TestSolveIsDeterministic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t, 60, 8)
		a, b := solved(t, p, nil), solved(t, p, nil)
		if !slices.Equal(a.System, b.System) || !slices.Equal(a.Prices, b.Prices) || !slices.Equal(a.Hint, b.Hint) {
			t.Fatalf("%+v, then %+v", a, b)
		}
	})
}

func TestProblemsThatAreNotValid(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]mincostflow.Problem{
		"jobs: -1 is not 0 to":                                  {Jobs: -1},
		"systems: 1073741824 is not 0 to 8192":                  {Systems: 1 << 30},
		"costs: there are 1, not one for each of 2 jobs on":     {Jobs: 2, Systems: 1, Costs: []int32{1}, Capacity: []int{1}},
		"capacity: there are 0, not one for each of 1 systems":  {Jobs: 1, Systems: 1, Costs: []int32{1}},
		"capacity[1]: -3 is less than 0":                        {Systems: 2, Capacity: []int{1, -3}},
		"costs: -7 of job 1 on system 0 is less than 0":         {Jobs: 2, Systems: 2, Costs: []int32{1, 2, -7, 4}, Capacity: []int{1, 1}},
		"steps: there are 2, not one for each of 1 systems":     {Systems: 1, Capacity: []int{1}, Steps: make([][]int32, 2)},
		"steps[0][1]: 3 is less than the one before it, 4":      {Systems: 1, Capacity: []int{9}, Steps: [][]int32{{4, 3}}},
		"steps[0][0]: -1 is not 0 to":                           {Systems: 1, Capacity: []int{9}, Steps: [][]int32{{-1}}},
		"steps[0][0]: 2147483647 is not 0 to":                   {Systems: 1, Capacity: []int{9}, Steps: [][]int32{{missing}}},
		"systems: 8192 with costs up to 2147483646 are more th": {Jobs: 1, Systems: 8192, Costs: slices.Repeat([]int32{mincostflow.MaxCost}, 8192), Capacity: make([]int, 8192)},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if _, err := mincostflow.Solve(&p, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestSolveLeavesTheProblemAlone: it is read only.
func TestSolveLeavesTheProblemAlone(t *testing.T) {
	t.Parallel()
	p := instance(t, 500, 10, 40, 1, mincostflow.ReferenceScale)
	costs, capacity := slices.Clone(p.Costs), slices.Clone(p.Capacity)
	solved(t, p, nil)
	if !slices.Equal(costs, p.Costs) || !slices.Equal(capacity, p.Capacity) {
		t.Error("the problem was changed")
	}
}
