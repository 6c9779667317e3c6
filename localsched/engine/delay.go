package engine

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Delays implements [localsched.DelayEstimator]. Under fixed reservations a new job delays
// no other; else the whole queue is planned with it and without it, once for each shape.
func (e *Engine) Delays(
	now protocol.Instant, ahead, jobs []protocol.Request, guarded protocol.SiteNumber,
) []protocol.Duration {
	e.core.sweepExtras()
	now = max(now, e.core.state.now)
	delays := make([]protocol.Duration, len(jobs))
	waiting := e.core.waitingOf(func(slot int) bool { return e.tags.tags[slot].Job.Origin() == guarded })
	if len(waiting) == 0 {
		return delays
	}
	before := e.core.trialAt(now, ahead).startsOf(waiting, !e.core.passDone || e.core.due(now))
	known := map[shape]protocol.Duration{}
	for i := range jobs {
		job, reason := size(e.core.machine, e.core.policy, now, jobs[i])
		if reason != "" {
			continue
		}
		of := shapeOf(&job)
		worst, ok := known[of]
		if !ok {
			job.slot = newcomerSlot
			f := e.core.trialAt(now, ahead)
			f.enqueue(job)
			worst = worstDelay(before, f.startsOf(waiting, true))
			known[of] = worst
		}
		delays[i] = worst
	}
	return delays
}

func worstDelay(before, after map[int]protocol.Instant) (worst protocol.Duration) {
	for slot, at := range before {
		worst = max(worst, delay(at, after[slot]))
	}
	return worst
}

// delay is how much later a start is; one that is no more in sight is delayed for ever.
func delay(before, after protocol.Instant) protocol.Duration {
	switch {
	case before == lastInstant:
		return 0
	case after == lastInstant:
		return protocol.Never
	}
	return max(0, after.Sub(before))
}

// waitingOf are the slots of the waiting jobs that are wanted.
func (c *Core) waitingOf(wanted func(slot int) bool) map[int]bool {
	slots := map[int]bool{}
	for w := range c.state.pending.all() {
		if w.slot >= 0 && wanted(w.slot) {
			slots[w.slot] = true
		}
	}
	return slots
}

// startsOf runs a future until the jobs of these slots have started, and says when; the
// last instant where no start is in sight. It begins with a pass if something has changed:
// time alone may let a pass start more when a running job is past its estimate.
func (f *future) startsOf(slots map[int]bool, changed bool) map[int]protocol.Instant {
	starts := make(map[int]protocol.Instant, len(slots))
	f.noteStarts(slots, starts)
	if changed {
		f.pass()
		f.noteStarts(slots, starts)
	}
	for len(starts) < len(slots) && f.next() {
		f.pass()
		f.noteStarts(slots, starts)
	}
	for slot := range slots {
		if _, ok := starts[slot]; !ok {
			starts[slot] = lastInstant
		}
	}
	return starts
}

// noteStarts notes which of the slots have just started.
func (f *future) noteStarts(slots map[int]bool, starts map[int]protocol.Instant) {
	for i := range f.state.started {
		if slot := f.state.started[i].slot; slots[slot] {
			starts[slot] = f.state.now
		}
	}
}

// Delays implements [localsched.DelayEstimator].
func (b fallibleEngine) Delays(
	now protocol.Instant, ahead, jobs []protocol.Request, guarded protocol.SiteNumber,
) ([]protocol.Duration, error) {
	return b.Engine.Delays(now, ahead, jobs, guarded), nil
}

var _ localsched.DelayEstimator = fallibleEngine{}
