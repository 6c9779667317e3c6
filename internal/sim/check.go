package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// checker watches the invariants: no job starts twice, none is lost, no machine is
// overfull, and what the origin's archive says is what happened.
type checker struct {
	grid    *grid
	state   []jobState // of the workload's jobs
	running int
	last    protocol.Instant // of the last arrival, start or end
	steps   int
}

type jobState uint8

const (
	unstarted jobState = iota
	running
	over
	unfit // no site can run it
)

func newChecker(g *grid) *checker {
	return &checker{grid: g, state: make([]jobState, len(g.jobs)), last: g.zero}
}

func (c *checker) refused(index int32) { c.state[index] = unfit }

func (c *checker) arrived() { c.last = c.grid.now }

func (c *checker) started(s *site, index int32) {
	if c.state[index] != unstarted {
		c.grid.fail("job %d of the workload starts a second time, at %s", index, s.name)
	}
	c.state[index] = running
	c.running++
	c.last = c.grid.now
}

func (c *checker) archived(index int32, view view.Job) {
	c.last = c.grid.now
	switch {
	case c.state[index] == running && c.grid.endsAs(index, view.State):
		c.running--
	case c.state[index] == unstarted && view.State != protocol.Completed:
	default:
		c.grid.fail("job %d of the workload is archived as %v, but that is not what happened", index, view.State)
	}
	if p := c.grid.result.Placements[index]; p.Site >= 0 && view.Site != c.grid.sites[p.Site].name {
		c.grid.fail("job %d of the workload is archived as run at %s, but %s ran it",
			index, view.Site, c.grid.sites[p.Site].name)
	}
	c.state[index] = over
}

// sometimes makes the full check every [Config.Check] moments.
func (c *checker) sometimes() {
	if c.grid.cfg.Check <= 0 {
		return
	}
	if c.steps++; c.steps%c.grid.cfg.Check == 0 {
		if err := c.machines(); err != nil && c.grid.failure == nil {
			c.grid.failure = err
		}
	}
}

// machines checks that no machine runs more than it can.
func (c *checker) machines() error {
	for _, s := range c.grid.sites {
		if s.batch == nil {
			continue
		}
		if load := s.batch.load(); load.Busy > load.CPUs || load.Busy < 0 {
			return fmt.Errorf("at %v: site %s runs %d CPUs of %d", c.grid.now.Sub(c.grid.zero), s.name, load.Busy, load.CPUs)
		}
	}
	return nil
}

// end checks that every job has ended, fits nowhere, or is still known to its origin
// as waiting, and that no machine ever ran more than it has.
func (c *checker) end() error {
	waiting := c.waiting()
	for i, state := range c.state {
		switch {
		case state == running:
			return fmt.Errorf("job %d of the workload was started and is not in its origin's archive", i)
		case state == unstarted && !waiting[int32(i)]:
			return fmt.Errorf("job %d of the workload is lost: it never started, and its origin does not know it", i)
		}
	}
	return c.overlaps()
}

// waiting are the jobs that their origins still hold. Of components it notes why.
func (c *checker) waiting() map[int32]bool {
	waiting := map[int32]bool{}
	for _, s := range c.grid.sites {
		for _, one := range s.late {
			for _, index := range c.grid.indices(one) {
				waiting[index] = true
			}
		}
		if s.peer == nil {
			for _, index := range s.sent {
				waiting[index] = true // its rows are there
			}
			continue
		}
		for _, answer := range s.peer.Step(c.grid.now, event.AskQueue{}).Answers {
			queue, _ := answer.Reply.(view.Queue)
			for _, view := range queue.Jobs {
				if index, err := c.grid.indexOf(view.ID); err == nil && !view.Guest && view.State == protocol.Pending {
					waiting[index] = true
					c.grid.parts.seen(index, view)
				}
			}
		}
	}
	return waiting
}

// overlaps checks by the placements alone that no machine was ever overfull.
func (c *checker) overlaps() error {
	type change struct {
		at    protocol.Instant
		units int
	}
	models, err := c.grid.models()
	if err != nil {
		return err
	}
	changes := make([][]change, len(models))
	for i, p := range c.grid.result.Placements {
		if p.Site < 0 {
			continue
		}
		job := &c.grid.jobs[i]
		units, reason := models[p.Site].Units(protocol.Request{CPUs: job.CPUs, WallTime: 1})
		if reason != "" {
			return fmt.Errorf("job %d of the workload ran at %s: %s", i, c.grid.machines[p.Site].Name, reason)
		}
		changes[p.Site] = append(changes[p.Site], change{p.Start, units}, change{p.End, -units})
	}
	for site, all := range changes {
		slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.units, b.units)) })
		taken, most := 0, models[site].NewFreeSet().Free()
		for _, one := range all {
			if taken += one.units; taken > most {
				return fmt.Errorf("at %v: %s runs %d of %d nodes or CPUs", protocol.Duration(one.at), c.grid.machines[site].Name, taken, most)
			}
		}
	}
	return nil
}

// models are those of the machines.
func (g *grid) models() (models []engine.Machine, err error) {
	models = make([]engine.Machine, len(g.machines))
	for i := range models {
		if models[i], err = g.machines[i].Model(); err != nil {
			return nil, fmt.Errorf("site %s: %w", g.machines[i].Name, err)
		}
	}
	return models, nil
}
