package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// takeApplication enters the application of jobs that are about to be submitted.
func (p *Peer) takeApplication(ev event.Submit) *tables.Application {
	if ev.Application == nil {
		return nil
	}
	a := &tables.Application{Application: row.Application{
		Application: *ev.Application, ID: protocol.NewJobID(p.cfg.Number, p.site.NextSeq),
		Count: len(ev.Jobs), User: ev.User, Submitted: p.now,
	}}
	p.rows.Applications[a.ID] = a
	p.rows.SaveApplication(a.ID)
	p.watchLimit(a)
	return a
}

// leaveApplication takes an ended component off its application. With its last one that is over.
func (p *Peer) leaveApplication(j *tables.Job) {
	a := j.App
	if a == nil {
		return
	}
	j.App = nil
	p.rows.SaveApplication(a.ID)
	if j.Together() {
		must(p.rows.Follow(a, j.Component.Together))
	}
	if len(a.Jobs) == 0 {
		delete(p.rows.Applications, a.ID)
		p.timers.Stop(timer{kind: limitTimer, job: a.ID})
		return
	}
	if p.ledger().UnreachableReason(a) != "" {
		p.after(0, timer{kind: limitTimer, job: a.ID})
	}
}
