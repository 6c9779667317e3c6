package peer

import (
	"iter"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// prioritizeEvery is how often the priorities of the local queue are worked out again, as Slurm's PriorityCalcPeriod.
const prioritizeEvery = 5 * protocol.Minute

// prioritize gives the jobs in the local queue the priorities that they have by now.
func (p *Peer) prioritize() {
	fair := &p.rows.Fair
	if !fair.Prioritizes() {
		return
	}
	tags := p.rows.RunTags()
	if p.useCounted == 0 || p.now.Sub(p.useCounted) >= prioritizeEvery {
		fair.RefreshLocal(p.now, p.charged(tags))
		p.useCounted = p.now
	}
	p.prioritizedAt = p.now
	p.timers.Set(due.Once(due.PriorityTimer), p.useCounted.Add(prioritizeEvery))
	p.setPriorities(tags)
}

// changePause is how long priorities stay as they are, and partners hear no more of changes, after others of them.
const changePause = 10 * protocol.Second

// useChanged has what users' jobs that started or ended have changed count soon, here and at partners, if use is exchanged. Otherwise
// all sites would start jobs of the same users.
func (p *Peer) useChanged() {
	if !p.cfg.FairShare.Exchanges() {
		return
	}
	if p.rows.Fair.Prioritizes() && p.useCounted != 0 {
		p.timers.Set(due.Once(due.PriorityTimer), min(max(p.now, p.prioritizedAt.Add(changePause)), p.useCounted.Add(prioritizeEvery)))
	}
	if p.rows.Fair.HasChanges() {
		p.timers.Set(due.Once(due.UseChangeTimer), max(p.now, p.changesReported.Add(changePause)))
	}
}

// charged are the jobs that run and count in the local queue: the placements here, and if use is exchanged those of this site at
// partners, whose reports leave them out.
func (p *Peer) charged(tags []protocol.Tag) iter.Seq[fairness.Local] {
	return func(yield func(fairness.Local) bool) {
		for run := range p.running(tags) {
			if !yield(run) {
				return
			}
		}
		if !p.cfg.FairShare.Exchanges() {
			return
		}
		for _, j := range p.rows.Jobs {
			if j.AtPartner() && j.State == protocol.Running && j.Started != 0 && !yield(p.elsewhere(j)) {
				return
			}
		}
	}
}

// elsewhere is a job of this site that runs at a partner, which cannot charge the user for more than the time limit.
func (p *Peer) elsewhere(j *tables.Job) fairness.Local {
	return fairness.Local{Origin: p.cfg.Site, Account: j.Spec.Account, Spec: &j.Spec, Since: max(j.Started, p.now.Add(-j.Spec.WallTime))}
}

// running are those of placements that have started.
func (p *Peer) running(tags []protocol.Tag) iter.Seq[fairness.Local] {
	return func(yield func(fairness.Local) bool) {
		for _, tag := range tags {
			if r := p.rows.Runs[tag]; r.HasStarted() && !yield(p.localOf(r, r.Started)) {
				return
			}
		}
	}
}

// setPriorities states the priorities of placements that wait in the local queue to the local scheduler, where they are other ones by
// now.
func (p *Peer) setPriorities(tags []protocol.Tag) {
	var changed []localsched.Priority
	for _, tag := range tags {
		r := p.rows.Runs[tag]
		if r.Phase != row.RunQueued && r.Phase != row.RunSubmitting {
			continue
		}
		if priority := p.localPriority(r); priority != r.Request.Priority {
			r.Request.Priority = priority
			changed = append(changed, localsched.Priority{Tag: tag, Priority: priority})
		}
	}
	if len(changed) > 0 {
		p.call(event.PrioritizeOp{Priorities: changed}, prioritized{})
	}
}

// localPriority is that of a placement in the local queue.
func (p *Peer) localPriority(r *localrun.Run) int64 {
	since := r.Since
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		since = j.Spec.Submitted
	}
	return p.rows.Fair.LocalPriority(p.localOf(r, since), p.now)
}

func (p *Peer) localOf(r *localrun.Run, since protocol.Instant) fairness.Local {
	if j := p.rows.Jobs[r.Tag.Job]; j != nil {
		return fairness.Local{Origin: p.cfg.Site, Account: j.Spec.Account, Spec: &j.Spec, Since: since, Fixed: j.Wants().Priority}
	}
	g := p.rows.Guests[r.Tag.Job]
	return fairness.Local{Origin: g.Origin, Account: r.Association.Account, Spec: &g.Spec, Since: since}
}

// prioritized gives jobs in the local queue other priorities. After an error the next call states all of them again.
type prioritized struct{}

func (prioritized) answered(p *Peer, _ event.Result, err error) {
	if err == nil {
		return
	}
	p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Site: p.cfg.Site, Text: clip("priorities: " + err.Error())})
	for _, r := range p.rows.Runs {
		r.Request.Priority = 0
	}
}
