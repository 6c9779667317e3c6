package policy

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// A policy says what it can beside deciding by the methods that it has, and needs none of them:
// [Describe] looks for these interfaces and for [ParetoPolicy].

// ThresholdPolicy is a policy under which a job with an AWT below φ stays at home without a round.
// Others are asked about every job, and under any initiation decide about the own site as about
// the others.
type ThresholdPolicy interface{ SkipsRoundBelowThreshold() }

// LocalPolicy is a policy that sends no job away: the peer keeps them without asking for quotes.
type LocalPolicy interface{ LocalOnly() }

// ApplicationPolicy is a policy that decides about applications [IS]: it sees what their users want, every CPU
// count of a job, and the parts of prices. Others see the first count only, and sites refuse
// jobs with wishes that nobody would look at.
type ApplicationPolicy interface{ DecidesApplications() }

// EnergyPricer is a policy that says how sites shall work out the energy terms of their quotes. For others
// they do it by hourly prices.
type EnergyPricer interface{ EnergyPricing() protocol.EnergyPricing }

// MarginalWaitPolicy is a policy that wants to know how waits grow: of so many jobs of a round [Site.MarginalJobs] shall
// tell; 0: of none.
type MarginalWaitPolicy interface{ MarginalJobs() int }

// Capability is something that a policy can beside deciding.
type Capability string

// The capabilities.
const (
	Applications  Capability = "applications" // a [ApplicationPolicy]
	LaysOutFronts Capability = "front"        // a [ParetoPolicy]
	Keeps         Capability = "keep"         // a [LocalPolicy]
	Shortcut      Capability = "shortcut"     // a [ThresholdPolicy]
)

// Capabilities lists all capabilities, sorted.
func Capabilities() []Capability { return []Capability{Applications, LaysOutFronts, Keeps, Shortcut} }

// Description is all that a policy says of itself, in a form that travels: in recordings, for one.
type Description struct {
	Name          string
	Initiations   []Initiation
	Params        []Param
	Can           []Capability           // sorted
	EnergyPricing protocol.EnergyPricing // of a [EnergyPricer]
	MarginalJobs  int                    // of a [MarginalWaitPolicy]
}

// Info is what the policy itself says without its other methods.
func (d *Description) Info() Info {
	return Info{Name: d.Name, Initiations: d.Initiations, Params: d.Params}
}

// Describer is a policy that stands for another one, in another process for example, and tells what
// that one says of itself.
type Describer interface{ Describe() Description }

// Describe asks a policy for all that it says of itself.
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
	case LaysOutFronts:
		_, ok = p.(ParetoPolicy)
	case Keeps:
		_, ok = p.(LocalPolicy)
	case Shortcut:
		_, ok = p.(ThresholdPolicy)
	}
	return ok
}

// DecidesApplications says whether it is a [ApplicationPolicy].
func (d *Description) DecidesApplications() bool { return slices.Contains(d.Can, Applications) }

// LaysOutFronts says whether it is a [ParetoPolicy].
func (d *Description) LaysOutFronts() bool { return slices.Contains(d.Can, LaysOutFronts) }

// LocalOnly says whether it is a [LocalPolicy].
func (d *Description) LocalOnly() bool { return slices.Contains(d.Can, Keeps) }

// SkipsRoundBelowThreshold says whether it is a [ThresholdPolicy].
func (d *Description) SkipsRoundBelowThreshold() bool { return slices.Contains(d.Can, Shortcut) }
