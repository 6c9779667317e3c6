package policy

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// A policy says what it can beside deciding by the methods that it has, and needs none of them:
// [Describe] looks for these interfaces and for [Fronter].

// Shortcutter is a policy under which a job with an AWT below φ stays at home without a round.
// Others are asked about every job, and under any initiation decide about the own site as about
// the others.
type Shortcutter interface{ TakesShortcut() }

// Keeper is a policy that sends no job away: the peer keeps them without asking for quotes.
type Keeper interface{ KeepsAll() }

// Broker is a policy that decides about applications [IS]: it sees what their users want, every CPU
// count of a job, and the parts of prices. Others see the first count only, and sites refuse
// jobs with wishes that nobody would look at.
type Broker interface{ DecidesApplications() }

// Reckoner is a policy that says how sites shall work out the energy terms of their quotes. For others
// they do it by hourly prices.
type Reckoner interface{ Reckon() protocol.EnergyPricing }

// Grower is a policy that wants to know how waits grow: of so many jobs of a round [Site.Extra] shall
// tell; 0: of none.
type Grower interface{ Extra() int }

// Capability is something that a policy can beside deciding.
type Capability string

// The capabilities.
const (
	Applications Capability = "applications" // a [Broker]
	Fronts       Capability = "front"        // a [Fronter]
	Keeps        Capability = "keep"         // a [Keeper]
	Shortcut     Capability = "shortcut"     // a [Shortcutter]
)

// Capabilities lists all capabilities, sorted.
func Capabilities() []Capability { return []Capability{Applications, Fronts, Keeps, Shortcut} }

// Description is all that a policy says of itself, in a form that travels: in recordings, for one.
type Description struct {
	Name        string
	Initiations []Initiation
	Params      []Param
	Can         []Capability           // sorted
	Reckon      protocol.EnergyPricing // of a [Reckoner]
	Extra       int                    // of a [Grower]
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
	if r, ok := p.(Reckoner); ok {
		d.Reckon = r.Reckon()
	}
	if g, ok := p.(Grower); ok {
		d.Extra = g.Extra()
	}
	return d
}

func has(p Policy, c Capability) (ok bool) {
	switch c {
	case Applications:
		_, ok = p.(Broker)
	case Fronts:
		_, ok = p.(Fronter)
	case Keeps:
		_, ok = p.(Keeper)
	case Shortcut:
		_, ok = p.(Shortcutter)
	}
	return ok
}

// DecidesApplications says whether it is a [Broker].
func (d *Description) DecidesApplications() bool { return slices.Contains(d.Can, Applications) }

// LaysOutFronts says whether it is a [Fronter].
func (d *Description) LaysOutFronts() bool { return slices.Contains(d.Can, Fronts) }

// KeepsAll says whether it is a [Keeper].
func (d *Description) KeepsAll() bool { return slices.Contains(d.Can, Keeps) }

// TakesShortcut says whether it is a [Shortcutter].
func (d *Description) TakesShortcut() bool { return slices.Contains(d.Can, Shortcut) }
