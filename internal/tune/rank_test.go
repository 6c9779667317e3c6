package tune_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/tune"
)

// TestRankingGoesByWorth, whatever the order of the file: first what gains for nothing, then by the
// gain for the price, then by the loss.
func TestRankingGoesByWorth(t *testing.T) {
	t.Parallel()
	base := run(t, overCost(experiment.GridSearch, 1, func(context.Context, tune.Point, uint64) (tune.Outcome, error) {
		return tune.Outcome{Cost: 100}, nil
	}, nil))
	costs := map[string]float64{"big": 50, "little": 90, "retired": 70, "useless": 100, "harm": 130, "free harm": 110}
	prices := map[string]float64{"big": 500_000, "little": 10_000, "useless": 1, "harm": 5}
	names := []string{"big", "little", "retired", "useless", "harm", "free harm"}
	for turn := range names {
		for _, back := range []bool{false, true} {
			var candidates []tune.Priced
			for i := range names {
				at := (turn + i) % len(names)
				if back {
					at = (turn + len(names) - i) % len(names)
				}
				candidates = append(candidates, tune.Priced{Name: names[at], PerYear: prices[names[at]]})
			}
			ranking := tune.Ranking{
				Goal: experiment.Goal{Cost: 1}, Seeds: []uint64{3, 4}, Base: &base.Baseline, Candidates: candidates, Workers: 2,
				Evaluate: func(_ context.Context, candidate int, _ uint64) (tune.Outcome, error) {
					return tune.Outcome{Cost: costs[candidates[candidate].Name]}, nil
				},
			}
			ranked, err := ranking.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range ranked {
				got = append(got, ranked[i].Name)
			}
			if text := strings.Join(got, ", "); text != "retired, little, big, useless, free harm, harm" {
				t.Errorf("%s: ranked %s", fmt.Sprint(candidates), text)
			}
		}
	}
}
