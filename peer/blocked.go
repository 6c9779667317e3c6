package peer

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that neither this site nor any partner that may be asked now could ever run waits for a
// site to come back. However often its round were repeated, the outcome would be the same; so it
// has one round, which says why it waits, and then is blocked in the grid queue. It costs
// nothing there until a site can be asked that could run it, whatever made that possible: the
// end of an outage, another card, another configuration. Many jobs may wait so for long.
//
// What a refusal says for a while only (job.Excluded) does not block a job, nor does what the
// local scheduler says: these are looked at again by the clock.

// awaitsSite says whether no site that may be asked now could run the job in any of its shapes.
func (p *Peer) awaitsSite(j *tables.Job) bool {
	if p.cfg.Policy.LocalOnly() || p.couldRunHere(j) {
		return false
	}
	return !slices.ContainsFunc(p.partners.All(), func(one *partner.Partner) bool { return one.Usable() && p.couldRunAt(j, one) })
}

func (p *Peer) couldRunHere(j *tables.Job) bool {
	here := p.localSite()
	return j.AnyShape(p.rowsFor(j), func(spec *protocol.Spec) bool { return here.Judge(spec, j.Together()) == eligible.Eligible })
}

// couldRunAt goes by the partner's card, which must be known.
func (p *Peer) couldRunAt(j *tables.Job, one *partner.Partner) bool {
	return j.AnyShape(p.rowsFor(j), func(spec *protocol.Spec) bool { return one.Eligible(spec, j.Together()) })
}

// takeOpen hands out up to n jobs for a round. A job that has had one and waits for a site gets
// no other while nothing has changed, not even after a restart.
func (p *Peer) takeOpen(n int) []protocol.JobID {
	desk := p.admissionOnce()
	for {
		ids := slices.DeleteFunc(p.placeable(p.queue.Take(n)), func(id protocol.JobID) bool { return p.blockAgain(id, desk) })
		if n == 0 || len(ids) > 0 || !p.queue.Ready() {
			return ids
		}
	}
}

// blockAgain blocks a job without a round if an earlier one has said why it waits.
func (p *Peer) blockAgain(id protocol.JobID, desk func() *admission.Desk) bool {
	j := p.rows.Jobs[id]
	if j.Reason != view.ReasonNoEligibleSite && j.Reason != view.ReasonAllDeclined || !p.awaitsSite(j) {
		return false
	}
	if j.NoEligibleSite = desk().Unknown(&j.Job); j.Reason == view.ReasonNoEligibleSite && !j.NoEligibleSite {
		return false // by now all sites are known, and the round will say so
	}
	p.queue.Block(id)
	return true
}

// unblock lets jobs have rounds again when a partner can be asked that could not be in the last
// step, or its card is known now.
func (p *Peer) unblock() {
	desk := p.admissionOnce()
	for _, one := range p.partners.All() {
		if !one.Notice() {
			continue
		}
		p.queue.Unblock(func(id protocol.JobID) bool {
			j := p.rows.Jobs[id]
			return one.Usable() && p.couldRunAt(j, one) || j.NoEligibleSite && !desk().Unknown(&j.Job)
		})
	}
}
