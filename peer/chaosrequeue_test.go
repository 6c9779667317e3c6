package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestChaosRequeue is [TestChaos] with arrays, and with users who have running jobs and elements start again, some of them
// held, while peers crash and messages are lost. No run may start while another one of its job runs; a job starts once
// more for each time that its origin has taken the end of a run, and not more often; and all must end.
func TestChaosRequeue(t *testing.T) {
	t.Parallel()
	again := 0
	t.Cleanup(func() {
		if again == 0 && *chaosSeed == 0 {
			t.Error("no job has started again")
		}
	})
	runSeeds(t, func(i uint64) uint64 { return i + 12_000_000 }, func(c *chaos) {
		c.submitArrays()
		for range 60 {
			c.world.After(c.between(0, int64(c.span)), c.requeueOne)
		}
		for _, later := range []protocol.Duration{5 * protocol.Second, 50 * protocol.Second, 100 * protocol.Second} {
			c.world.After(c.span+later, c.releaseHeld)
		}
		t.Cleanup(func() {
			for _, end := range c.world.Ends() {
				if !end.Requeue {
					again += end.Restarts
				}
			}
		})
	})
}

// requeueOne has a job that runs start again, or all elements of its array.
func (c *chaos) requeueOne() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	var run []row.Job
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
