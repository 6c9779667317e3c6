package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/parallel"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Priced is a candidate and its cost of a year. Zero means that costs do not count.
type Priced struct {
	Name    string
	PerYear float64
}

// Ranking asks what each of some candidates would change.
type Ranking struct {
	Goal       experiment.Goal
	Seeds      []uint64
	Base       *Tried // without any of them
	Candidates []Priced
	Workers    int
	Evaluate   func(ctx context.Context, candidate int, seed uint64) (Outcome, error)
}

// Ranked is a candidate and what it changes. Changes are parts of what there was, seed by
// seed: -0.1 is a tenth less.
type Ranked struct {
	Name    string         `json:"name"`
	PerYear float64        `json:"price_per_year,omitempty"`
	Gain    report.Average `json:"gain"` // 1 - its [Score] beside the grid without it
	// GainPerPrice is the mean gain for each thousand that the candidate costs in a year; nil
	// without a price, or a gain.
	GainPerPrice *float64       `json:"gain_per_1000_a_year,omitempty"`
	Cost         report.Average `json:"cost_change"`
	Response     report.Average `json:"mean_response_change"`
	Utilization  report.Average `json:"utilization_change"`
	Energy       report.Average `json:"energy_change"`
	// Saved is what users pay less in a year, if that went on as in the time simulated.
	Saved report.Average `json:"saved_per_year"`
	Means Means          `json:"with"`
}

// Run simulates every candidate for every seed and ranks them: those with a gain first, of
// these what costs nothing by its gain and then the others by gain for the price, and at last
// those without a gain by their loss.
// Progress is as for [Search.Run].
func (r *Ranking) Run(ctx context.Context, progress func(done int)) ([]Ranked, error) {
	count := parallel.Counter{Tell: progress}
	outcomes := make([][]Outcome, len(r.Candidates))
	for i := range outcomes {
		outcomes[i] = make([]Outcome, len(r.Seeds))
	}
	err := parallel.Each(ctx, r.Workers, len(r.Candidates)*len(r.Seeds), func(ctx context.Context, i int) (err error) {
		candidate, seed := i/len(r.Seeds), i%len(r.Seeds)
		outcomes[candidate][seed], err = r.Evaluate(ctx, candidate, r.Seeds[seed])
		count.Add()
		return err
	})
	if err != nil {
		return nil, err
	}
	var ranked []Ranked
	for i, one := range r.Candidates {
		judged, err := r.judge(one, outcomes[i])
		if err != nil {
			return nil, err
		}
		ranked = append(ranked, judged)
	}
	slices.SortStableFunc(ranked, byWorth)
	return ranked, nil
}

// judge compares outcomes with a candidate to those without.
func (r *Ranking) judge(one Priced, with []Outcome) (Ranked, error) {
	before := r.Base.outcomes
	goal, err := scores(r.Goal, with, before)
	if err != nil {
		return Ranked{}, err
	}
	gains, saved := make([]float64, len(with)), make([]float64, len(with))
	for i := range with {
		gains[i] = 1 - goal.Values[i]
		if span := before[i].Span; span > 0 {
			saved[i] = (before[i].Cost - with[i].Cost) * float64(year/protocol.Second) / span
		}
	}
	judged := Ranked{
		Name: one.Name, PerYear: one.PerYear, Gain: report.AverageOf(gains), Saved: report.AverageOf(saved), Means: means(with),
		Cost:        change(with, before, func(o *Outcome) float64 { return o.Cost }),
		Response:    change(with, before, func(o *Outcome) float64 { return o.Response }),
		Utilization: change(with, before, func(o *Outcome) float64 { return o.Utilization }),
		Energy:      change(with, before, func(o *Outcome) float64 { return o.Energy }),
	}
	if one.PerYear > 0 && judged.Gain.Mean > 0 {
		worth := judged.Gain.Mean / (one.PerYear / thousand)
		judged.GainPerPrice = &worth
	}
	return judged, nil
}

const thousand = 1000

// byWorth puts what is worth more first. What gains something and costs nothing has more for
// its price than anything that costs.
func byWorth(a, b Ranked) int {
	return cmp.Or(cmp.Compare(b.worth(), a.worth()), cmp.Compare(b.Gain.Mean, a.Gain.Mean))
}

// worth is the gain for the price: without end where there is no price, and 0 without a gain.
func (r *Ranked) worth() float64 {
	switch {
	case r.GainPerPrice != nil:
		return *r.GainPerPrice
	case r.Gain.Mean > 0:
		return math.Inf(1)
	default:
		return 0
	}
}
