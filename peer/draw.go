package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/internal/exact"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Draw is the power in milliwatts of a job on CPUs of so many milliwatts each
// ([MC 4.5.1]).
func Draw(perCPU int64, spec *protocol.Spec) int64 {
	share := int64(protocol.PPM)
	if spec.Power > 0 {
		share = int64(spec.Power)
	}
	return exact.Product(perCPU, int64(spec.CPUs)).Times(share).Down(protocol.PPM)
}

// foreseenDraw is the power of a job here in milliwatts: as its user states it, else as
// earlier runs were measured.
func (p *Peer) foreseenDraw(spec *protocol.Spec) int64 {
	foreseen := *spec
	foreseen.Power = cmp.Or(spec.Power, spec.Draws)
	return Draw(p.cfg.Power, &foreseen)
}

// drawing is what the runs which are known to run draw together.
type drawing struct {
	power int64 // milliwatts
	cpus  int
}

// noteDraw counts a run while it runs.
func (p *Peer) noteDraw(r *run) {
	runs := r.Phase == row.RunRunning && p.runs[r.Tag] == r
	if p.cfg.Power == 0 || runs == r.draws {
		return
	}
	r.draws = runs
	if !runs {
		p.drawing.power -= r.power
		p.drawing.cpus -= r.request.CPUs
		return
	}
	if spec := p.specOf(r.Tag); spec != nil {
		r.power = p.foreseenDraw(spec)
	}
	p.drawing.power += r.power
	p.drawing.cpus += r.request.CPUs
}

// specOf is what a placement here is to run; nil: no row says it.
func (p *Peer) specOf(tag protocol.Tag) *protocol.Spec {
	if j := p.jobs[tag.Job]; j != nil {
		return &j.Spec
	}
	if g := p.guests[tag.Job]; g != nil {
		return &g.Spec
	}
	return nil
}

// drawn is the power of all that runs here in milliwatts: as a power budget counts it, else what
// is foreseen of each job, and of CPUs that others keep busy what the site states.
func (p *Peer) drawn(load *protocol.Load) int64 {
	if load.Draw > 0 || load.Budget > 0 || p.cfg.Power == 0 {
		return load.Draw
	}
	others := exact.Product(int64(max(0, load.Busy-p.drawing.cpus)), p.cfg.Power)
	return others.Plus(exact.Whole(p.drawing.power)).Down()
}

// drew is the power that a job on so many CPUs was measured to draw here, in parts per million of what the
// site states; 0: not known.
func (p *Peer) drew(cpus int, o *protocol.Outcome) int {
	if p.cfg.Power <= 0 || cpus < 1 || o.Ran <= 0 || o.Usage.Energy <= 0 {
		return 0
	}
	const milliwatts = 1000 // a millijoule in a millisecond is a watt
	share := exact.Product(o.Usage.Energy, milliwatts*protocol.PPM).Nearest(int64(o.Ran), int64(cpus), p.cfg.Power)
	return int(min(max(1, share), protocol.MaxPower))
}
