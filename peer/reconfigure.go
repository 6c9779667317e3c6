package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// handleReconfigure takes other rules for rounds. What a policy has been asked it still
// decides; everything else goes on by the new rules, and jobs that wait get a
// round by them.
func (p *Peer) handleReconfigure(ev event.Reconfigure) {
	cfg := p.cfg.WithRuntime(ev.Runtime).WithDefaults()
	if err := cfg.Validate(); err != nil {
		p.answer(ev.Asked, view.Refusal{Code: view.BadRequest, Reason: err.Error()})
		return
	}
	if cfg.Policy.DecidesApplications() != p.cfg.Policy.DecidesApplications() {
		p.beginAgain()
	}
	if cfg.Policy.Name != p.cfg.Policy.Name {
		p.outcomes = rounds.Outcomes{}
	}
	p.cfg, p.hint = cfg, nil
	p.intake.Change(cfg.Intake(), p.now)
	p.reconfigured++
	p.timers.Stop(due.Once(due.LoadCheckTimer))
	p.beginLoadChecks(0)
	p.beginTrials()
	p.forgetCycle()
	p.queue.UnparkAll(gridqueue.Any)
	p.queue.ResumeAll()
	p.queue.Unblock(gridqueue.Any)
	p.logEvent(event.LogEvent{Kind: event.LogReconfigured, Site: p.cfg.Site, Text: "policy " + cfg.Policy.Name + ", initiation " + string(cfg.Initiation)})
	p.answer(ev.Asked, view.Done{})
}

// beginAgain gives the jobs of the open round another one, unless the policy has been asked
// already: one that decides about applications wants other rows than one that does not.
func (p *Peer) beginAgain() {
	if p.open != nil && !p.open.Decided {
		p.queueAgain(p.open)
	}
}

// queueAgain takes the jobs out of a round, and has those that still wait placed by another one.
func (p *Peer) queueAgain(r *round) {
	p.closeRound(r)
	for _, spec := range r.Specs {
		if j := p.rows.Jobs[spec.Job]; p.mayPlaceByRound(j) {
			p.queue.Put(spec.Job)
		}
	}
}
