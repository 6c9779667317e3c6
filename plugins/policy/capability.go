package policy

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Optional features of a policy are methods: [Describe] looks for the interfaces below and for
// [ParetoPolicy].

// ThresholdPolicy is a policy under which a job whose local wait is below the local wait
// threshold (φ in [SS]) is committed locally without a round. Without it the policy decides
// about every job, under every initiation.
type ThresholdPolicy interface{ SkipsRoundBelowThreshold() }

// LocalPolicy is a policy that never sends a job to another site: the peer requests no quotes.
type LocalPolicy interface{ LocalOnly() }

// ApplicationPolicy is a policy that decides about applications [IS]: its snapshot has their
// objectives and limits, every shape of a job, and the terms of costs. The snapshot of any other
// policy has the first shape only, and its peer refuses jobs with objectives or limits.
type ApplicationPolicy interface{ DecidesApplications() }

// EnergyPricer is a policy that chooses how sites compute the energy terms of their quotes.
// Without it they use hourly prices.
type EnergyPricer interface{ EnergyPricing() protocol.EnergyPricing }

// MarginalWaitPolicy is a policy that needs marginal waits: sites quote [Site.MarginalWaits] for
// as many jobs of a round as MarginalJobs returns, at most [protocol.MaxMarginalJobs]; 0: none.
type MarginalWaitPolicy interface{ MarginalJobs() int }

// Capability names an optional feature of a policy.
type Capability string

// The capabilities.
const (
	Applications            Capability = "applications"               // a [ApplicationPolicy]
	ParetoFronts            Capability = "pareto_front"               // a [ParetoPolicy]
	LocalOnly               Capability = "local_only"                 // a [LocalPolicy]
	SkipRoundBelowThreshold Capability = "skip_round_below_threshold" // a [ThresholdPolicy]
)

// Capabilities lists all capabilities, sorted.
func Capabilities() []Capability {
	return []Capability{Applications, LocalOnly, ParetoFronts, SkipRoundBelowThreshold}
}

// Description is the full description of a policy, as plugins send it and recordings keep it.
type Description struct {
	Name          string
	Initiations   []Initiation
	Params        []Param
	Can           []Capability           // sorted
	EnergyPricing protocol.EnergyPricing // of a [EnergyPricer]
	MarginalJobs  int                    // of a [MarginalWaitPolicy]
}

// Info returns the part of the description that [Policy.Info] returns.
func (d *Description) Info() Info {
	return Info{Name: d.Name, Initiations: d.Initiations, Params: d.Params}
}

// Describer is a policy that wraps another one, in another process for example, and returns the
// description of that one.
type Describer interface{ Describe() Description }

// Describe returns the description of a policy.
func Describe(p Policy) Description {
	if stands, ok := p.(Describer); ok {
		return stands.Describe()
	}
	info := p.Info()
	d := Description{Name: info.Name, Initiations: info.Initiations, Params: info.Params}
	for _, one := range Capabilities() {
		if has(p, one) {
			d.Can = append(d.Can, one)
		}
	}
	if r, ok := p.(EnergyPricer); ok {
		d.EnergyPricing = r.EnergyPricing()
	}
	if g, ok := p.(MarginalWaitPolicy); ok {
		d.MarginalJobs = g.MarginalJobs()
	}
	return d
}

func has(p Policy, c Capability) (ok bool) {
	switch c {
	case Applications:
		_, ok = p.(ApplicationPolicy)
	case ParetoFronts:
		_, ok = p.(ParetoPolicy)
	case LocalOnly:
		_, ok = p.(LocalPolicy)
	case SkipRoundBelowThreshold:
		_, ok = p.(ThresholdPolicy)
	}
	return ok
}

// DecidesApplications reports whether the policy is a [ApplicationPolicy].
func (d *Description) DecidesApplications() bool { return slices.Contains(d.Can, Applications) }

// HasParetoFront reports whether the policy is a [ParetoPolicy].
func (d *Description) HasParetoFront() bool { return slices.Contains(d.Can, ParetoFronts) }

// LocalOnly reports whether the policy is a [LocalPolicy].
func (d *Description) LocalOnly() bool { return slices.Contains(d.Can, LocalOnly) }

// SkipsRoundBelowThreshold reports whether the policy is a [ThresholdPolicy].
func (d *Description) SkipsRoundBelowThreshold() bool {
	return slices.Contains(d.Can, SkipRoundBelowThreshold)
}
