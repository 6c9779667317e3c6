package appassign_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestNothingWraps: with the largest numbers sums stay where they are, and the limits that
// are told are kept.
func TestNothingWraps(t *testing.T) {
	t.Parallel()
	amount := rapid.SampledFrom([]int64{math.MinInt64, -1 << 50, -1, 0, 1, 1 << 50, math.MaxInt64})
	span := rapid.SampledFrom([]protocol.Duration{0, 1, protocol.Never / 2, protocol.Never - 1, protocol.Never})
	count := rapid.SampledFrom([]int{0, 1, math.MaxInt32})
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		p.MaxCost, p.MaxEnd, p.Floor = amount.Draw(t, "max cost"), span.Draw(t, "max end"), span.Draw(t, "floor")
		highest := amount.Draw(t, "late")
		p.Late = func(end protocol.Duration) int64 {
			if end > protocol.Never/4 {
				return highest
			}
			return math.MinInt64
		}
		for s := range p.Sites {
			p.Sites[s] = appassign.Site{CPUs: count.Draw(t, "CPUs"), Free: count.Draw(t, "free"), MaxJobs: count.Draw(t, "accept"), Taken: count.Draw(t, "taken"), Work: amount.Draw(t, "work")}
		}
		for k := range p.Components {
			for i := range p.Components[k].Choices {
				p.Components[k].Choices[i] = appassign.Choice{
					Site: p.Components[k].Choices[i].Site, CPUs: count.Draw(t, "CPUs"), Wait: span.Draw(t, "wait"), Ready: span.Draw(t, "ready"),
					Run: span.Draw(t, "run"), Back: span.Draw(t, "back"), Weighted: amount.Draw(t, "weighted"), Cost: amount.Draw(t, "cost"),
				}
			}
		}
		got, err := appassign.Solve(p, appassign.Options{Nodes: 100_000})
		if err != nil {
			return
		}
		const most = int64(1) << 61 // of a sum
		if got.End > p.MaxEnd || got.End == protocol.Never || max(got.Z, -got.Z, got.Cost, -got.Cost) > most {
			t.Fatalf("got %+v", got)
		}
		if p.MaxCost != appassign.Unlimited && got.Cost > max(p.MaxCost, -1<<60) || got.Bound > got.Z {
			t.Fatalf("got %+v", got)
		}
		for k := range got.Starts {
			if got.Waits[k] < 0 || got.Starts[k] < got.Waits[k] || got.Ends[k] < got.Starts[k] || got.Ends[k] > got.End {
				t.Fatalf("component %d: got %+v", k, got)
			}
		}
	})
}

// TestMistakes: what is no problem is told, all at once.
func TestMistakes(t *testing.T) {
	t.Parallel()
	p := &appassign.Problem{
		Sites:      []appassign.Site{{CPUs: 1, MaxJobs: 1}},
		Components: []appassign.Component{{Choices: []appassign.Choice{{Site: 1}, {Site: -1}, {Run: -1}, {CPUs: -1}}}},
	}
	want := "assignment: choice 0 of component 0 is site 1 of 1\nchoice 1 of component 0 is site -1 of 1\n" +
		"choice 2 of component 0 has a negative time or number of CPUs: {Site:0 CPUs:0 Wait:0s Ready:0s Run:-1ms Back:0s Weighted:0 Cost:0}\n" +
		"choice 3 of component 0 has a negative time or number of CPUs: {Site:0 CPUs:-1 Wait:0s Ready:0s Run:0s Back:0s Weighted:0 Cost:0}"
	if _, err := appassign.Solve(p, appassign.Options{}); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, err := appassign.Seated(p); err == nil {
		t.Error("Seated takes it")
	}
}

// TestSeated: as many as possible find a place, and none of a group alone.
func TestSeated(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		p.MaxCost, p.MaxEnd = appassign.Unlimited, protocol.Never
		got, err := appassign.Seated(p)
		if err != nil {
			t.Fatal(err)
		}
		some, grouped, seats := *p, false, 0
		some.Components = nil
		for k, c := range p.Components {
			grouped = grouped || c.Together > 0
			if got[k] {
				seats++
				some.Components = append(some.Components, c)
			}
			for l, other := range p.Components {
				if c.Together > 0 && other.Together == c.Together && got[k] != got[l] {
					t.Fatalf("only some of group %d: %v", c.Together, got)
				}
			}
		}
		if best, _ := brute(&some); best == nil {
			t.Fatalf("they do not fit: %v", got)
		}
		if most := seatable(p); !grouped && seats != most {
			t.Fatalf("%d of %d that fit are seated", seats, most)
		}
	})
}

// seatable is how many components can have a place at once.
func seatable(p *appassign.Problem) (most int) {
	for set := range 1 << len(p.Components) {
		some, n := *p, 0
		some.Components = nil
		for k, c := range p.Components {
			if set>>k&1 == 1 {
				some.Components = append(some.Components, c)
				n++
			}
		}
		if best, _ := brute(&some); best != nil {
			most = max(most, n)
		}
	}
	return most
}
