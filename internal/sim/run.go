package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Run simulates a grid until all jobs have ended. Jobs are sorted by Submit, and
// their Origin is an index of Config.Sites. Progress receives now and then how many
// jobs have ended; it may be nil. Jobs that no site can ever run stay unplaced. The
// error says what is wrong with the configuration or the jobs, that an invariant
// does not hold, or is that of a cancelled ctx.
func Run(ctx context.Context, cfg Config, jobs []workload.Job, progress func(ended int)) (*Result, error) {
	if err := cfg.validate(jobs); err != nil {
		return nil, err
	}
	if cfg.Scheme == Ideal {
		r, err := ideal(cfg.Machines(), jobs)
		if err != nil {
			return nil, err
		}
		r.Hash, r.History = r.hash(0), cfg.History
		return r, nil
	}
	g, err := newGrid(cfg, jobs)
	if err != nil {
		return nil, err
	}
	defer g.close()
	if err = g.run(ctx, progress); err != nil {
		return nil, err
	}
	g.result.Events = int64(g.events) //nolint:gosec // a count
	g.account()
	g.result.Hash, g.result.History = g.result.hash(g.trace), cfg.History
	return g.result, nil
}

// Machines are the sites' machines.
func (c Config) Machines() []Machine {
	machines := make([]Machine, len(c.Sites))
	for i := range c.Sites {
		machines[i] = c.Sites[i].Machine
	}
	return machines
}

func (c Config) validate(jobs []workload.Job) error {
	problems := append(c.checkSites(), c.checkFaults()...)
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !slices.Contains([]Scheme{Distributed, Central, Ideal}, c.Scheme) {
		problem("scheme %q is unknown; use %q, %q or %q", c.Scheme, Distributed, Central, Ideal)
	}
	if c.Policy == nil {
		problem("the policy is missing")
	}
	problems = append(problems, c.checkApplications()...)
	problems = append(problems, c.checkJobTables(len(jobs))...)
	problems = append(problems, c.checkElectricity(len(jobs)), checkJobs(jobs, len(c.Sites)))
	return errors.Join(problems...)
}

func (c Config) checkSites() (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if n := len(c.Sites); n == 0 || n >= int(protocol.MaxSiteNumber) {
		problem("the grid has %d sites; give it 1 to %d", n, protocol.MaxSiteNumber-1)
	}
	names := map[protocol.SiteName]bool{portalName: true}
	for i, s := range c.Sites {
		if err := s.Name.Validate(); err != nil {
			problems = append(problems, err)
		}
		if names[s.Name] {
			problem("site %d: the name %s is taken", i+1, s.Name)
		}
		names[s.Name] = true
		if min(s.Nodes, s.CPUsPerNode) < 1 || s.MHz < 0 {
			problem("site %s: %d nodes of %d CPUs at %d MHz; give positive numbers", s.Name, s.Nodes, s.CPUsPerNode, s.MHz)
		}
		if (s.MHz == 0) != (c.Sites[0].MHz == 0) {
			problem("site %s: state the MHz of all machines or of none", s.Name)
		}
		if s.Local == nil && s.Engine == nil {
			problem("site %s has neither a local policy nor an engine", s.Name)
		}
		if err := errors.Join(s.checkMachine(), s.checkBudget()); err != nil {
			problem("site %s: %w", s.Name, err)
		}
	}
	return problems
}

// checkElectricity says what is wrong with what [MC] adds to a grid.
func (c Config) checkElectricity(jobs int) error {
	switch {
	case c.History < 0 || c.History > jobs:
		return fmt.Errorf("the history has %d jobs of %d", c.History, jobs)
	case c.LocalShare < 0 || c.LocalShare > protocol.PPM:
		return fmt.Errorf("a share of %d parts per million of the jobs stays at home; use 0 to %d", c.LocalShare, protocol.PPM)
	case c.PowerLow < 0 || c.PowerHigh < c.PowerLow || c.PowerHigh > protocol.MaxPower:
		return fmt.Errorf("the jobs' power is drawn from %d to %d parts per million; use an ordered pair up to %d", c.PowerLow, c.PowerHigh, protocol.MaxPower)
	case c.Perturb < 0 || slices.ContainsFunc(c.Stage.Sizes, func(bytes int64) bool { return bytes < 0 }):
		return errors.New("the error of waits and the size of data must not be negative")
	case c.Stage.Links != nil && len(c.Stage.Links) != len(c.Sites):
		return fmt.Errorf("data links of %d sites for a grid of %d", len(c.Stage.Links), len(c.Sites))
	}
	return nil
}

func (c Config) checkFaults() (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, cut := range c.Network.Cuts {
		if cut.A < 0 || cut.A >= len(c.Sites) || cut.B >= len(c.Sites) || cut.From < 0 || cut.Until <= cut.From {
			problem("cut %+v: no such sites, or no such time", cut)
		}
	}
	problems = append(problems, c.checkCrashes()...)
	return append(append(problems, c.checkLinks()...), c.Network.validate())
}

func (c Config) checkCrashes() (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for i, crash := range c.Crashes {
		if crash.Site < 0 || crash.Site >= len(c.Sites) || crash.For < 1 || crash.At < 0 {
			problem("crash %+v: no such site, or no such time", crash)
		}
		for _, other := range c.Crashes[:i] {
			if other.Site == crash.Site && crash.At <= other.At.Add(other.For) && other.At <= crash.At.Add(crash.For) {
				problem("crash %+v: the site is down already, since %v", crash, protocol.Duration(other.At))
			}
		}
	}
	return problems
}

func (c Config) checkLinks() (problems []error) {
	for _, link := range c.Network.Links {
		if link.A < 0 || link.A >= len(c.Sites) || link.B >= len(c.Sites) || link.A == link.B {
			problems = append(problems, fmt.Errorf("link %+v: no such sites", link))
		}
		problems = append(problems, link.validate())
	}
	return problems
}

func (l Link) validate() error {
	if l.Latency < 0 || l.Jitter < 0 || l.Loss < 0 || l.Loss >= 1 || l.Duplicate < 0 || l.Duplicate >= 1 {
		return fmt.Errorf("link %+v: latency and jitter must not be negative, loss and duplicate at least 0 and below 1", l)
	}
	return nil
}

// checkJobs says what is wrong with the first job that cannot be simulated.
func checkJobs(jobs []workload.Job, sites int) error {
	last := protocol.Instant(0)
	for i := range jobs {
		job := &jobs[i]
		switch {
		case job.Submit < last:
			return fmt.Errorf("job %d (index %d) is submitted before its predecessor; sort the workload", job.ID, i)
		case job.Origin < 0 || job.Origin >= sites:
			return fmt.Errorf("job %d (index %d) comes from site %d of %d", job.ID, i, job.Origin, sites)
		case job.CPUs < 1 || job.Run < 1 || job.Estimate < job.Run:
			return fmt.Errorf("job %d (index %d) has %d CPUs, run %v, estimate %v; clean the workload", job.ID, i, job.CPUs, job.Run, job.Estimate)
		}
		last = job.Submit
	}
	return nil
}
