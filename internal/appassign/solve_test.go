package appassign_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// stairs is a Late with plateaus.
func stairs(rise int64, step protocol.Duration) func(protocol.Duration) int64 {
	return func(end protocol.Duration) int64 { return rise * int64(end/step) }
}

// drawn is a small problem of any kind.
func drawn(t *rapid.T) *appassign.Problem {
	small := func(label string, from, to int) int { return rapid.IntRange(from, to).Draw(t, label) }
	p := &appassign.Problem{
		MaxCost: appassign.Unlimited, MaxEnd: protocol.Never,
		EachLate: rapid.Bool().Draw(t, "each"), Floor: protocol.Duration(small("floor", 0, 8)),
		Sites: make([]appassign.Site, small("sites", 1, 4)), Components: make([]appassign.Component, small("components", 0, 5)),
	}
	if small("limited cost", 0, 1) == 1 {
		p.MaxCost = int64(small("max cost", -10, 30))
	}
	if small("limited time", 0, 1) == 1 {
		p.MaxEnd = protocol.Duration(small("max end", 2, 25))
	}
	if small("late", 0, 3) > 0 {
		p.Late = stairs(int64(small("rise", 0, 5)), protocol.Duration(small("step", 1, 7)))
	}
	for s := range p.Sites {
		p.Sites[s] = appassign.Site{CPUs: small("CPUs", 0, 6), Free: small("free", 0, 6), MaxJobs: small("accept", 0, 5)}
		if small("taken", 0, 2) == 0 {
			p.Sites[s].Taken, p.Sites[s].Work = small("taken CPUs", 0, 4), int64(small("work", 0, 20))
		}
	}
	amounts := small("amounts", 0, 9) // few different ones give many ties
	for k := range p.Components {
		p.Components[k].Together = small("together", -2, 2)
		p.Components[k].Together = max(0, p.Components[k].Together)
		for range small("choices", 0, 5) {
			p.Components[k].Choices = append(p.Components[k].Choices, appassign.Choice{
				Site: small("site", 0, len(p.Sites)-1), CPUs: small("CPUs", 0, 4),
				Wait: protocol.Duration(small("wait", 0, 8)), Ready: protocol.Duration(small("ready", 0, 8)),
				Run: protocol.Duration(small("run", 0, 8)), Back: protocol.Duration(small("back", 0, 2)),
				Weighted: int64(small("weighted", -amounts/3, amounts)), Cost: int64(small("cost", -amounts/2, amounts)),
			})
		}
	}
	return p
}

// TestBruteForce: the answer is the best one, by value and by the rule of ties, and is
// told as it is.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		want, value := brute(p)
		got, err := appassign.Solve(p, appassign.Options{})
		if _, none := errors.AsType[*appassign.InfeasibleError](err); none {
			if want != nil {
				t.Fatalf("%v; %v has %+v", err, want, value)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Chosen, want) || got.Z != value.z || got.Cost != value.cost || got.End != value.end || !slices.Equal(got.Starts, value.starts) {
			t.Fatalf("got %+v, want %v, %+v", got, want, value)
		}
		if !got.Exact || got.Bound != got.Z || got.Gap() != 0 {
			t.Fatalf("not proven: %+v", got)
		}
	})
}

// TestPlateau: where waiting costs nothing, the answer for a hundred components ends as early
// as the one for which it does cost something, but for the gap that is allowed.
func TestPlateau(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{unlimited, shared} {
		for seed := range uint64(2) {
			p := limited(t, 100, 50, kind, seed)
			opt := appassign.Options{Gap: appassign.DefaultGap}
			earliest := soonest(p, opt)
			for k := range p.Components {
				for i := range p.Components[k].Choices {
					p.Components[k].Choices[i].Weighted = 0
				}
			}
			p.Late = nil
			got, err := appassign.Solve(p, opt)
			if err != nil || got.Z != 0 || got.End > earliest+earliest/50 {
				t.Errorf("%s %d: ends after %v with z %d, %v; %v is possible", kind, seed, got.End, got.Z, err, earliest)
			}
		}
	}
}

// TestGivingUp: with few steps there may be a gap, but the bound holds, and what is said
// of the choices too.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		want, value := brute(p)
		opt := appassign.Options{Nodes: rapid.IntRange(1, 200).Draw(t, "nodes"), Gap: rapid.IntRange(0, protocol.PPM/2).Draw(t, "gap")}
		got, err := appassign.Solve(p, opt)
		none, impossible := errors.AsType[*appassign.InfeasibleError](err)
		switch {
		case impossible:
			if want != nil && none.Limit != appassign.Steps {
				t.Fatalf("%v; %v has %+v", err, want, value)
			}
		case err != nil:
			t.Fatal(err)
		default:
			o, ok := worked(p, got.Chosen)
			if !ok || !o.within(p) || o.z != got.Z || o.cost != got.Cost || o.end != got.End {
				t.Fatalf("got %+v, which is %+v", got, o)
			}
			if got.Bound > value.z || got.Exact && (!slices.Equal(got.Chosen, want)) {
				t.Fatalf("got %+v, want %v, %+v", got, want, value)
			}
		}
	})
}

// TestAdvice: the smallest change makes choices possible, and one unit less does not.
func TestAdvice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		_, err := appassign.Solve(p, appassign.Options{})
		none, impossible := errors.AsType[*appassign.InfeasibleError](err)
		if !impossible {
			t.Skip("there are choices")
		}
		if !none.Exact {
			t.Fatalf("not exact: %+v", none)
		}
		possible := func(cost int64, end protocol.Duration) bool {
			changed := *p
			changed.MaxCost, changed.MaxEnd = cost, end
			best, _ := brute(&changed)
			return best != nil
		}
		unlimited := possible(appassign.Unlimited, protocol.Never)
		if unlimited == (none.Limit == appassign.Room) {
			t.Fatalf("%+v, but without limits it is %t", none, unlimited)
		}
		raised := func(cost int64, end protocol.Duration) {
			if !possible(cost, end) {
				t.Fatalf("%+v does not help", none)
			}
		}
		cost := func(end protocol.Duration) {
			raised(none.MaxCost, end)
			if possible(none.MaxCost-1, end) {
				t.Fatalf("%+v: less cost is enough", none)
			}
		}
		sooner := func(cost int64) {
			raised(cost, none.MaxEnd)
			if possible(cost, none.MaxEnd-1) {
				t.Fatalf("%+v: less time is enough", none)
			}
		}
		switch none.Limit {
		case appassign.Cost:
			cost(p.MaxEnd)
		case appassign.Time:
			sooner(p.MaxCost)
		case appassign.Either:
			cost(p.MaxEnd)
			sooner(p.MaxCost)
		case appassign.Both:
			cost(none.MaxEnd)
			sooner(appassign.Unlimited)
		case appassign.Room:
		case appassign.Steps:
			t.Fatalf("it gave up: %+v", none)
		}
	})
}
