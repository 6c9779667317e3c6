package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rounds are opened by what [policy.Initiation] says [SS 2.1.1 to 2.1.3]. A job
// whose own AWT is below φ never gets as far, unless the policy has no use for
// φ: then it alone says which jobs stay. The paper leaves open how long an
// availability message lives, what becomes of a job whose volunteers all lose, and
// which waiting jobs look at their own AWT again; DESIGN 5 says what is done here,
// and [rules.Config.RecheckJobs], [rules.Config.JobsPerVolunteer] and [rules.Config.StayLocal] offer the other readings.

// setReach says for each job of a placing round whom to ask, and takes those out
// that wait for volunteers.
func (p *Peer) setReach(r *round) {
	asking, reach := p.asking(r), make([]rounds.Reach, 0, len(r.Specs))
	r.Keep(func(i int) bool {
		whom := asking.Reach(i, p.cfg.Initiation, p.cfg.Policy.SkipsRoundBelowThreshold())
		if p.rows.Jobs[r.Specs[i].Job].Moving != "" {
			whom = rounds.AllPartners
		}
		if whom == rounds.NoPartner {
			p.waitForVolunteer(p.rows.Jobs[r.Specs[i].Job])
			return false
		}
		reach = append(reach, whom)
		return true
	})
	r.Reach = reach
}

// asking judges whom a round asks.
func (p *Peer) asking(r *round) *rounds.Asking {
	return &rounds.Asking{
		Round: &r.Round, Partners: p.partners.All(), Question: r.asked != 0, Now: p.now,
		Job:       func(i int) rounds.Job { return r.job(p, i).ForRound() },
		HomeTakes: func(i int) bool { return p.host().DeclineOwn(r.job(p, i), &r.Specs[i]) == "" },
	}
}

// choosePartners picks whom a round asks, of those that could take one of its jobs, by name.
func (p *Peer) choosePartners(asking *rounds.Asking) []*partner.Partner {
	if p.cfg.Policy.LocalOnly() {
		return nil
	}
	var candidates []*partner.Partner
	for _, one := range p.partners.All() {
		if one.Usable() && asking.Wanted(one) {
			candidates = append(candidates, one)
		}
	}
	return partner.Choose(candidates, p.cfg.PartnersPerRound, p.dice.Rand().Shuffle)
}

// waitForVolunteer lets a job wait in the grid queue until its own AWT is looked at again or
// a partner volunteers.
func (p *Peer) waitForVolunteer(j *tables.Job) {
	p.explain(j, view.ReasonVolunteer, "")
	p.queue.Park(j.Spec.Job)
}

// rejectVolunteers notes that no volunteer of the round was better than the own site. If none was asked
// about the job, the next round would be as this one, and has to wait.
func (p *Peer) rejectVolunteers(r *round, i int, j *tables.Job) {
	rejected := false
	for _, a := range r.Asks {
		if a.Asked(i) {
			j.Excluded.Reject(a.Partner.Site, a.Volunteer)
			rejected = true
		}
	}
	switch {
	case p.cfg.Initiation == policy.Receiver:
		p.waitForVolunteer(j)
	case p.cfg.Initiation == policy.Symmetric && p.cfg.StayLocal:
		if p.withinLimits(j) {
			j.NoteWaits(&r.Home[i], p.now)
			p.commitLocal(j, &r.Home[i].AWT)
		}
	case !rejected:
		p.requeueUnplaced(r, j, view.ReasonVolunteer, "")
	default:
		p.queue.Put(j.Spec.Job) // its next round asks all partners
	}
}

// endVolunteering ends a partner's volunteering when it has become busy.
func (p *Peer) endVolunteering(one *partner.Partner) {
	if one.Load.RUS() >= p.cfg.VolunteerBelow {
		one.Volunteer.Until = 0
	}
}

// handleVolunteer takes a partner's availability message in: the jobs that wait for
// one get a round, or with [rules.Config.JobsPerVolunteer] the first of them.
func (p *Peer) handleVolunteer(one *partner.Partner, m protocol.Volunteer) {
	one.HearLoad(m.Load, p.now)
	if p.cfg.Initiation == policy.Sender || p.cfg.Initiation == policy.Cycle || m.Valid <= 0 {
		return
	}
	until := p.now.Add(min(m.Valid, p.cfg.CheckInterval))
	if one.Volunteer.Renew(p.now, until, p.cfg.CheckInterval) {
		return
	}
	left := p.cfg.JobsPerVolunteer
	p.lastCalled++
	one.Volunteer = partner.Volunteering{Number: p.lastCalled, Heard: p.now, Until: until, Left: left, AnyNumber: left == 0}
	p.logEvent(event.LogEvent{Kind: event.LogPartnerVolunteered, Site: one.Site})
	if one.Usable() {
		p.unpark(left, func(id protocol.JobID) bool { return p.rows.Jobs[id].ForRound().MayAsk(one, p.now) })
	}
}

// beginLoadChecks starts the checks every σ. Without a first one its phase is drawn from the seed.
func (p *Peer) beginLoadChecks(first protocol.Duration) {
	if p.cfg.Initiation == policy.Sender || p.cfg.Initiation == policy.Cycle {
		return
	}
	drawn := 1 + protocol.Duration(p.dice.Rand().Int64N(int64(p.cfg.CheckInterval))) // in any case: what is drawn later does not depend on first
	p.after(cmp.Or(first, drawn), due.Once(due.LoadCheckTimer))
}

// loadCheckDue has the local AWT of waiting jobs checked again, and the local utilization:
// below δ the site volunteers [SS 2.1.2].
func (p *Peer) loadCheckDue(at protocol.Instant) {
	p.every(p.cfg.CheckInterval, at, due.Once(due.LoadCheckTimer))
	p.unpark(p.cfg.RecheckJobs, gridqueue.Any)
	p.call(event.QuoteOp{}, checkLoad{})
}

// unpark makes as many parked jobs that are wanted ready as a setting says. Zero, its default, means all.
func (p *Peer) unpark(setting int, wanted func(protocol.JobID) bool) {
	if setting == 0 {
		p.queue.UnparkAll(wanted)
		return
	}
	p.queue.Unpark(setting, wanted)
}

// checkLoad asks for the local utilization, every σ.
type checkLoad struct{}

func (checkLoad) answered(p *Peer, result event.Result, err error) {
	quoted, err := step.ResultAs[event.QuoteResult](result, err)
	if err != nil {
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Site: p.cfg.Site, Text: clip("load: " + err.Error())})
		return
	}
	p.setLoad(quoted.Load)
	if p.load.RUS() < p.cfg.VolunteerBelow && p.site.StopReason() == "" && !p.site.Drain.StopsGuests() {
		p.volunteer()
	}
}

// volunteer tells the partner set that this site would take jobs.
func (p *Peer) volunteer() {
	for _, one := range p.partners.All() {
		if one.Available() && !one.Row.Drain.StopsReceiving() && one.JobsHere < one.MaxJobs {
			p.send(one.Site, protocol.Volunteer{Load: p.load, Valid: p.cfg.CheckInterval})
		}
	}
	p.logEvent(event.LogEvent{Kind: event.LogVolunteered, Site: p.cfg.Site})
}
