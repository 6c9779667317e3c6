package pricing

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// JobPower is the power in milliwatts of a job on CPUs of perCPU milliwatts each
// ([MC 4.5.1]).
func JobPower(perCPU int64, spec *protocol.Spec) int64 {
	share := int64(protocol.PPM)
	if spec.Power > 0 {
		share = int64(spec.Power)
	}
	return int128.Product(perCPU, int64(spec.CPUs)).Times(share).Down(protocol.PPM)
}

// Draw is the power of a job here in milliwatts: as its user states it, else as
// earlier runs were measured.
func (d Desk) Draw(spec *protocol.Spec) int64 {
	here := *spec
	here.Power = cmp.Or(spec.Power, spec.MeasuredPower)
	return JobPower(d.Power, &here)
}

// Charged is what a placement here is taken to draw, in milliwatts: as its tariff charges it, with cooling
// where the site's does, else as it is expected to.
func (d Desk) Charged(t *protocol.Tariff, spec *protocol.Spec) int64 {
	if power := ChargedPower(t); power > 0 {
		return power
	}
	if spec == nil {
		return 0
	}
	return d.Draw(spec)
}

// Drawing is what the runs which are known to run draw together.
type Drawing struct {
	power int64 // milliwatts
	cpus  int
}

// Add counts a run on cpus CPUs that has started.
func (r *Drawing) Add(milliwatts int64, cpus int) {
	r.power += milliwatts
	r.cpus += cpus
}

// Remove counts a run no more that was added so.
func (r *Drawing) Remove(milliwatts int64, cpus int) { r.Add(-milliwatts, -cpus) }

// Idle says whether no CPU is known to be busy with such runs.
func (r *Drawing) Idle() bool { return r.cpus == 0 }

// DrawOfAll is the power of all that runs here in milliwatts: as a power budget counts it, else what
// is expected of each job, and of CPUs that others keep busy what the site states.
func (d Desk) DrawOfAll(running Drawing, load *protocol.Load) int64 {
	if load.Draw > 0 || load.Budget.Active || d.Power == 0 {
		return load.Draw
	}
	others := int128.Product(int64(max(0, load.Busy-running.cpus)), d.Power)
	return others.Plus(int128.Whole(running.power)).Down()
}

// Measured is the power that a job on cpus CPUs was measured to draw here, in parts per million of
// what the site states. Zero means that it is not known.
func (d Desk) Measured(cpus int, o *protocol.Outcome) int {
	if d.Power <= 0 || cpus < 1 || o.Ran <= 0 || o.Usage.Energy <= 0 {
		return 0
	}
	const milliwatts = 1000 // a millijoule in a millisecond is a watt
	share := int128.Product(o.Usage.Energy, milliwatts*protocol.PPM).Nearest(int64(o.Ran), int64(cpus), d.Power)
	return int(min(max(1, share), protocol.MaxPower))
}
