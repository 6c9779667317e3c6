package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
)

// Phases change by the tables of package row alone, and what a step has changed is checked at
// its end, here and in production. A move that is in no table, or a row that cannot be, is a
// fault of this program: nothing of the step is made durable, sent or shown, and the peer is not
// stepped again. What is durable is as it was before, from which a new peer may go on.

// fault is how a broken rule leaves a step.
type fault struct{ err error }

// must ends the step with a broken rule.
func must(err error) {
	if err != nil {
		panic(fault{err})
	}
}

// caught has a step that breaks a rule end with nothing but that.
func (p *Peer) caught(broken any, ready *event.Ready) {
	if broken == nil {
		return
	}
	f, ours := broken.(fault)
	if !ours {
		panic(broken)
	}
	p.fault = fmt.Errorf("a fault of the peer itself, which stops here: %w", f.err)
	*ready = event.Ready{Fault: p.fault}
}

// moveJob has a job enter a phase. What is repeated in it is repeated from the beginning, but for
// the collection of its output, which goes on in the rhythm of its hand-off.
func (p *Peer) moveJob(j *job, to row.JobPhase) {
	must(j.Move(to))
	if to != row.JobHandedOff && to != row.JobStagingOut {
		j.tries = 0
	}
	if j.application != nil && j.Together() {
		p.follow(j.application, j.Component.Together)
	}
}

// moveGuest has a guest enter a phase.
func (p *Peer) moveGuest(g *guest, to row.GuestPhase) {
	must(g.Move(to))
	g.Since = p.now
}

// moveRun has a placement in the local queue enter a phase.
func (p *Peer) moveRun(r *localrun.Run, to row.RunPhase) { must(r.Enter(to)) }

// checkRow looks at a row that this step has changed, and at those that it must go with.
func (p *Peer) checkRow(d step.Row) error {
	switch d.Table {
	case row.JobTable:
		return p.checkJob(p.jobs[d.Job])
	case row.GuestTable:
		return p.checkGuest(p.guests[d.Job])
	case row.RunTable:
		return p.checkRun(p.runs[d.Tag()])
	case row.PayloadTable, row.DedupTable, row.SiteTable, row.GenerationTable, row.PartnerTable, row.ApplicationTable,
		row.ExecutionTable, row.ArchiveTable:
	}
	return nil
}

// checkJob looks at a job of this origin.
//
// Invariant: a job is in the grid queue or needs an operator, or it is placed; committed locally
// it has its run. TestRowsGoTogether checks it.
func (p *Peer) checkJob(j *job) error {
	if j == nil {
		return nil
	}
	if err := j.Check(); err != nil {
		return err
	}
	here := p.runs[j.Tag()] != nil
	switch {
	case j.Phase != row.JobInGridQueue && p.queue.Has(j.Spec.Job):
		return fmt.Errorf("job %v is in the grid queue and in phase %s", j.Tag(), j.Phase)
	case here != (j.Phase == row.JobCommittedLocal):
		return fmt.Errorf("job %v is in phase %s, and its run at this site: %t", j.Tag(), j.Phase, here)
	}
	return nil
}

// checkGuest looks at a job of another origin.
//
// Invariant: an accepted guest has its run, and no other one has. TestRowsGoTogether checks it.
func (p *Peer) checkGuest(g *guest) error {
	if g == nil {
		return nil
	}
	if here := p.runs[g.Tag()] != nil; here != (g.Phase == row.GuestAccepted) {
		return fmt.Errorf("guest %v is in phase %s, and its run at this site: %t", g.Tag(), g.Phase, here)
	}
	return g.Check()
}

// checkRun looks at a placement in the local queue.
//
// Invariant: a run is of the present epoch of a job or guest. TestRowsGoTogether checks it.
func (p *Peer) checkRun(r *localrun.Run) error {
	if r == nil {
		return nil
	}
	if j := p.jobs[r.Tag.Job]; j != nil && j.Tag() == r.Tag {
		return r.Check()
	}
	if g := p.guests[r.Tag.Job]; g != nil && g.Tag() == r.Tag {
		return r.Check()
	}
	return fmt.Errorf("run %v belongs to no job or guest of its epoch", r.Tag)
}
