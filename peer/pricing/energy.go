package pricing

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// EnergyTerm is the name of the term that electricity adds to quotes.
const EnergyTerm = "energy"

// NamesEnergy says whether the terms tell what the electricity costs.
func NamesEnergy(terms []protocol.Term) bool {
	return slices.ContainsFunc(terms, func(t protocol.Term) bool { return t.Name == EnergyTerm })
}

// electric says whether a term is for electricity.
func electric(term string) bool { return term == EnergyTerm || term == cost.EcoTerm }

// energyCost is what the terms say of electricity, and whether they do.
func energyCost(terms []protocol.Term) (sum protocol.Micro, named bool) {
	for _, term := range terms {
		if electric(term.Name) {
			sum, named = sum.Plus(term.Amount), true
		}
	}
	return sum, named
}

// energyPart is what the terms say of electricity; nil: nothing.
func energyPart(terms []protocol.Term) *protocol.Micro {
	sum, named := energyCost(terms)
	if !named {
		return nil
	}
	return &sum
}

// ChargedPower is the power that a tariff charges electricity for, with cooling where it charges that;
// 0: it charges none.
func ChargedPower(t *protocol.Tariff) (milliwatts int64) {
	if t == nil {
		return 0
	}
	for i := range t.Charges {
		if c := &t.Charges[i]; electric(c.Name) && c.Per == protocol.Megawatt {
			milliwatts = max(milliwatts, c.Units) // one charge is for the electricity, another for its CO2
		}
	}
	return milliwatts
}

// Energy is that of a power over a time, in millijoules.
func Energy(milliwatts int64, d protocol.Duration) int64 {
	return int128.Product(milliwatts, int64(max(0, d))).Nearest(int64(protocol.Second))
}

// AddEnergy adds up millijoules, to the most that there is.
func AddEnergy(a, b int64) int64 { return int128.Whole(a).Plus(int128.Whole(b)).Down() }

// EnergyOfJob shows the energy of a job of this site, with its power in milliwatts, where it is
// placed. It is nil if nothing is known.
func EnergyOfJob(j *row.Job, power int64, bill *view.Bill, now protocol.Instant) *view.JobEnergy {
	switch {
	case j.Outcome != nil:
		return JobEnergy(power, j.Quoted, bill, j.Outcome.Ran, j.Outcome.Usage.Energy)
	case j.State == protocol.Running && j.Started != 0:
		return JobEnergy(power, j.Quoted, bill, now.Sub(j.Started), 0)
	}
	return JobEnergy(power, j.Quoted, bill, 0, 0)
}

// EnergyOfRun shows the energy of a partner's job, with its power in milliwatts. It is nil if the
// job has not started.
func EnergyOfRun(r *row.Run, power int64, bill *view.Bill, now protocol.Instant) *view.JobEnergy {
	switch {
	case r.Outcome != nil:
		return JobEnergy(power, nil, bill, r.Outcome.Ran, r.Outcome.Usage.Energy)
	case r.Started != 0:
		return JobEnergy(power, nil, bill, now.Sub(r.Started), 0)
	}
	return nil
}

// JobEnergy shows the energy of a job by its power in milliwatts, its quote, its bill, and the
// millijoules measured. It is nil if nothing is known.
func JobEnergy(power int64, quoted *view.QuotedPrice, bill *view.Bill, ran protocol.Duration, measured int64) *view.JobEnergy {
	v := view.JobEnergy{Power: power, Used: Energy(power, ran), Measured: measured}
	if quoted != nil {
		v.Quoted, v.QuotedCost = Energy(power, quoted.Run), quoted.Energy
	}
	if bill != nil {
		v.Cost = billedEnergy(bill)
	}
	if v == (view.JobEnergy{}) {
		return nil
	}
	return &v
}

// billedEnergy is what a bill says of electricity; nil: nothing.
func billedEnergy(v *view.Bill) *protocol.Micro {
	terms := make([]protocol.Term, len(v.Terms))
	for i, one := range v.Terms {
		terms[i] = protocol.Term(one)
	}
	return energyPart(terms)
}
