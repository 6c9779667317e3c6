package tune_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/tune"
)

func score(t testing.TB, goal experiment.Goal, o, base tune.Outcome) float64 {
	t.Helper()
	s, err := tune.Score(goal, &o, &base)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestScoreByHand recomputes the mean of the relative measures.
func TestScoreByHand(t *testing.T) {
	t.Parallel()
	base := tune.Outcome{Cost: 200, Response: 50, Utilization: 0.5, Energy: 10, Broken: 0.25}
	half := tune.Outcome{Cost: 100, Response: 100, Utilization: 0.8, Energy: 5, Broken: 0.75}
	for _, test := range []struct {
		goal experiment.Goal
		want float64
	}{
		{experiment.Goal{Cost: 1}, 0.5},
		{experiment.Goal{Response: 3}, 2},
		{experiment.Goal{Utilization: 1}, 0.625}, // more is better
		{experiment.Goal{Energy: 1}, 0.5},
		{experiment.Goal{Limits: 1}, 1.5}, // half of the applications more are broken
		{experiment.Goal{Cost: 1, Response: 3}, (0.5 + 3*2) / 4},
	} {
		if got := score(t, test.goal, half, base); got != test.want {
			t.Errorf("%+v: %v, want %v", test.goal, got, test.want)
		}
	}
	left := half
	left.Undone = 0.01
	if got := score(t, experiment.Goal{Cost: 1}, left, base); got != 1.5 {
		t.Errorf("a hundredth left undone: %v, want 1 more", got)
	}
	idle := tune.Outcome{}
	if got := score(t, experiment.Goal{Utilization: 1}, idle, base); got < 10 {
		t.Errorf("a grid that does nothing scores %v", got)
	}
}

// TestScoreOfTheBaseline is 1 whatever it is, and leaving work undone never pays.
func TestScoreOfTheBaseline(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := func(name string) float64 { return rapid.Float64Range(0.001, 1e6).Draw(t, name) }
		goal := experiment.Goal{Cost: of("α"), Response: of("β"), Utilization: of("γ"), Energy: of("δ"), Limits: of("ε")}
		base := tune.Outcome{Cost: of("cost"), Response: of("response"), Utilization: of("utilization"), Energy: of("energy")}
		if got, err := tune.Score(goal, &base, &base); err != nil || got < 1-1e-9 || got > 1+1e-9 {
			t.Errorf("%v, %v", got, err)
		}
		lazy := base
		lazy.Undone = rapid.Float64Range(0.02, 1).Draw(t, "undone")
		lazy.Cost, lazy.Response, lazy.Energy = base.Cost*(1-lazy.Undone), base.Response*(1-lazy.Undone), base.Energy*(1-lazy.Undone)
		if got, err := tune.Score(goal, &lazy, &base); err != nil || got <= 1 {
			t.Errorf("leaving %v undone scores %v, %v", lazy.Undone, got, err)
		}
	})
}
