package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestChaosRequeue is [TestChaos] with arrays, and with users who have jobs and elements start again that run or have ended, some
// of them held, while peers crash and messages are lost. No run may start while another one of its job runs; a job starts once
// more for each time that its origin has taken the end of a run, and not more often; and all must end.
func TestChaosRequeue(t *testing.T) {
	t.Parallel()
	var again chaosRequeues
	t.Cleanup(func() {
		if *chaosSeed == 0 && (again.starts == 0 || again.reopened == 0) {
			t.Errorf("%d jobs have started again, %d of those that had ended", again.starts, again.reopened)
		}
	})
	runSeeds(t, func(i uint64) uint64 { return i + 12_000_000 }, func(c *chaos) {
		c.submitArrays()
		c.world.Facts = func(_ protocol.SiteName, fact event.LogEvent) {
			if fact.Kind == event.LogRequeueRequested && strings.HasPrefix(fact.Text, "after its end") {
				again.reopened++
			}
		}
		c.requeueSome()
		t.Cleanup(func() {
			for _, end := range c.world.Ends() {
				if !end.Requeue {
					again.starts += end.Restarts
				}
			}
		})
	})
}

// TestChaosRequeueRestored does the same where the rows of an earlier time are put back: a job that had ended by then, and has
// been requeued since, may run.
func TestChaosRequeueRestored(t *testing.T) {
	t.Parallel()
	runSeeds(t, func(i uint64) uint64 { return 2*i + 18_000_000 }, (*chaos).requeueRestored) // those that tell lives
}

// TestChaosRequeueRestoredFaults runs the seeds of that which have shown a fault.
func TestChaosRequeueRestoredFaults(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{
		18000118, // a job that was requeued after its end, which rows of an earlier time have, runs
		19400022, // the end of a run before recover ended its job, which had been requeued and ran
	} {
		c := newChaos(t, seed)
		c.requeueRestored()
		c.run(t)
	}
}

// requeueRestored has jobs start again, and the rows of an earlier time put back.
func (c *chaos) requeueRestored() {
	c.older = true
	c.submitArrays()
	c.requeueSome()
	c.restore()
	c.operate()
}

// requeueSome has jobs start again, some of which are held for a while.
func (c *chaos) requeueSome() {
	for range 60 {
		c.world.After(c.between(0, int64(c.span)), c.requeueOne)
	}
	for _, later := range []protocol.Duration{5 * protocol.Second, 50 * protocol.Second, 100 * protocol.Second} {
		c.world.After(c.span+later, c.releaseHeld)
	}
}

// chaosRequeues counts what was requeued.
type chaosRequeues struct{ starts, reopened int }

// requeueOne has a job start again that runs or has ended, or all elements of its array.
func (c *chaos) requeueOne() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	run := s.Rows().Requeueable()
	for _, stored := range s.Rows().Jobs() {
		if stored.State == protocol.Running {
			run = append(run, stored)
		}
	}
	if len(run) == 0 {
		return
	}
	one, hold := run[c.rng.IntN(len(run))], c.rng.IntN(4) == 0
	id := one.Spec.Job
	if one.Element.Array != 0 && c.rng.IntN(4) == 0 {
		id = one.Element.Array
	}
	c.world.Ask(s.Name, func(asked event.AskID) event.Event {
		return event.Requeue{Asked: asked, Job: id, Hold: hold, User: "root", Admin: true}
	})
}
