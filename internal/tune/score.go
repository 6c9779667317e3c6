package tune

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
)

// undoneWeight makes work that is left undone worse than anything that it could save: a
// hundredth of it counts as much as all that the goal weighs.
const undoneWeight = 100

// Score is one number for an outcome beside that of the baseline with the same seed: 1 for
// the baseline itself, less is better. It is the mean, by the weights of the goal, of
//
//	cost/cost₀, response/response₀, energy/energy₀, utilization₀/utilization, 1 + broken − broken₀
//
// and what the baseline has done and this has not counts a hundredfold on top. A measure
// that weighs must be above 0 in the baseline, or there is nothing to compare with.
func Score(goal experiment.Goal, o, base *Outcome) (float64, error) {
	sum := goal.Limits * (1 + o.Broken - base.Broken)
	for _, term := range []struct {
		name        string
		weight      float64
		part, whole float64
		of          float64 // in the baseline
	}{
		{"cost", goal.Cost, o.Cost, base.Cost, base.Cost},
		{"response", goal.Response, o.Response, base.Response, base.Response},
		{"energy", goal.Energy, o.Energy, base.Energy, base.Energy},
		{"utilization", goal.Utilization, base.Utilization, o.Utilization, base.Utilization},
	} {
		switch {
		case term.weight == 0:
		case term.of <= 0:
			return 0, fmt.Errorf("tune.goal.%s: nothing can be compared, as it is %v in the experiment as it stands; leave it out", term.name, term.of)
		case term.whole > 0:
			sum += term.weight * term.part / term.whole
		default:
			sum += term.weight * undoneWeight // no CPU works
		}
	}
	return sum/goal.Sum() + undoneWeight*max(0, o.Undone-base.Undone), nil
}

// scores are those of a point for all seeds.
func scores(goal experiment.Goal, outcomes, base []Outcome) (report.Average, error) {
	values := make([]float64, len(outcomes))
	for i := range outcomes {
		var err error
		if values[i], err = Score(goal, &outcomes[i], &base[i]); err != nil {
			return report.Average{}, err
		}
	}
	return report.AverageOf(values), nil
}
