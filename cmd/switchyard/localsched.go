package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/foresight"
	"github.com/switchyard-hpc/switchyard/localsched/gate"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/plugins/catalog"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// openScheduler opens the batch system that the configuration names.
func (p *peerProcess) openScheduler(ctx context.Context) (err error) {
	if p.shim, err = shimLine(ctx, p.log); err != nil {
		return err
	}
	var opened localsched.Scheduler
	switch name := p.cfg.LocalSched.Plugin; name {
	case config.Process:
		opened, err = p.openProcess() //nolint:contextcheck // it runs until it is closed
	case config.SlurmCommands:
		opened, err = p.openSlurm(ctx)
	default:
		opened, err = p.openPlugin(ctx, name)
	}
	if err != nil {
		return err
	}
	p.scheduler = opened
	if p.process == nil {
		if err = p.gate(ctx); err != nil {
			return err
		}
	}
	if tariff := p.cfg.SiteTariff(); tariff.Currency != "" {
		p.scheduler = localsched.WithTariff(p.scheduler, tariff)
	}
	if p.capacity, err = p.describe(ctx); err != nil {
		return err
	}
	return p.foresee()
}

// gate has the jobs of another batch system wait in the peer while the power budget does not
// allow them. A site without a budget has no gate, unless it holds jobs of an earlier time.
func (p *peerProcess) gate(ctx context.Context) error {
	dir := filepath.Join(string(p.cfg.Site.StateDir), "gate")
	empty, err := gate.Empty(dir)
	if err != nil {
		return fmt.Errorf("[power]: %w", err)
	}
	if empty && !p.cfg.Power.Budgeted() {
		return nil
	}
	capacity, err := p.describe(ctx)
	if err != nil {
		return err
	}
	if err = p.budget.SetCPUs(capacity.CPUs); err != nil {
		return err
	}
	opened, err := gate.Open(gate.Config{ //nolint:contextcheck // it runs until it is closed
		Dir: dir, Machine: engine.Of(capacity), Budget: p.budget.Current(), Scheduler: p.scheduler, Log: p.log,
	})
	if err != nil {
		return fmt.Errorf("[power]: %w", err)
	}
	p.pendingDraw = opened.Pending
	p.onStop("the gate of the local scheduler", opened.Close)
	p.budget.Attach(opened.SetBudget)
	p.scheduler = catalog.CheckedScheduler(opened)
	return nil
}

// foresee has quotes tell what came of earlier ones.
func (p *peerProcess) foresee() error {
	foreseen, err := foresight.New(foresight.Method(p.cfg.LocalSched.Waits), p.capacity.CPUs)
	if err != nil {
		return fmt.Errorf("[localsched] waits: %w", err)
	}
	// Waits are learnt by the clock that nobody sets.
	clock := wallclock.System()
	p.scheduler = foresight.Over(p.scheduler, foreseen, func() protocol.Instant { return protocol.Instant(clock().Steady) })
	return nil
}

func (p *peerProcess) openProcess() (localsched.Scheduler, error) {
	policy, err := engine.Named(p.cfg.LocalSched.Policy)
	if err != nil {
		return nil, fmt.Errorf("[localsched] policy: %w", err)
	}
	onStop := process.LeaveJobs
	if p.cfg.LocalSched.OnStop == config.End {
		onStop = process.EndJobs
	}
	machine, err := p.cfg.LocalSched.Engine(runtime.NumCPU())
	if err != nil {
		return nil, fmt.Errorf("[localsched]: %w", err)
	}
	p.process, err = process.Open(process.Config{
		Dir:       filepath.Join(string(p.cfg.Site.StateDir), "spool"),
		Site:      p.cfg.Site.Name,
		Capacity:  p.cfg.LocalSched.Capacity(runtime.NumCPU()),
		Machine:   machine,
		Policy:    policy,
		Budget:    p.budget.Current(),
		Learn:     p.cfg.Power.Learn && p.cfg.Power.Budgeted(),
		Paused:    true, // until the peer knows that its rows are not a copy's
		MaxOutput: p.cfg.LocalSched.MaxOutput.Bytes(),
		Cgroup:    p.cfg.LocalSched.Cgroup,
		GraceKill: p.cfg.LocalSched.Grace.Std(),
		Shim:      p.shim,
		Log:       p.log,
		OnStop:    onStop,

		MaxProcesses: p.cfg.LocalSched.MaxProcesses,
	})
	if err != nil {
		return nil, fmt.Errorf("[localsched]: %w", err)
	}
	p.onStop("the local scheduler", p.process.Close)
	p.budget.Attach(p.process.SetBudget)
	return catalog.CheckedScheduler(p.process), nil
}

func (p *peerProcess) openSlurm(ctx context.Context) (localsched.Scheduler, error) {
	table := p.cfg.LocalSched.Slurm
	opened, err := slurm.Open(ctx, slurm.Config{
		Dir:        cmp.Or(string(table.Spool), filepath.Join(string(p.cfg.Site.StateDir), "slurm")),
		Site:       p.cfg.Site.Name,
		Conf:       string(table.Conf),
		Bin:        string(table.Bin),
		Partitions: table.Partitions,
		Poll:       table.Poll.Std(),
		JobComp:    string(table.JobComp),
		Extra:      table.Extra,
		MaxOutput:  p.cfg.LocalSched.MaxOutput.Bytes(),
		Log:        p.log,

		NodeExporter: table.Exporter,
		Reservations: table.Reservations,
	})
	if err != nil {
		return nil, fmt.Errorf("[localsched.slurm]: %w", err)
	}
	p.onStop("the local scheduler", opened.Close)
	return catalog.CheckedScheduler(opened), nil
}

// openPlugin opens a local scheduler that is a plugin. One that is not up is no
// error: calls say why, until it is.
func (p *peerProcess) openPlugin(ctx context.Context, name string) (localsched.Scheduler, error) {
	started, err := p.plugin(p.cfg.Plugin(config.LocalSchedKind, name)) //nolint:contextcheck // it runs until it is closed
	if err != nil {
		return nil, err
	}
	if err := started.Wait(ctx); err != nil {
		p.log.Error("local_scheduler_not_up", "plugin", name, "error", err,
			"advice", "it is started again until it comes up; `switchyard plugin list` says how it is")
	}
	return started.Scheduler(), nil
}

// describePatience bounds how long a batch system may take to say what it is.
const describePatience = 30 * time.Second

// describe asks the batch system for the machine that it has. What it says is kept:
// a batch system that is down when the peer starts must not keep the peer from
// looking after the jobs that are there.
func (p *peerProcess) describe(ctx context.Context) (protocol.Capacity, error) {
	kept := filepath.Join(string(p.cfg.Site.StateDir), "machine.json")
	limited, cancel := context.WithTimeout(ctx, describePatience)
	defer cancel()
	described, err := p.scheduler.Describe(limited)
	if err == nil {
		err = keepMachine(kept, described)
	} else {
		described, err = p.asLastKnown(kept, err)
	}
	if err = errors.Join(err, p.mayProtect(&described)); err != nil {
		return protocol.Capacity{}, err
	}
	_, holds := p.scheduler.(localsched.Reserver)
	p.reserves = holds && slices.Contains(described.Capabilities, localsched.Reserve)
	return p.withSpeed(described.Capacity), nil
}

// asLastKnown is what a batch system has said before that says nothing now, and why.
func (p *peerProcess) asLastKnown(kept string, why error) (localsched.Description, error) {
	last, err := lastMachine(kept)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return last, fmt.Errorf("[localsched]: the batch system does not say what machine it has, and never has to this peer: %w; "+
			"see whether it runs, and start the peer again", why)
	case err != nil:
		return last, fmt.Errorf("[localsched]: the batch system does not say what machine it has: %w", errors.Join(why, err))
	}
	p.log.Warn("machine_as_last_known", "why", why, "cpus", last.Capacity.CPUs, "nodes", last.Capacity.Nodes)
	return last, nil
}

// mayProtect says why the batch system cannot protect the own users as it is told to.
func (p *peerProcess) mayProtect(d *localsched.Description) error {
	unknown := d.Name == "" // a peer of an earlier version has not kept it, and the batch system is down
	if p.cfg.Protect.Delay == 0 || unknown || slices.Contains(d.Capabilities, localsched.Delays) {
		return nil
	}
	return fmt.Errorf("[protect] delay: the batch system %s cannot tell whom a job would delay; leave it out, and use share", d.Name)
}

// withSpeed adds the speed of a CPU, which few batch systems know.
func (p *peerProcess) withSpeed(c protocol.Capacity) protocol.Capacity {
	c.MHz = cmp.Or(p.cfg.LocalSched.MHz, c.MHz)
	c.Mflops = cmp.Or(p.cfg.LocalSched.Mflops, c.Mflops)
	return c
}

// knownCPUs are those of the machine as far as that is known before its batch system says
// it; 0: not.
func (p *peerProcess) knownCPUs() int {
	if p.cfg.LocalSched.Plugin == config.Process {
		return p.cfg.LocalSched.Capacity(runtime.NumCPU()).CPUs
	}
	last, err := lastMachine(filepath.Join(string(p.cfg.Site.StateDir), "machine.json"))
	if err != nil {
		return 0 // describe tells
	}
	return last.Capacity.CPUs
}

// keptMachine is machine.json. Earlier versions have kept the capacity alone.
type keptMachine struct {
	protocol.Capacity
	Name         string   `json:",omitempty"`
	Capabilities []string `json:",omitempty"`
}

func keepMachine(path string, d localsched.Description) error {
	if err := statedir.WriteJSON(path, keptMachine{d.Capacity, d.Name, d.Capabilities}); err != nil {
		return fmt.Errorf("keep what the batch system says of its machine: %w", err)
	}
	return nil
}

func lastMachine(path string) (localsched.Description, error) {
	var kept keptMachine
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err == nil && kept.CPUs < 1 {
		err = fmt.Errorf("%s names no CPUs", path)
	}
	return localsched.Description{Name: kept.Name, Capacity: kept.Capacity, Capabilities: kept.Capabilities}, err
}
