package engine_test

import (
	"errors"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestHoldByHand on 4 CPUs under EASY. A runs, W waits for all of them, H is held.
//
//	A A A A W W H H H      H could begin at 4 beside W only if it delayed W.
//	A A A A W W H H H      B and C want the CPU that A leaves: B is over by 4,
//	A A A A W W . . .      C would run into W.
//	B B C ? W W . . .
func TestHoldByHand(t *testing.T) {
	t.Parallel()
	r := newHoldRig(t, cpus(4), engine.EASY())
	r.submit(job(0, 3, 4), 4)
	r.submit(job(1, 4, 2), 2)
	if at := r.hold(job(2, 2, 3), 1); at != 6 {
		t.Errorf("held from %d on, want 6: after the reservation of the head", at)
	}
	r.submit(job(3, 1, 2), 2)
	r.submit(job(4, 1, 7), 7)
	r.submitHeld(tag(2), 3)
	r.drain()
	for n, want := range map[int]protocol.Instant{0: 0, 1: 4, 2: 6, 3: 0, 4: 6} {
		if got := r.jobs[tag(n)].start; got != want {
			t.Errorf("job %d started at %d, want %d", n, got, want)
		}
	}
}

// TestHoldsBesideHead: the second of two holds leaves the reservation of the head alone as the
// first does, though nothing has happened in between.
func TestHoldsBesideHead(t *testing.T) {
	t.Parallel()
	r := newHoldRig(t, cpus(4), engine.EASY())
	r.submit(job(0, 3, 4), 4)
	r.submit(job(1, 4, 2), 2)
	r.hold(job(2, 1, 1), 20)
	if at := r.hold(job(3, 2, 3), 1); at != 6 {
		t.Errorf("held from %d on, want 6: after the reservation of the head", at)
	}
	r.drain()
	if got := r.jobs[tag(1)].start; got != 4 {
		t.Errorf("the head started at %d, want 4", got)
	}
}

// TestHoldAnswers: the errors, and what is repeated.
func TestHoldAnswers(t *testing.T) {
	t.Parallel()
	r := newHoldRig(t, cpus(4), engine.EASY())
	held := job(1, 4, 10)
	at := r.hold(held, 5)
	again, _, err := r.engine.Reserve(r.now, localsched.Reservation{Tag: held.Tag, Request: held.Request, Start: 50}, false)
	if err != nil || again != at {
		t.Errorf("held from %d on, when asked again from %d on, %v", at, again, err)
	}
	if _, err = r.engine.Withdraw(r.now, held.Tag); !errors.Is(err, localsched.ErrUnknownJob) {
		t.Errorf("withdraw a job that has not come: %v", err)
	}
	if _, err = r.engine.Finished(r.now, held.Tag); !errors.Is(err, localsched.ErrUnknownJob) {
		t.Errorf("a job that has not come has ended: %v", err)
	}
	longer := held
	longer.WallTime++
	if _, err = r.engine.Submit(r.now, longer); !isRefused(err) {
		t.Errorf("a job longer than its hold: %v", err)
	}
	r.submitHeld(held.Tag, 10)
	if load := r.engine.Load(); load.QueuedJobs != 1 || load.QueuedWork != 40 || load.Busy != 0 {
		t.Errorf("while it waits for its hold the load is %+v", load)
	}
	if _, err = r.engine.Submit(r.now, held); !errors.Is(err, localsched.ErrDuplicate) {
		t.Errorf("submitted twice: %v", err)
	}
	r.apply(r.engine.CancelReservation(r.now, held.Tag)) // it has come: no more
	r.drain()
	if got := r.jobs[held.Tag].start; got != at {
		t.Errorf("started at %d, held from %d on", got, at)
	}
	if _, _, err = r.engine.Reserve(r.now, localsched.Reservation{Tag: tag(2), Request: job(2, 5, 1).Request}, false); !isRefused(err) {
		t.Errorf("more than the machine: %v", err)
	}
}

// TestHoldWakes: the driver is woken when a taken hold begins, and when another ends.
func TestHoldWakes(t *testing.T) {
	t.Parallel()
	r := newHoldRig(t, cpus(4), engine.FCFS())
	r.hold(job(1, 4, 10), 100)
	if r.wake != 110 {
		t.Errorf("it wants to be woken at %d, want 110, when the hold is over", r.wake)
	}
	r.submitHeld(tag(1), 4)
	if r.wake != 100 {
		t.Errorf("it wants to be woken at %d, want 100, when the job starts", r.wake)
	}
	r.withdraw(tag(1))
	if r.wake != 0 {
		t.Errorf("it wants to be woken at %d, for nothing", r.wake)
	}
	r.submit(job(2, 4, 200), 1)
	if got := r.jobs[tag(2)]; !got.running {
		t.Error("what a withdrawn job held is not free")
	}
}

// TestHoldOfSmallerJob: what a job does not need of its hold is free.
func TestHoldOfSmallerJob(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names() {
		r := newHoldRig(t, cpus(4), named(t, name))
		r.hold(job(1, 4, 10), 0)
		r.submit(job(2, 2, 5), 5)
		if r.jobs[tag(2)].running {
			t.Errorf("%s: it runs in what is held", name)
		}
		smaller := job(1, 2, 5)
		r.holds[tag(1)].taken = true
		r.submit(smaller, 5)
		if !r.jobs[tag(1)].running || !r.jobs[tag(2)].running {
			t.Errorf("%s: beside a smaller job there is no room", name)
		}
		r.drain()
	}
}

// TestHoldExactly: after a restart a hold is where it was, whatever runs by now.
func TestHoldExactly(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names() {
		r := newHoldRig(t, cpus(4), named(t, name))
		r.now = 100
		if err := r.restore(job(0, 1, 10), 95, 20); err != nil {
			t.Fatal(err)
		}
		held := job(1, 4, 10)
		at, actions, err := r.engine.Reserve(r.now, localsched.Reservation{Tag: held.Tag, Request: held.Request, Start: 98}, true)
		if err != nil || at != 98 {
			t.Fatalf("held from %d on, %v", at, err)
		}
		r.apply(actions)
		r.submit(job(2, 1, 1), 1)
		r.submit(held, 10)
		r.drain()
		if a, b := r.jobs[tag(1)].start, r.jobs[tag(2)].start; a != 115 || b != 125 {
			t.Errorf("%s: the held job started at %d, want 115, when the late one had ended; the other at %d, want 125", name, a, b)
		}
	}
}

// TestWhoHolds: pools do, unless a budget binds them; and the border says the same.
func TestWhoHolds(t *testing.T) {
	t.Parallel()
	budget := engine.Budget{Signal: power.Always(10), Rates: power.Rates{Busy: 1}}
	for what, c := range map[string]struct {
		e    *engine.Engine
		want bool
	}{
		"a pool":          {engine.New(cpus(4), engine.SJF()), true},
		"within a budget": {engine.New(cpus(4), engine.Within(budget, engine.SJF())), false},
		"partitions":      {engine.New(intrepid(t, engine.Enabled{}), engine.SJF()), false},
	} {
		_, border := c.e.Fallible().(localsched.EngineReserver)
		_, _, err := c.e.Reserve(0, localsched.Reservation{Tag: tag(1), Request: job(1, 1, 1).Request}, false)
		if c.e.CanReserve() != c.want || border != c.want || isRefused(err) == c.want {
			t.Errorf("%s: holds %v, its border %v, %v", what, c.e.CanReserve(), border, err)
		}
	}
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*localsched.RefusedError](err)
	return ok
}
