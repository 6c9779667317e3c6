package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// every sets a timer that was due at an instant again: a period later, so that late ticks do not shift its
// phase. Periods that have passed are left out.
func (p *Peer) every(period protocol.Duration, at protocol.Instant, what due.Timer) {
	p.timers.Set(what, at.Add(period*(p.now.Sub(at)/period+1)))
}

func (p *Peer) after(d protocol.Duration, what due.Timer) { p.timers.Set(what, p.now.Add(d)) }

func (p *Peer) fireTimers() {
	for {
		what, at, ok := p.timers.Next()
		if !ok || at > p.now {
			return
		}
		p.timers.Stop(what)
		p.fire(what, at)
	}
}

// fire does what was due at an instant, which may have passed.
func (p *Peer) fire(t due.Timer, at protocol.Instant) { //nolint:cyclop // one case for each kind of timer
	switch t.Kind {
	case due.JobTimer:
		p.sendForPhase(t.Job)
	case due.CollectTimer:
		p.collect(p.rows.Jobs[t.Job])
	case due.ReclaimTimer:
		p.reclaim(t.Job)
	case due.GuestTimer:
		p.repeatGuest(t.Job)
	case due.RunTimer:
		p.repeatRun(t.Tag())
	case due.ReportTimer:
		p.reportGuest(t.Tag())
	case due.RoundTimer:
		p.roundDue(t.Round)
	case due.ProbeTimer:
		p.probe(t.Site)
	case due.WatchTimer:
		p.watch()
	case due.PruneTimer:
		p.prune()
	case due.PriorityTimer:
		p.prioritize()
	case due.PlannedStartsTimer:
		p.askPlannedStarts()
	case due.UseReportTimer:
		p.reportUse(at)
	case due.UseChangeTimer:
		p.reportChanges()
	case due.TrialTimer:
		p.trialDue(at)
	case due.LoadCheckTimer:
		p.loadCheckDue(at)
	case due.CycleTimer:
		p.beginCycle(at)
	case due.PriceTimer:
		p.askPrices()
	case due.StartTimer:
		p.startDue(t.Tag())
	case due.ListenTimer:
		p.endListening()
	case due.MarkTimer:
		p.markAll()
	case due.QueueTimer:
		p.takeOutAside()
	case due.PaceTimer:
		p.endPeriod(p.partners.Of(t.Site))
	case due.OwnershipTimer:
		p.requestOwnershipCheck(p.partners.Of(t.Site))
	case due.LimitTimer:
		p.limitDue(t.Job)
	case due.StartByTimer:
		p.startByDue(t.Tag())
	case due.HoldTimer:
		p.holdDue(t.Job)
	case due.DependencyTimer:
		p.askOutcomes(t.Job)
	case due.RequeueableTimer:
		p.forgetRequeueable()
	case due.ReleaseTimer:
		p.releaseLate(t.Tag())
	case due.ReleaseWaitTimer:
		p.out.Calls = append(p.out.Calls, p.releases.TimedOut(t.Tag())...)
	}
}

// nextWake is when a timer is due or a held job of the grid queue is ready.
func (p *Peer) nextWake() protocol.Instant {
	wake := p.queue.Next()
	if _, at, ok := p.timers.Next(); ok && (wake == 0 || at < wake) {
		wake = at
	}
	if p.rows.HasRoom(p.now) && p.site.StopReason() == "" { // the step has made room after it looked for it
		return p.now
	}
	return wake
}

// clockSet puts off, by as much as the clock was set forward, all that is to happen after some
// time, and with it how long ago others were heard: the time has not gone by for anybody. Else
// partners would seem silent, and jobs with Requeue would be taken from a site that is well.
// Rows keep their instants, which people read. As these may have come to seem old at one blow,
// by a clock that is wrong now, a long step puts off what is forgotten by its age.
func (p *Peer) clockSet(by protocol.Duration) {
	if by <= 0 {
		return
	}
	if by >= p.cfg.TombstoneTTL/2 {
		p.keepAll = p.now.Add(p.cfg.TombstoneTTL)
	}
	p.timers.PutOff(by)
	p.queue.PutOff(by)
	putOff(by, &p.hinted, &p.loadAt, &p.useCounted, &p.prioritizedAt, &p.changesReported)
	for _, one := range p.partners.All() {
		one.PutOff(by)
	}
	for _, id := range p.rows.JobIDs() { // timers that are due together fire in this order
		j := p.rows.Jobs[id]
		putOff(by, &j.Asked)
		j.Excluded.PutOff(by)
		if j.Conditions != nil { // its begin and its deadline are instants of the clock, which may have passed
			p.timers.Set(due.OfJob(due.HoldTimer, id), p.now)
		}
	}
	for _, id := range p.rows.ArrayIDs() {
		p.timers.Set(due.OfJob(due.HoldTimer, id), p.now)
	}
	for _, r := range p.rounds {
		putOff(by, &r.Opened)
	}
}

// putOff moves instants, but for those that are 0: they have not come about.
func putOff(by protocol.Duration, instants ...*protocol.Instant) {
	for _, at := range instants {
		if *at != 0 {
			*at = at.Add(by)
		}
	}
}
