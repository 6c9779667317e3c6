package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestChaosConditions is [TestChaos] with jobs that are held and released, begin later, have deadlines, depend on others
// of any site, and are changed, while peers crash and messages are lost. A job is never placed unless what it depends on has
// started or ended as it must.
func TestChaosConditions(t *testing.T) {
	t.Parallel()
	runSeeds(t, func(i uint64) uint64 { return i + 700_001 }, func(c *chaos) {
		for range 25 {
			c.world.After(c.between(0, int64(c.span)), c.condition)
			c.world.After(c.between(0, int64(c.span)), c.holdOne)
			c.world.After(c.between(0, int64(c.span)), c.updateOne)
		}
		for _, later := range []protocol.Duration{5 * protocol.Second, 50 * protocol.Second, 100 * protocol.Second} {
			c.world.After(c.span+later, c.releaseHeld)
		}
	})
}

// condition submits a job with conditions, on a job of a site that is there, if any.
func (c *chaos) condition() {
	sites := c.world.Sites()
	at, of := sites[c.rng.IntN(len(sites))], sites[c.rng.IntN(len(sites))]
	job := peertest.Plan{Run: c.between(100, 20_000), Exit: c.rng.IntN(2)}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "conditional", Requeue: c.rng.IntN(3) == 0,
	})
	now := c.world.Now().Add(c.sites[at.Name].Skew)
	switch c.rng.IntN(6) {
	case 0:
		job.Conditions.Hold = protocol.HeldByUser
	case 1:
		job.Conditions.Begin = now.Add(c.between(1, 60_000))
	case 2:
		job.Conditions.Deadline = now.Add(protocol.Minute + c.between(1000, 60_000))
	}
	term := protocol.DependencyTerm{Kind: protocol.Singleton}
	if rows := of.Rows().Jobs(); len(rows) > 0 && c.rng.IntN(6) > 0 {
		kinds := []protocol.DependencyKind{protocol.After, protocol.AfterAny, protocol.AfterOK, protocol.AfterNotOK}
		term = protocol.DependencyTerm{Kind: kinds[c.rng.IntN(len(kinds))], Job: rows[c.rng.IntN(len(rows))].Spec.Job}
		if term.Kind == protocol.After && c.rng.IntN(2) == 0 {
			term.Delay = c.between(1, 30_000)
		}
	}
	if c.rng.IntN(5) > 0 {
		job.Conditions.Dependency = &protocol.Dependency{Terms: []protocol.DependencyTerm{term}, KillInvalid: true}
	}
	c.world.Submit(at.Name, "ada", "", job)
}

// holdOne holds a job, or releases it, as its user or as root.
func (c *chaos) holdOne() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	rows := s.Rows().Jobs()
	if len(rows) == 0 {
		return
	}
	user, hold := []string{"ada", "root"}[c.rng.IntN(2)], c.rng.IntN(3) > 0
	id := rows[c.rng.IntN(len(rows))].Spec.Job
	c.world.Ask(s.Name, func(asked event.AskID) event.Event {
		return event.SetHold{Asked: asked, Job: id, Hold: hold, User: user, Admin: user == "root"}
	})
}

func (c *chaos) releaseHeld() {
	for _, s := range c.world.Sites() {
		for _, stored := range s.Rows().Jobs() {
			if stored.Wants().Hold != "" {
				c.world.Ask(s.Name, func(asked event.AskID) event.Event {
					return event.SetHold{Asked: asked, Job: stored.Spec.Job, User: "root", Admin: true}
				})
			}
		}
	}
}
