package engine_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// holdRig is a rig that holds room as well, and knows itself what that means.
type holdRig struct {
	*rig

	machine engine.Machine
	holds   map[protocol.Tag]*testHold
	last    int // number of a job
}

type testHold struct {
	localsched.Queued
	start protocol.Instant
	taken bool
}

func newHoldRig(t failer, m engine.Machine, p engine.Policy) *holdRig {
	return &holdRig{rig: newRig(t, m, p), machine: m, holds: map[protocol.Tag]*testHold{}}
}

// hold reserves CPUs and returns from when on.
func (r *holdRig) hold(j localsched.Queued, start protocol.Instant) protocol.Instant {
	r.t.Helper()
	at, actions, err := r.engine.Reserve(r.now, localsched.Reservation{Tag: j.Tag, Request: j.Request, Start: start}, false)
	if err != nil {
		r.t.Fatalf("hold room for %v: %v", j.Tag, err)
	}
	r.holds[j.Tag] = &testHold{Queued: j, start: at}
	r.apply(actions)
	return at
}

func (r *holdRig) drop(t protocol.Tag) {
	r.t.Helper()
	delete(r.holds, t)
	r.apply(r.engine.CancelReservation(r.now, t))
}

// submitHeld submits the job of a reservation, which runs for that time.
func (r *holdRig) submitHeld(t protocol.Tag, run protocol.Duration) {
	r.t.Helper()
	r.holds[t].taken = true
	r.submit(r.holds[t].Queued, run)
}

// open are the holds whose job has not started and whose time is not over.
func (r *holdRig) open() (tags []protocol.Tag) {
	for t, h := range r.holds {
		if j := r.jobs[t]; (!h.taken && h.start.Add(h.WallTime) > r.now) || (h.taken && j != nil && !j.running && !j.ended) {
			tags = append(tags, t)
		}
	}
	slices.SortFunc(tags, func(a, b protocol.Tag) int { return int(a.Job) - int(b.Job) })
	return tags
}

// untaken are the open holds whose job has not come.
func (r *holdRig) untaken() []protocol.Tag {
	return slices.DeleteFunc(r.open(), func(t protocol.Tag) bool { return r.holds[t].taken })
}

// promised are the jobs to which the machine is promised at a time: running ones until their
// limits, and holds.
func (r *holdRig) promised(at protocol.Instant) (jobs []*testJob) {
	for _, j := range r.started {
		if at < j.limit() {
			jobs = append(jobs, j)
		}
	}
	for _, t := range r.open() {
		if h := r.holds[t]; h.start <= at && at < h.start.Add(h.WallTime) {
			jobs = append(jobs, &testJob{Queued: h.Queued})
		}
	}
	return jobs
}

// free reports whether the machine has what more jobs take beside all promises, all of a time.
func (r *holdRig) free(from protocol.Instant, time protocol.Duration, more ...*testJob) bool {
	for at := from; at < from.Add(time); at++ {
		if !possible(r.machine, r.promised(at), more...) {
			return false
		}
	}
	return true
}

// firm checks that nothing runs into a reservation, and that every job of one that has started has
// done so in time.
func (r *holdRig) firm() {
	r.t.Helper()
	if !r.free(r.now, 100) {
		r.t.Fatalf("at %d more is promised than there is", r.now)
	}
	for t, h := range r.holds {
		if j := r.jobs[t]; h.taken && j != nil && (j.running || j.ended) && j.start != h.start {
			r.t.Fatalf("%v holds room from %d on and started at %d", t, h.start, j.start)
		}
	}
}

// lives leads the rig through a random life. With late, jobs run past their limits, and come
// too late into their holds.
func (r *holdRig) lives(t *rapid.T, late bool) {
	r.now = 100
	next := func() (localsched.Queued, protocol.Duration) {
		r.last++
		j := localsched.Queued{Request: drawRequest(t, r.machine), Tag: tag(r.last)}
		return j, r.drawRun(t, j.WallTime, late)
	}
	for range rapid.IntRange(0, 30).Draw(t, "steps") {
		switch rapid.IntRange(0, 7).Draw(t, "step") {
		case 0, 1:
			r.submit(next())
		case 2:
			r.goOn(t, late)
		case 3:
			if waiting := r.waiting(); len(waiting) > 0 {
				gone := rapid.SampledFrom(waiting).Draw(t, "withdrawn")
				r.withdraw(gone)
				delete(r.holds, gone)
			}
		case 4, 5:
			j, _ := next()
			r.holdFirst(t, j, late)
		case 6:
			if open := r.untaken(); len(open) > 0 {
				taken := rapid.SampledFrom(open).Draw(t, "taken")
				if h := r.holds[taken]; late || h.start >= r.now {
					r.submitHeld(taken, r.drawRun(t, h.WallTime, late))
				}
			}
		case 7:
			if open := r.untaken(); len(open) > 0 {
				r.drop(rapid.SampledFrom(open).Draw(t, "dropped"))
			}
		}
		if !late {
			r.firm()
		}
	}
}

func (*holdRig) drawRun(t *rapid.T, limit protocol.Duration, late bool) protocol.Duration {
	most := int(limit)
	if late {
		most += 8
	}
	return protocol.Duration(rapid.OneOf(rapid.Just(int(limit)), rapid.IntRange(1, most)).Draw(t, "run time"))
}

// goOn lets time pass, checking at every event.
func (r *holdRig) goOn(t *rapid.T, late bool) {
	to := r.now + protocol.Instant(rapid.IntRange(0, 8).Draw(t, "pause"))
	for r.step(to) {
		if !late && (len(r.started) == 0 || r.soonest() > r.now) { // all that happens now has happened
			r.firm()
		}
	}
	r.now = to
}

func (r *holdRig) soonest() protocol.Instant {
	j, _ := r.next()
	return j.end
}

// holdFirst holds room, and checks that it is the first that leaves promises alone.
func (r *holdRig) holdFirst(t *rapid.T, j localsched.Queued, late bool) {
	promised := map[protocol.Tag]protocol.Instant{}
	for _, w := range r.waiting() {
		if _, held := r.holds[w]; !held {
			promised[w] = r.engine.PromisedTo(w, r.now)
		}
	}
	start := r.now + protocol.Instant(rapid.IntRange(-3, 20).Draw(t, "from"))
	before, head := r.engine.Load(), r.engine.HeadReserved()
	first := max(start, r.now)
	for !late && !r.free(first, j.WallTime, &testJob{Queued: j}) {
		first++
	}
	at := r.hold(j, start)
	if late {
		return
	}
	promises := false
	for w, was := range promised {
		promises = promises || was >= 0
		if now := r.engine.PromisedTo(w, r.now); now != was {
			r.t.Fatalf("%v was promised %d, and %d after a hold", w, was, now)
		}
	}
	if now := r.engine.HeadReserved(); head != 0 && (now == 0 || now > head) {
		r.t.Fatalf("the head had a reservation at %d, and has it at %d after a hold", head, now)
	}
	if at < first || !r.free(at, 1) {
		r.t.Fatalf("held from %d on, but there is no room before %d", at, first)
	}
	if at != first && len(promised) == 0 {
		r.t.Fatalf("held from %d on, though nobody waits and there is room from %d on", at, first)
	}
	if load := r.engine.Load(); load != before {
		r.t.Fatalf("the load was %+v and is %+v", before, load)
	}
}

// everyPolicy runs a property under all policies.
func everyPolicy(t *testing.T, check func(*rapid.T, engine.Policy)) {
	t.Helper()
	for _, name := range engine.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { check(t, named(t, name)) })
		})
	}
}

// TestHoldsAreFirm: whatever comes, no job starts that would run into a hold by its limit,
// the jobs of holds start when their room is held from, and promises stay.
func TestHoldsAreFirm(t *testing.T) {
	t.Parallel()
	everyPolicy(t, func(t *rapid.T, p engine.Policy) {
		r := newHoldRig(t, drawMachine(t), p)
		r.lives(t, false)
		for r.step(1 << 62) {
			if len(r.started) == 0 || r.soonest() > r.now {
				r.firm()
			}
		}
		r.drain()
		for tag, j := range r.jobs {
			if !j.ended {
				t.Fatalf("%v was lost", tag)
			}
		}
	})
}

// TestQuotesSeeHolds: what is quoted beside holds is what happens if all estimates hold,
// whether or not the holds are taken; and short cuts give what simulations do.
func TestQuotesSeeHolds(t *testing.T) {
	t.Parallel()
	everyPolicy(t, func(t *rapid.T, p engine.Policy) {
		r := newHoldRig(t, drawMachine(t), p)
		late := rapid.Bool().Draw(t, "late")
		r.lives(t, late)
		r.advance(r.now)
		comparePlans(t, r.rig, r.machine)
		for _, open := range r.untaken() {
			if r.holds[open].start < r.now { // its job would be late
				r.drop(open)
			}
		}
		newcomer := drawRequest(t, r.machine)
		planned := r.engine.Plan(r.now, nil, []protocol.Request{newcomer})
		r.comeTrue()
		for _, open := range r.untaken() {
			r.submitHeld(open, r.holds[open].WallTime)
		}
		r.submit(localsched.Queued{Request: newcomer, Tag: tag(1000)}, newcomer.WallTime)
		r.drain()
		if got := r.jobs[tag(1000)].start; got != planned[0].Start {
			t.Fatalf("quoted %d, started %d", planned[0].Start, got)
		}
	})
}

// TestBudgetKeepsHolds: room that was held before there was a power budget stays held.
func TestBudgetKeepsHolds(t *testing.T) {
	t.Parallel()
	everyPolicy(t, func(t *rapid.T, p engine.Policy) {
		r := newHoldRig(t, drawMachine(t), p)
		r.lives(t, false)
		budget := engine.Budget{
			Rates: power.Rates{Busy: 1}, Mode: rapid.SampledFrom(engine.Modes()).Draw(t, "mode"),
			Signal: power.Always(int64(r.machine.Capacity().CPUs)), Bound: protocol.Duration(rapid.IntRange(0, 20).Draw(t, "bound")),
		}
		r.apply(r.engine.SetPolicy(r.now, engine.Within(budget, p)))
		r.firm()
		for range rapid.IntRange(0, 10).Draw(t, "more") {
			r.last++
			j := localsched.Queued{Request: drawRequest(t, r.machine), Tag: tag(r.last)}
			j.Power = 0
			if actions, err := r.engine.Submit(r.now, j); err == nil {
				r.jobs[j.Tag] = &testJob{Queued: j, run: j.WallTime}
				r.apply(actions)
			}
			r.goOn(t, false)
			r.firm()
		}
	})
}
