package tune

import (
	"context"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
)

// simulate runs a plan for a seed. The machines of the sites that are retired count for
// nothing.
func simulate(ctx context.Context, plan *experiment.Plan, retired []string, seed uint64) (Outcome, error) {
	o, err := plan.Run(ctx, plan.Scheme, seed, nil)
	if err != nil {
		return Outcome{}, err
	}
	return measure(o, retired), nil
}
