package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// recordConduct counts one job of this site at a partner, or at least quoted by it.
func (p *Peer) recordConduct(one *partner.Partner, what row.Conduct) {
	if !p.cfg.AskUnreliableLast || one == nil {
		return
	}
	changed, save := one.Judge(what, p.now, p.cfg.CheckInterval)
	if save {
		p.rows.SavePartner(one.Site)
	}
	if changed {
		p.logEvent(event.LogEvent{Kind: event.LogPartnerQuality, Site: one.Site, Text: one.QualityText()})
	}
}

// watchStart sets the time by which a job that was handed over has to have started.
func (p *Peer) watchStart(j *tables.Job) {
	if !p.cfg.AskUnreliableLast || j.ReserveFrom != 0 || j.QuotedAWT < 0 {
		return
	}
	p.after(partner.LateAfter(j.QuotedAWT), timer{kind: startTimer, job: j.Spec.Job, epoch: j.Epoch})
}

// startDue looks whether a job has started that should have. A partner that cannot be reached
// cannot say so, and one whose job is wanted back need not start it.
func (p *Peer) startDue(tag protocol.Tag) {
	j := p.rows.Jobs[tag.Job]
	if j == nil || j.Epoch != tag.Epoch || j.Phase != row.JobHandedOff || j.Started != 0 || j.Cancelling {
		return
	}
	if one := p.partners.Of(j.Site); one != nil && one.Reached() {
		p.recordConduct(one, row.Late)
	}
}

// recordStart counts a job whose start became known, unless it counted as late already.
func (p *Peer) recordStart(j *tables.Job) {
	t := timer{kind: startTimer, job: j.Spec.Job, epoch: j.Epoch}
	if p.timers.Has(t) {
		p.timers.Stop(t)
		p.recordConduct(p.partners.Of(j.Site), row.Kept)
	}
}

// recordEnd counts a job that failed as soon as it ran.
func (p *Peer) recordEnd(j *tables.Job, outcome *protocol.Outcome) {
	if one := p.partners.Of(j.Site); one != nil && one.FailedAtOnce(&j.Spec, outcome) {
		p.recordConduct(one, row.FailedAtOnce)
	}
}
