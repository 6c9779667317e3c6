package peer_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// groupRoom is what components have at their own site at most that start together, so that each
// group of a chaos can start somewhere.
type groupRoom struct {
	members, nodes, perNode int
}

// within is the room when a site takes this number of jobs in a period; 0: any number.
func (r groupRoom) within(maxQ int) groupRoom {
	if maxQ > 0 {
		r.members = min(r.members, maxQ)
	}
	return r
}

// roomForGroups notes the room of a site whose policy looks at groups.
func (c *chaos) roomForGroups(o *peertest.SiteOptions, reserves bool) {
	if reserves && brokers(o) {
		c.groups[o.Name] = groupRoom{members: o.Capacity.Nodes, nodes: o.Capacity.Nodes, perNode: o.Capacity.CPUs / o.Capacity.Nodes}
	}
}

// brokers says whether a site's policy decides about applications.
func brokers(o *peertest.SiteOptions) bool {
	if o.Policy == nil {
		return false
	}
	says := policy.Describe(o.Policy)
	return says.DecidesApplications()
}

// limits are what a user may want of an application.
func (c *chaos) limits() *protocol.Application {
	a := wanting()
	if c.rng.IntN(3) == 0 && !c.timeless {
		a.MaxTime = c.between(20_000, 600_000)
	}
	if c.rng.IntN(3) == 0 {
		a.MaxCost = protocol.Micro(c.rng.Int64N(100_000))
	}
	if c.rng.IntN(3) == 0 {
		a.StartTolerance = c.between(1, 60_000)
	}
	if c.rng.IntN(3) == 0 {
		a.StartMissed = protocol.FailMissed
	}
	return a
}

// gather submits an application of which two or more components start together.
func (c *chaos) gather(at protocol.SiteName) {
	room := c.groups[at]
	together := 2 + c.rng.IntN(room.members-1)
	spare := room.nodes - together
	var jobs []protocol.Job
	for range together {
		more := c.rng.IntN(spare + 1)
		spare -= more
		job := c.component(1+more, room.perNode)
		job.Component.Together = 1
		jobs = append(jobs, job)
	}
	jobs = append(jobs, c.component(1, 1))
	s, limits := c.world.Site(at), c.limits()
	asked := c.world.Ask(at, func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: limits}
	})
	if c.rng.IntN(3) == 0 {
		c.world.After(c.between(0, 20_000), func() {
			if submitted, ok := s.Answer(asked).(view.Submitted); ok {
				c.world.Cancel(at, submitted.Jobs[c.rng.IntN(len(submitted.Jobs))])
			}
		})
	}
}

// component fits on this number of nodes, of which it asks for all or for CPUs alone.
func (c *chaos) component(nodes, perNode int) protocol.Job {
	spec := protocol.Spec{
		Request: protocol.Request{CPUs: nodes * (1 + c.rng.IntN(perNode)), WallTime: protocol.Minute},
		Name:    strconv.Itoa(c.rng.Int()), Requeue: c.rng.IntN(3) == 0,
	}
	if c.rng.IntN(2) == 0 {
		spec.Nodes = nodes
	}
	job := peertest.Plan{Run: c.between(1, 60_000)}.Job(spec)
	job.Component = protocol.Component{Alpha: protocol.PPM}
	if c.rng.IntN(2) == 0 {
		job.Component.Shapes = []protocol.Shape{{CPUs: 2, WallTime: protocol.Minute}}
	}
	return job
}

// untilQuiet lets time pass until nothing goes on any more, for hours at most. What the limit of
// costs of its application keeps from every site waits for as long as its user likes.
func (c *chaos) untilQuiet() (busy string) {
	busy = c.world.RunUntilQuiet(protocol.Hour)
	for range 24 {
		if busy == "" || c.world.Err() != nil {
			break
		}
		c.cancelExpensive()
		busy = c.world.RunUntilQuiet(10 * protocol.Minute)
	}
	return busy
}

// cancelExpensive cancels what waits and has such a limit.
func (c *chaos) cancelExpensive() {
	for _, s := range c.world.Sites() {
		for _, stored := range s.Rows().Jobs() {
			if stored.Phase == row.JobInGridQueue && c.maxCost(s, stored.Application) < protocol.Unlimited {
				c.world.Cancel(s.Name, stored.Spec.Job)
			}
		}
	}
}

func (c *chaos) maxCost(s *peertest.Site, id protocol.JobID) protocol.Micro {
	for _, stored := range s.Rows().Rows[row.ApplicationTable] {
		if a, ok := stored.(row.Application); ok && a.ID == id {
			return a.MaxCost
		}
	}
	return protocol.Unlimited
}

// TestChaosMeetsGroups: the worlds of TestChaosPartners have groups that are granted, at several
// sites at once and on whole nodes, that limits end and that miss their starts, and partners that
// leave while they have jobs.
func TestChaosMeetsGroups(t *testing.T) {
	t.Parallel()
	met := map[string]int{}
	for seed := uint64(7_000_000); seed < 7_000_150; seed++ {
		c := newChaos(t, seed)
		c.world.Journal = func(line string) { c.meet(met, line) }
		c.changePartners()
		c.run(t)
	}
	for what, least := range map[string]int{
		"group granted at a partner": 20, "group on whole nodes": 20, "limit of time": 10, "limit of costs": 10,
		"start missed": 2, "partner that leaves": 100,
	} {
		if met[what] < least {
			t.Errorf("%s: met %d times, want %d at least", what, met[what], least)
		}
	}
}

// meet counts what a line of the journal tells of groups and partners.
func (c *chaos) meet(met map[string]int, line string) {
	if strings.Contains(line, "(all sites of its group hold room") {
		words := strings.Fields(line) // a: fact granted a1 b …
		if c.sites[protocol.SiteName(words[4])].Capacity.WholeNode {
			met["group on whole nodes"]++
		}
		if words[2] == "granted" {
			met["group granted at a partner"]++
		}
		return
	}
	switch {
	case strings.Contains(line, "event start-missed"):
		met["start missed"]++
	case strings.Contains(line, "row ") && strings.Contains(line, "max_time"):
		met["limit of time"]++
	case strings.Contains(line, "row ") && strings.Contains(line, "max_cost"):
		met["limit of costs"]++
	case strings.Contains(line, "event partner-missing"):
		met["partner that leaves"]++
	}
}
