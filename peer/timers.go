package peer

import "github.com/switchyard-hpc/switchyard/protocol"

// timer names something that is due at one instant; setting it again moves it.
type timer struct {
	kind  timerKind
	job   protocol.JobID
	epoch protocol.Epoch
	round protocol.RoundID
	site  protocol.SiteName
}

type timerKind uint8

const (
	jobTimer         timerKind = iota // an unanswered message about a job of this origin
	collectTimer                      // files to be collected again
	reclaimTimer                      // a requeue job whose site may be lost
	guestTimer                        // a prepared guest without a decision
	runTimer                          // a placement: call the local scheduler again
	reportTimer                       // a placement: report to the origin again
	roundTimer                        // the deadline of a round
	probeTimer                        // a silent partner
	watchTimer                        // the watch failed
	pruneTimer                        // old tombstones
	loadCheckTimer                    // σ: the own utilisation, and jobs that wait for volunteers
	cycleTimer                        // a round of all jobs
	priceTimer                        // prices are asked for again
	startTimer                        // a job of this origin should have started at its partner
	listenTimer                       // the partners have been listened to for long enough
	markTimer                         // partners are sent how far the store has come
	queueTimer                        // a local queue that was copied is looked through
	paceTimer                         // facts about a partner were not made, because there were many
	ownershipTimer                    // a partner is asked again whether it still has what was handed to it
	limitTimer                        // an application has used up its max_time
	startByTimer                      // a placement of a group has missed its start
	releaseTimer                      // room that the local scheduler has not given up yet
	releaseWaitTimer                  // the cancellation of a reservation is not waited for any longer
)

// every sets a timer that was due at an instant again: a period later, so that late ticks do not shift its
// phase. Periods that have passed are left out.
func (p *Peer) every(period protocol.Duration, due protocol.Instant, what timer) {
	p.timers.Set(what, due.Add(period*(p.now.Sub(due)/period+1)))
}

func (p *Peer) after(d protocol.Duration, what timer) { p.timers.Set(what, p.now.Add(d)) }

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
func (p *Peer) fire(t timer, due protocol.Instant) { //nolint:cyclop // one case for each kind of timer
	switch t.kind {
	case jobTimer:
		p.sendForPhase(t.job)
	case collectTimer:
		p.collect(p.rows.Jobs[t.job])
	case reclaimTimer:
		p.reclaim(t.job)
	case guestTimer:
		p.repeatGuest(t.job)
	case runTimer:
		p.repeatRun(protocol.Tag{Job: t.job, Epoch: t.epoch})
	case reportTimer:
		p.reportGuest(protocol.Tag{Job: t.job, Epoch: t.epoch})
	case roundTimer:
		p.roundDue(t.round)
	case probeTimer:
		p.probe(t.site)
	case watchTimer:
		p.watch()
	case pruneTimer:
		p.prune()
	case loadCheckTimer:
		p.loadCheckDue(due)
	case cycleTimer:
		p.beginCycle(due)
	case priceTimer:
		p.askPrices()
	case startTimer:
		p.startDue(protocol.Tag{Job: t.job, Epoch: t.epoch})
	case listenTimer:
		p.endListening()
	case markTimer:
		p.markAll()
	case queueTimer:
		p.takeOutAside()
	case paceTimer:
		p.endPeriod(p.partners.Of(t.site))
	case ownershipTimer:
		p.requestOwnershipCheck(p.partners.Of(t.site))
	case limitTimer:
		p.limitDue(t.job)
	case startByTimer:
		p.startByDue(protocol.Tag{Job: t.job, Epoch: t.epoch})
	case releaseTimer:
		p.releaseLate(protocol.Tag{Job: t.job, Epoch: t.epoch})
	case releaseWaitTimer:
		p.out.Calls = append(p.out.Calls, p.releases.TimedOut(protocol.Tag{Job: t.job, Epoch: t.epoch})...)
	}
}

// nextWake is when a timer is due or a held job of the grid queue is ready.
func (p *Peer) nextWake() protocol.Instant {
	wake := p.queue.Next()
	if _, at, ok := p.timers.Next(); ok && (wake == 0 || at < wake) {
		wake = at
	}
	return wake
}
