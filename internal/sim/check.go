package sim

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer"
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
)

func newChecker(g *grid) *checker {
	return &checker{grid: g, state: make([]jobState, len(g.jobs)), last: beginning}
}

func (c *checker) arrived() { c.last = c.grid.now }

func (c *checker) started(s *site, index int32) {
	if c.state[index] != unstarted {
		c.grid.fail("job %d of the workload starts a second time, at %s", index, s.name)
	}
	c.state[index] = running
	c.running++
	c.last = c.grid.now
}

func (c *checker) archived(index int32, view peer.JobView) {
	c.last = c.grid.now
	switch {
	case c.state[index] == running && view.State == protocol.Completed:
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
		if load := s.batch.engine.Load(); load.Busy > load.CPUs || load.Busy < 0 {
			return fmt.Errorf("at %v: site %s runs %d CPUs of %d", c.grid.now.Sub(beginning), s.name, load.Busy, load.CPUs)
		}
	}
	return nil
}

// end checks that every job is over, or that no site could ever run it.
func (c *checker) end() error {
	for i, state := range c.state {
		if state == running {
			return fmt.Errorf("job %d of the workload was started and is not in its origin's archive", i)
		}
	}
	return c.machines()
}
