package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/hosting"
	"github.com/switchyard-hpc/switchyard/peer/intake"
	"github.com/switchyard-hpc/switchyard/peer/lineup"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A cycle [MC 2] is a round of all jobs in the grid queue. The first one comes a
// period after a job has come into the empty queue, and then one every period while
// jobs are there; so the cycles of different sites are not in phase. One that is due
// while the one before is still open begins when that closes. Of more jobs than one
// message holds, the oldest are in the cycle and the others in the next one, a period
// later. A site takes at most MaxQ jobs in a period, whoever sends them: first come,
// first served, so that one partner can have them all.

// awaitCycle sets the time of the next cycle, if there is something to place.
func (p *Peer) awaitCycle() {
	switch {
	case p.cfg.Initiation != policy.Cycle:
	case p.queue.Waiting() == 0:
		p.forgetCycle()
	case !p.cycleTimed:
		p.cycleTimed = true
		p.after(p.cfg.CycleInterval, due.Once(due.CycleTimer))
	}
}

// beginCycle is the time of a cycle, and sets that of the next one.
func (p *Peer) beginCycle(at protocol.Instant) {
	p.cycleDue = true
	p.every(p.cfg.CycleInterval, at, due.Once(due.CycleTimer))
}

// forgetCycle drops what was planned by other rules, or for jobs that have gone.
func (p *Peer) forgetCycle() {
	if !p.cycleTimed {
		return
	}
	p.timers.Stop(due.Once(due.CycleTimer))
	p.cycleTimed, p.cycleDue = false, false
}

// lineup is the grid queue before a round.
func (p *Peer) lineup() lineup.Lineup {
	return lineup.Lineup{
		Rows: &p.rows, Queue: p.queue, Partners: p.partners, Here: hosting.Here(&p.cfg), Policy: &p.cfg.Policy, Admits: p.admissionOnce(), Now: p.now,
	}
}

// takeJobs are the rows of the next round.
func (p *Peer) takeJobs() []protocol.Spec {
	line := p.lineup()
	ids, kept := line.Take(p.roundJobs())
	p.keepOut(kept)
	specs, kept := line.Fill(ids)
	p.keepOut(kept)
	return specs
}

// keepOut carries out what becomes of jobs that must not have a round.
func (p *Peer) keepOut(kept []lineup.Kept) {
	for _, one := range kept {
		j := one.Job
		switch {
		case one.Ends != "":
			p.finish(j, protocol.Cancelled, one.Ends)
		case one.Limited:
			p.holdByLimit(j, one.Reason, one.Detail)
		case one.Reason == view.ReasonGroup:
			p.requeueLater(j, one.Reason, one.Detail)
		default:
			if j.Reason != one.Reason {
				p.logEvent(event.LogEvent{Kind: event.LogJobDeferred, Job: j.Spec.Job, Text: view.Detailed(one.Reason, one.Detail)})
			}
			p.requeueAfter(j, p.dice.Jitter(p.cfg.CheckInterval), one.Reason, one.Detail)
		}
	}
}

// roundJobs is how many jobs the next round may have; 0: it is not its time yet.
func (p *Peer) roundJobs() int {
	if p.cfg.Initiation != policy.Cycle {
		return p.cfg.RoundJobs
	}
	if !p.cycleDue {
		return 0
	}
	p.cycleDue = false
	return quoting.MaxRows
}

// staysLocalReason is why a job is committed at once of which [Peer.staysLocal] says so.
const staysLocalReason = "its user lets it run here only"

// staysLocal says whether there is nothing to decide about a job, so that it need not
// wait for a cycle: its user lets it run here only, in one shape, and wants no more.
func (p *Peer) staysLocal(j *tables.Job) bool {
	sites := j.Spec.Sites
	return p.cfg.Initiation == policy.Cycle && len(sites) == 1 && sites[0] == p.cfg.Site &&
		j.App == nil && lineup.Rows(&p.cfg.Policy, j) == 1
}

// countIntake counts a job that has come into the local queue by the choice of a policy, and returns the
// intake in which it counts.
func (p *Peer) countIntake() intake.Number {
	number := p.intake.Take(p.now)
	p.saveIntake()
	return number
}

// saveIntake keeps the intake over a restart.
func (p *Peer) saveIntake() {
	if p.cfg.MaxJobsPerCycle > 0 {
		p.site.Intake = p.intake.Row()
		p.rows.SaveSite()
	}
}
