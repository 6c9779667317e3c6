package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
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
func (p *Peer) moveJob(j *tables.Job, to row.JobPhase) {
	must(j.Move(to))
	p.countPlaced(j)
	if to != row.JobHandedOff && to != row.JobStagingOut {
		j.Tries = 0
	}
	if j.App != nil && j.Together() {
		must(p.rows.Follow(j.App, j.Component.Together))
	}
}

// moveGuest has a guest enter a phase.
func (p *Peer) moveGuest(g *tables.Guest, to row.GuestPhase) {
	must(g.Move(to))
	g.Since = p.now
}

// moveRun has a placement in the local queue enter a phase.
func (p *Peer) moveRun(r *localrun.Run, to row.RunPhase) { must(r.Enter(to)) }

// flush gives the rows out that this step has changed, if they go together.
func (p *Peer) flush() {
	records, err := p.rows.Records(p.out.Records)
	must(err)
	p.out.Records = records
	p.raiseGeneration()
}
