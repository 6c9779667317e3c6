package tune

import (
	"context"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
)

// Demand is how much users would like a site if waiting cost nothing: what runs there with
// β = 0 shows which machines are overused and "should in addition be installed" [IS 4.2].
type Demand struct {
	Site        string         `json:"site"`
	CPUs        int            `json:"cpus"`
	Utilization report.Average `json:"utilization"` // with β = 0
	Tuned       report.Average `json:"tuned"`       // with the weights that were found
	// Ratio is the site's part of all work by its part of all CPUs; above 1 it is wanted more
	// than the others.
	Ratio report.Average `json:"demand"`
}

// demand simulates the plan with β = 0.
func (s *Study) demand(ctx context.Context, tuned *experiment.Plan, result *Result, done int) ([]Demand, error) {
	plan, err := tuned.Patient()
	if err != nil {
		return nil, err
	}
	search := Search{
		Goal: result.Weights, Seeds: result.Seeds, Workers: s.Workers,
		Evaluate: func(ctx context.Context, _ Point, seed uint64) (Outcome, error) {
			return simulate(ctx, plan, nil, seed)
		},
	}
	found, err := search.Run(ctx, s.from(done))
	if err != nil {
		return nil, err
	}
	free, demands := &found.Baseline, []Demand(nil)
	for i, site := range free.Sites {
		demands = append(demands, Demand{
			Site: site.Site, CPUs: site.CPUs, Utilization: site.Utilization, Tuned: result.best().Sites[i].Utilization,
			Ratio: over(free.outcomes, func(o *Outcome) float64 { return demanded(o, i) }),
		})
	}
	return demands, nil
}

// demanded is a site's part of the work by its part of the CPUs.
func demanded(o *Outcome, site int) float64 {
	cpus, work := 0.0, 0.0
	for _, one := range o.Sites {
		cpus, work = cpus+float64(one.CPUs), work+float64(one.CPUs)*one.Utilization
	}
	if work == 0 {
		return 0
	}
	return o.Sites[site].Utilization * cpus / work
}
