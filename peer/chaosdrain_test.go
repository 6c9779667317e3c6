package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestChaosDrain is [TestChaos] with operators who drain, isolate and resume their sites and partners meanwhile. No job is
// lost or runs twice, and once all are resumed every job ends.
func TestChaosDrain(t *testing.T) {
	t.Parallel()
	returned := 0
	runSeeds(t, func(i uint64) uint64 { return i + 9_000_001 }, func(c *chaos) {
		if *chaosSeed == 0 {
			c.world.Journal = func(line string) {
				if strings.Contains(line, "event requeued") && strings.Contains(line, "draining: a test") {
					returned++
				}
			}
		}
		for range 20 {
			c.world.After(c.between(0, int64(c.span)), c.drainOne)
		}
		c.world.After(c.span+protocol.Second, c.resumeSites)
		c.world.After(c.span+50*protocol.Second, c.resumeSites) // what was down at first
	})
	if *chaosSeed == 0 && returned == 0 {
		t.Error("no job has come back from a site that starts none")
	}
}

// TestChaosDrainRestored does the same where the rows of an earlier time are put back: by them, jobs that have come back since still wait
// at the site.
func TestChaosDrainRestored(t *testing.T) {
	t.Parallel()
	runSeeds(t, func(i uint64) uint64 { return 2*i + 24_000_000 }, func(c *chaos) { // those that tell lives
		c.older = true
		for range 20 {
			c.world.After(c.between(0, int64(c.span)), c.drainOne)
		}
		c.restore()
		c.operate()
		c.world.After(c.span+protocol.Second, c.resumeSites)
		c.world.After(c.span+50*protocol.Second, c.resumeSites)
	})
}

// drainOne drains, isolates or resumes one site at another, or at itself.
func (c *chaos) drainOne() {
	sites := c.world.Sites()
	at, of := sites[c.rng.IntN(len(sites))].Name, sites[c.rng.IntN(len(sites))].Name
	scopes := []view.DrainScope{view.DrainSending, view.DrainReceiving, view.DrainBoth, view.DrainIsolated, view.DrainIsolated, ""}
	if at == of {
		scopes = []view.DrainScope{view.DrainGuests, view.DrainStarts, view.DrainStarts, ""}
	}
	c.setDrain(at, of, scopes[c.rng.IntN(len(scopes))])
}

func (c *chaos) setDrain(at, of protocol.SiteName, scope view.DrainScope) {
	c.world.Ask(at, func(asked event.AskID) event.Event {
		return event.SetDrain{Asked: asked, Site: of, Scope: scope, Reason: "a test", User: "root", Admin: true}
	})
}

func (c *chaos) resumeSites() {
	for _, at := range c.world.Sites() {
		for _, of := range c.world.Sites() {
			c.setDrain(at.Name, of.Name, "")
		}
	}
}
