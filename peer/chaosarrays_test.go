package peer_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestChaosArrays lets random grids with a nemesis have arrays, of which some elements are cancelled, and some are held for
// a while; some arrays wait for other jobs and arrays, and some jobs, elements and arrays are changed. No element may start
// twice or before what it waits for, no more may be placed or run than the array allows, and all must end.
func TestChaosArrays(t *testing.T) {
	t.Parallel()
	runSeeds(t, func(i uint64) uint64 { return i + 8_000_000 }, (*chaos).submitArrays)
}

// TestChaosArraysRestored does the same where the rows of an earlier time are put back.
func TestChaosArraysRestored(t *testing.T) {
	t.Parallel()
	tellsLives := func(i uint64) uint64 { return 2*i + 10_000_000 }
	runSeeds(t, tellsLives, func(c *chaos) {
		c.submitArrays()
		c.restore()
		c.operate()
	})
}

// TestChaosCorresponding has arrays wait, with each element, for elements of arrays of any site: some of which are cancelled, have
// ended by then, or never were.
func TestChaosCorresponding(t *testing.T) {
	t.Parallel()
	runSeeds(t, func(i uint64) uint64 { return i + 12_000_000 }, (*chaos).submitCorresponding)
}

// TestChaosCorrespondingRestored does the same where the rows of an earlier time are put back.
func TestChaosCorrespondingRestored(t *testing.T) {
	t.Parallel()
	runSeeds(t, func(i uint64) uint64 { return 2*i + 14_000_000 }, func(c *chaos) { // those that tell lives
		c.submitCorresponding()
		c.restore()
		c.operate()
	})
}

// submitCorresponding has arrays arrive that wait for elements of earlier ones.
func (c *chaos) submitCorresponding() {
	arrays := []protocol.JobID{}
	for range 4 + c.rng.IntN(12) {
		c.world.After(c.between(0, int64(c.span)-1), func() {
			sites := c.world.Sites()
			s := sites[c.rng.IntN(len(sites))]
			wall := c.between(1000, 20_000)
			job := peertest.Plan{Run: c.between(1, int64(wall)), Exit: c.rng.IntN(4) / 3}.Job(protocol.Spec{
				Request: protocol.Request{CPUs: 1, WallTime: wall}, Name: "corresponding",
			})
			indexes := c.indexes(1 + c.rng.IntN(20))
			job.Array = &protocol.Array{Indexes: indexes, Throttle: c.rng.IntN(4)}
			if len(arrays) > 0 && c.rng.IntN(4) > 0 {
				d := &protocol.Dependency{KillInvalid: true, Any: c.rng.IntN(6) == 0}
				for range 1 + c.rng.IntN(2) {
					d.Terms = append(d.Terms, protocol.DependencyTerm{Kind: protocol.AfterCorr, Job: arrays[c.rng.IntN(len(arrays))]})
				}
				job.Conditions.Dependency = d
			}
			asked := c.world.Submit(s.Name, "ada", "", job)
			c.world.After(c.between(0, 20_000), func() {
				submitted, ok := s.Answer(asked).(view.Submitted)
				if !ok {
					return
				}
				arrays = append(arrays, submitted.Jobs[0])
				if some, _ := indexes.Split(c.rng.IntN(20)); !some.IsZero() && c.rng.IntN(4) == 0 {
					c.world.CancelElements(s.Name, protocol.JobName{Job: submitted.Jobs[0], Elements: some})
				}
			})
		})
	}
}

// submitArrays has some arrays arrive.
func (c *chaos) submitArrays() {
	for range 1 + c.rng.IntN(8) {
		c.world.After(c.between(0, int64(c.span)-1), c.arriveArray)
	}
	for range c.rng.IntN(20) {
		c.world.After(c.between(0, int64(c.span)-1), c.updateOne)
	}
	c.world.After(c.span+90*protocol.Second, c.releaseAll)
}

// arriveArray submits an array that each site can run.
func (c *chaos) arriveArray() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(1+c.rng.IntN(len(sites)))] // those of one site wait for each other
	wall := c.between(1000, 20_000)
	job := peertest.Plan{Run: c.between(1, int64(wall)), Exit: c.rng.IntN(2)}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: wall}, Requeue: c.rng.IntN(3) == 0, Name: "array",
	})
	indexes := c.indexes(1 + c.rng.IntN(20))
	job.Array = &protocol.Array{Indexes: indexes}
	if c.rng.IntN(2) == 0 {
		job.Array.Throttle = 1 + c.rng.IntN(5)
	}
	if c.rng.IntN(2) == 0 {
		job.Conditions.Dependency = c.dependency(c.open(s), protocol.AfterCorr)
	}
	asked := c.world.Submit(s.Name, "ada", "", job)
	change := func(do func(protocol.JobID)) {
		c.world.After(c.between(0, 60_000), func() {
			if submitted, ok := s.Answer(asked).(view.Submitted); ok {
				do(submitted.Jobs[0])
			}
		})
	}
	if c.rng.IntN(2) == 0 {
		some, _ := indexes.Split(c.rng.IntN(20)) // none: all
		change(func(id protocol.JobID) {
			c.world.CancelElements(s.Name, protocol.JobName{Job: id, Elements: some})
		})
	}
	for range c.rng.IntN(8) {
		change(func(id protocol.JobID) {
			held := id
			if c.rng.IntN(4) > 0 {
				held = protocol.Element{Array: id, Index: indexes.First() + c.rng.IntN(min(3, 1+indexes.Last()-indexes.First()))}.ID()
			}
			c.holdAgain(s.Name, held, 1+c.rng.IntN(3))
		})
	}
}

// holdAgain holds and releases a job, an element or an array some times.
func (c *chaos) holdAgain(site protocol.SiteName, id protocol.JobID, times int) {
	if times == 0 {
		return
	}
	c.setHold(site, id, true)
	c.world.After(c.between(1, 30_000), func() {
		c.setHold(site, id, false)
		c.world.After(c.between(1, 10_000), func() { c.holdAgain(site, id, times-1) })
	})
}

// open are the jobs and arrays of a site that have not ended, and elements of arrays, in order.
func (c *chaos) open(s *peertest.Site) (ids []protocol.JobID) {
	for _, job := range s.Rows().Jobs() {
		ids = append(ids, job.Spec.Job)
	}
	for _, stored := range s.Rows().Rows[row.ArrayTable] {
		if array, ok := stored.(row.Array); ok {
			ids = append(ids, array.ID(), protocol.Element{Array: array.ID(), Index: array.Asked.Indexes.Last()}.ID())
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// dependency is one on a job or array among some, or on all that are older and of the same name. A job that it keeps from ever
// starting ends.
func (c *chaos) dependency(on []protocol.JobID, more ...protocol.DependencyKind) *protocol.Dependency {
	d := &protocol.Dependency{KillInvalid: true, Any: c.rng.IntN(4) == 0}
	kinds := append(more, protocol.After, protocol.AfterAny, protocol.AfterOK, protocol.AfterNotOK)
	for range 1 + c.rng.IntN(2) {
		t := protocol.DependencyTerm{Kind: protocol.Singleton}
		if len(on) > 0 && c.rng.IntN(4) > 0 {
			t = protocol.DependencyTerm{Kind: kinds[c.rng.IntN(len(kinds))], Job: on[c.rng.IntN(len(on))]}
		}
		d.Terms = append(d.Terms, t)
	}
	return d
}

// updateOne changes a job, an element or an array, as root. It may be made to wait for older ones of its site alone, so that no
// jobs wait for each other by way of those of other sites.
func (c *chaos) updateOne() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	open := c.open(s)
	if len(open) == 0 {
		return
	}
	at := c.rng.IntN(len(open))
	job, isJob := s.Rows().Job(open[at])
	var change protocol.Change
	now := c.world.Now().Add(c.sites[s.Name].Skew)
	switch c.rng.IntN(8) {
	case 0:
		change.WallTime = new(c.between(1000, 60_000))
	case 1:
		name := strconv.Itoa(c.rng.Int())
		c.refused[name], change.Name = isJob && c.refused[job.Spec.Name], new(name)
	case 2:
		change.Nice, change.Priority = new(int64(c.rng.IntN(100))), new(int64(c.rng.IntN(1000)))
	case 3:
		change.Begin = new(now.Add(c.between(1, 60_000)))
	case 4:
		change.Dependency = &protocol.Dependency{}
	case 5:
		change.Anywhere = true
		if isJob && job.Component == nil && c.rng.IntN(2) == 0 {
			change.Anywhere, change.Sites = false, []protocol.SiteName{sites[c.rng.IntN(len(sites))].Name}
		}
	default:
		var more []protocol.DependencyKind
		if _, isArray := s.Rows().Array(open[at]); isArray || isJob && job.Element.Array != 0 {
			more = append(more, protocol.AfterCorr)
		}
		change.Dependency = c.dependency(open[:at], more...)
	}
	if _, isArray := s.Rows().Array(open[at]); isArray && c.rng.IntN(4) == 0 {
		change.Throttle = new(0) // with a lower one too many would run for a while
	}
	c.world.Ask(s.Name, func(asked event.AskID) event.Event {
		return event.Update{Asked: asked, Job: open[at], Change: change, User: "root", Admin: true}
	})
}

func (c *chaos) setHold(site protocol.SiteName, id protocol.JobID, hold bool) {
	c.world.Ask(site, func(asked event.AskID) event.Event {
		return event.SetHold{Asked: asked, Job: id, Hold: hold, User: "root", Admin: true}
	})
}

// releaseAll releases what is still held, since a crash has lost the word.
func (c *chaos) releaseAll() {
	for _, s := range c.world.Sites() {
		for _, stored := range s.Rows().Rows[row.ArrayTable] {
			if array, ok := stored.(row.Array); ok && array.Job.Wants().Hold != "" {
				c.setHold(s.Name, array.ID(), false)
			}
		}
		for _, job := range s.Rows().Jobs() {
			if job.Wants().Hold != "" {
				c.setHold(s.Name, job.Spec.Job, false)
			}
		}
	}
}

// indexes are some indexes of elements.
func (c *chaos) indexes(n int) protocol.Indexes {
	all := make([]int, n)
	for i := range all {
		all[i] = c.rng.IntN(40)
	}
	return protocol.IndexesOf(all...)
}
