package peer

import (
	"container/heap"

	"github.com/switchyard-hpc/switchyard/protocol"
)

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
	jobTimer      timerKind = iota // an unanswered message about a job of this origin
	collectTimer                   // files to be collected again
	reclaimTimer                   // a requeue job whose site may be lost
	guestTimer                     // a prepared guest without a decision
	runTimer                       // a placement: call the local scheduler again
	reportTimer                    // a placement: report to the origin again
	roundTimer                     // the deadline of a round
	probeTimer                     // a silent partner
	watchTimer                     // the watch failed
	pruneTimer                     // old tombstones
	sigmaTimer                     // σ: the own utilisation, and jobs that wait for volunteers
	cycleTimer                     // a round of all jobs
	priceTimer                     // prices are asked for again
	startTimer                     // a job of this origin should have started at its partner
	listenTimer                    // the partners have been listened to for long enough
	markTimer                      // partners are sent how far the store has come
	queueTimer                     // a local queue that was copied is looked through
	paceTimer                      // facts about a partner were not made, because there were many
	doubtTimer                     // a partner is asked again whether it still has what was handed to it
	limitTimer                     // an application has used up its max_time
	startByTimer                   // a placement of a group has missed its start
	releaseTimer                   // room that the local scheduler has not given up yet
	patienceTimer                  // a release is not waited for any longer
)

// timers is a heap of instants with at most one live entry for each timer.
type timers struct {
	due  map[timer]protocol.Instant
	heap timerHeap
	seq  uint64
}

type timerEntry struct {
	at  protocol.Instant
	seq uint64
	timer
}

func (t *timers) set(what timer, at protocol.Instant) {
	if t.due == nil {
		t.due = map[timer]protocol.Instant{}
	}
	t.due[what] = at
	t.seq++
	heap.Push(&t.heap, timerEntry{at: at, seq: t.seq, timer: what})
}

func (t *timers) stop(what timer) { delete(t.due, what) }

// putOff moves all timers.
func (t *timers) putOff(by protocol.Duration) {
	for what, at := range t.due {
		t.due[what] = at.Add(by)
	}
	for i := range t.heap {
		t.heap[i].at = t.heap[i].at.Add(by)
	}
}

// next is the earliest live entry; ok is false when there is none.
func (t *timers) next() (entry timerEntry, ok bool) {
	for t.heap.Len() > 0 {
		entry = t.heap[0]
		if at, live := t.due[entry.timer]; live && at == entry.at {
			return entry, true
		}
		heap.Pop(&t.heap)
	}
	return timerEntry{}, false
}

func (p *Peer) after(d protocol.Duration, what timer) { p.timers.set(what, p.now.Add(d)) }

func (p *Peer) fireTimers() {
	for {
		entry, ok := p.timers.next()
		if !ok || entry.at > p.now {
			return
		}
		p.timers.stop(entry.timer)
		p.fire(entry.timer)
	}
}

func (p *Peer) fire(t timer) { //nolint:cyclop // one case for each kind of timer
	switch t.kind {
	case jobTimer:
		p.repeatJob(t.job)
	case collectTimer:
		p.collect(p.jobs[t.job])
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
	case sigmaTimer:
		p.sigmaDue()
	case cycleTimer:
		p.beginCycle()
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
		p.endPeriod(p.byName[t.site])
	case doubtTimer:
		p.doubt(p.byName[t.site])
	case limitTimer:
		p.limitDue(t.job)
	case startByTimer:
		p.startByDue(protocol.Tag{Job: t.job, Epoch: t.epoch})
	case releaseTimer:
		p.releaseLate(protocol.Tag{Job: t.job, Epoch: t.epoch})
	case patienceTimer:
		p.endPatience(protocol.Tag{Job: t.job, Epoch: t.epoch})
	}
}

// nextWake is when a timer is due or a held job of the grid queue is ready.
func (p *Peer) nextWake() protocol.Instant {
	wake := p.queue.Next()
	if entry, ok := p.timers.next(); ok && (wake == 0 || entry.at < wake) {
		wake = entry.at
	}
	return wake
}

type timerHeap []timerEntry

func (h *timerHeap) Len() int { return len(*h) }
func (h *timerHeap) Less(i, j int) bool {
	if (*h)[i].at != (*h)[j].at {
		return (*h)[i].at < (*h)[j].at
	}
	return (*h)[i].seq < (*h)[j].seq
}
func (h *timerHeap) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }

// Push implements [heap.Interface].
func (h *timerHeap) Push(x any) {
	if entry, ok := x.(timerEntry); ok {
		*h = append(*h, entry)
	}
}

// Pop implements [heap.Interface].
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	entry := (*h)[last]
	*h = (*h)[:last]
	return entry
}
