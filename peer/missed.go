package peer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A member of a group that has not started by its instant and a tolerance never does: its site
// takes it out of the local queue, and a batch system that would start it all the same, while the
// peer is down, withdraws it (localsched.Submission.StartBy). The origin hears of it as of any job
// that is given back, and ends the members that have started: none runs alone. Then the group is
// placed again, or ends.

// missedStart begins the reason of a member that has missed its start.
const missedStart = "it has missed the start of its group: "

// startView is what holds of the start of a job of this site; nil: it starts on its own.
func (j *job) startView() *view.Start {
	if j.application == nil || !j.together() {
		return nil
	}
	return &view.Start{Tolerance: j.application.Tolerance(), Missed: cmp.Or(j.application.StartMissed, protocol.RetryMissed)}
}

// startView is what holds of the start of a guest; nil: it starts on its own.
func (g *guest) startView() *view.Start {
	if g.Hold == 0 && g.Held == 0 {
		return nil
	}
	return &view.Start{Tolerance: cmp.Or(g.Tolerance, protocol.DefaultStartTolerance)}
}

// startBy is the last instant at which a placement here may start; 0: there is none.
func (p *Peer) startBy(tag protocol.Tag) protocol.Instant {
	if j := p.jobs[tag.Job]; j != nil {
		if j.Held == 0 || j.tag() != tag || j.application == nil {
			return 0
		}
		return j.Held.Add(j.application.Tolerance())
	}
	g := p.guests[tag.Job]
	if g == nil || g.Held == 0 || g.tag() != tag {
		return 0
	}
	return g.Held.Add(cmp.Or(g.Tolerance, protocol.DefaultStartTolerance))
}

// toleranceOfHold is what a partner is told that is to hold room; 0: it is not to.
func (j *job) toleranceOfHold() protocol.Duration {
	if j.Hold == 0 || j.application == nil {
		return 0
	}
	return j.application.Tolerance()
}

func startByTimerOf(tag protocol.Tag) timer {
	return timer{kind: startByTimer, job: tag.Job, epoch: tag.Epoch}
}

// watchStartBy sets the time from which on a placement must not start any more.
func (p *Peer) watchStartBy(tag protocol.Tag) {
	if by := p.startBy(tag); by != 0 {
		p.timers.set(startByTimerOf(tag), max(p.now, by.Add(1)))
	}
}

// startByDue takes a placement back that has not started in time.
func (p *Peer) startByDue(tag protocol.Tag) {
	r := p.runs[tag]
	if r == nil || (r.Phase != row.RunSubmitting && r.Phase != row.RunQueued) {
		return
	}
	if p.stopped() != "" {
		p.after(p.cfg.RetryMax, startByTimerOf(tag))
		return
	}
	p.missStart(r)
	p.takeBack(r, false)
}

// missStart says of a placement why it does not start any more.
func (p *Peer) missStart(r *run) {
	by := p.startBy(r.Tag)
	why := fmt.Sprintf("%sit has not started by %s at %s", missedStart, instantText(by), p.cfg.Site)
	if r.Reason == why {
		return
	}
	p.setRunReason(r, why)
	if p.guests[r.Tag.Job] != nil {
		p.report(r, protocol.Pending, why) // Recalled, which follows, has no words
	}
}

// neverBegan says whether the local scheduler has found only after it took a placement for running that
// it was too late for that to begin.
func (p *Peer) neverBegan(r *run, c localsched.Change) bool {
	by := p.startBy(r.Tag)
	return by != 0 && p.now > by && c.State == protocol.Cancelled && c.Started == 0
}

// missedAtLast gives back what never began.
func (p *Peer) missedAtLast(r *run) {
	p.moveRun(r, row.RunQueued)
	if j := p.jobs[r.Tag.Job]; j != nil {
		j.State, j.Started = protocol.Pending, 0
	}
	p.missStart(r)
	p.neverStarted(r)
	p.queueMoved()
}

// tooLate says whether a placement that is about to be submitted may not start any more. Then it
// is given back, once the local scheduler has said that it does not have it.
func (p *Peer) tooLate(r *run) bool {
	by := p.startBy(r.Tag)
	if by == 0 || p.now <= by {
		return false
	}
	p.missStart(r)
	r.Withdraw = true
	p.saveRun(r.Tag)
	p.after(0, runTimerOf(r.Tag))
	return true
}

// apart says why the group of a member has ended; empty: it has not.
func (j *job) apart() string {
	if j.application == nil || !j.together() {
		return ""
	}
	for _, one := range j.application.Apart {
		if one.Number == j.Component.Together {
			return one.Why
		}
	}
	return ""
}

// misses says whether a member that comes back has not started with its group, and others have,
// or might have. That its user or its group wants it back is no miss.
func (p *Peer) misses(j *job) bool {
	placed := j.Phase == row.JobGranted || j.Phase == row.JobHandedOff || j.Phase == row.JobRecalling || j.Phase == row.JobCommittedLocal
	if j.Held == 0 || !placed || j.Started != 0 || j.Cancelling || j.Restored || j.Parted || j.application == nil {
		return false
	}
	return strings.HasPrefix(j.Reason, missedStart) || p.now > j.Held.Add(j.application.Tolerance()) || j.ranWithout() ||
		slices.ContainsFunc(p.members(j), func(other *job) bool { return other.running() })
}

// running says whether a member is known to run.
func (j *job) running() bool {
	return j.Held != 0 && j.State == protocol.Running && j.Phase != row.JobStagingOut
}

// groupMissed says what becomes of a group of which a member has missed its start, and ends what
// has started of it.
func (p *Peer) groupMissed(j *job, why string) {
	p.fact(Fact{Kind: StartMissed, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(why)})
	if ended := p.endOfMissed(j); ended != "" {
		p.endGroup(j, fmt.Sprintf("job %v did not start with its group, %s: %s", j.Spec.Job, ended, why))
	}
	for _, other := range p.others(j) {
		p.part(other)
	}
}

// others are the members of a job's group that have not ended, without itself.
func (p *Peer) others(j *job) []*job {
	return slices.DeleteFunc(p.members(j), func(other *job) bool { return other == j })
}

// endOfMissed says why a group ends of which a member has missed its start; empty: it is placed
// again.
func (p *Peer) endOfMissed(j *job) string {
	others := p.others(j)
	once := slices.IndexFunc(others, func(other *job) bool { return other.running() && !other.Spec.Requeue })
	switch {
	case j.application.StartMissed == protocol.FailMissed:
		return "which its user wants to end then"
	case len(others) == 0:
		return "which has ended without it"
	case j.ranWithout():
		return "of which a component has run to its end without it"
	case once >= 0:
		return fmt.Sprintf("and job %v, which did, may not start twice; submitted with --requeue the group would be placed again", others[once].Spec.Job)
	}
	return ""
}

// endsUnheard says whether a member whose site is silent would end, were it taken back. It may still
// start there: so it is waited for.
func (p *Peer) endsUnheard(j *job) bool {
	return j.apart() != "" || (p.misses(j) && p.endOfMissed(j) != "")
}

// endGroup ends the group of a member: what comes back of it is not placed again.
func (p *Peer) endGroup(j *job, why string) {
	if a := j.application; j.apart() == "" {
		a.Apart = append(slices.Clone(a.Apart), row.EndedGroup{Number: j.Component.Together, Why: clip(why)})
		p.saveApplication(a.ID)
	}
}

// part wants a member of a group back that did not start together, whether it has started or not.
func (p *Peer) part(j *job) {
	if j.Parted || j.Cancelling || j.Restored {
		return
	}
	switch j.Phase {
	case row.JobInGridQueue:
		if why := j.apart(); why != "" && p.stopped() == "" { // else it may run, by what these rows do not know
			p.finish(j, protocol.Cancelled, why)
		}
	case row.JobCommittedLocal:
		j.Parted = true
		p.saveJob(j.Spec.Job)
		p.takeBack(p.runs[j.tag()], true)
	case row.JobGranted, row.JobHandedOff, row.JobRecalling:
		j.Parted = true
		p.recall(j)
	case row.JobOffered, row.JobReserving, row.JobStagingOut, row.JobEnding:
	}
}

// again says why a job that has ended is placed again; empty: it is not. One that its group has
// ended may not be if it runs once only: then the group ends.
func (p *Peer) again(j *job, outcome *protocol.Outcome) (why string) {
	twice := j.Spec.Requeue && !j.Cancelling && j.Reruns < maxReruns
	parted := j.Parted && outcome.State == protocol.Cancelled
	switch {
	case outcome.State == protocol.NodeFail && twice && j.apart() == "":
		return "its node failed: " + outcome.Reason
	case j.Cancelling:
		return ""
	case !parted:
		p.ranToEnd(j)
		return ""
	case j.apart() == "" && twice:
		return "its group did not start together"
	case j.apart() == "":
		p.endGroup(j, fmt.Sprintf("its group did not start together, and job %v, which had started, may not start twice or so often; submitted with --requeue it would be placed again",
			j.Spec.Job))
		for _, other := range p.others(j) {
			p.part(other)
		}
	}
	outcome.Reason = j.apart()
	return ""
}

// ranToEnd notes that a member has run to its end, after which its group can never start as a whole
// again: it ends if others have not started with it.
func (p *Peer) ranToEnd(j *job) {
	if j.Started == 0 || j.application == nil || !j.together() || j.ranWithout() {
		return
	}
	a, others := j.application, p.others(j)
	a.Ran = append(slices.Clone(a.Ran), j.Component.Together)
	p.saveApplication(a.ID)
	apart := func(other *job) bool { return other.Parted || other.Phase == row.JobInGridQueue }
	if !slices.ContainsFunc(others, apart) {
		return
	}
	p.endGroup(j, fmt.Sprintf("its group did not start together, and job %v has run to its end", j.Spec.Job))
	for _, other := range others {
		p.part(other)
	}
}

// ranWithout says whether a member of the job's group, and so not one that has yet to start, has run
// to its end.
func (j *job) ranWithout() bool {
	return j.application != nil && slices.Contains(j.application.Ran, j.Component.Together)
}

// onTheirWay holds members back from a round while others of their group are on their way back, or
// they would be placed without them.
func (p *Peer) onTheirWay(ids []protocol.JobID) []protocol.JobID {
	return slices.DeleteFunc(ids, func(id protocol.JobID) bool {
		j := p.jobs[id]
		if !j.together() {
			return false
		}
		if why := j.apart(); why != "" { // its group ended while the store was in doubt
			p.finish(j, protocol.Cancelled, why)
			return true
		}
		for _, other := range p.members(j) {
			if p.onItsWay(other) {
				p.hold(j, p.jitter(min(p.cfg.Sigma, p.cfg.RetryMax)), reasonGroup, fmt.Sprintf("job %v of its group is on its way back", other.Spec.Job))
				return true
			}
		}
		return false
	})
}

// wantedOver says whether a job is to be ended where it is, should it have started.
func (j *job) wantedOver() bool { return j.Cancelling || j.Parted }

// onItsWay says whether a member is wanted back, to be placed again.
func (p *Peer) onItsWay(j *job) bool {
	r := p.runs[j.tag()]
	return !j.Cancelling && (j.Parted || j.Phase == row.JobRecalling || (j.Phase == row.JobCommittedLocal && r != nil && r.Withdraw))
}
