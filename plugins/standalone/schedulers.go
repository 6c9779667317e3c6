package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

type engineConfig struct {
	CPUs      int               `toml:"cpus"`  // of the whole machine
	Nodes     int               `toml:"nodes"` // divides CPUs
	WholeNode bool              `toml:"whole_node"`
	Policy    string            `toml:"policy"`     // of the queue, by its name in the engine
	Grace     protocol.Duration `toml:"kill_grace"` // between SIGTERM and SIGKILL
}

// engineScheduler is Switchyard's own local scheduler: real processes of this machine, under
// the engine's policies. The simulator has the engine alone.
func engineScheduler() sdk.Plugin {
	return sdk.Scheduler[engineConfig]{
		Name: "engine", Version: version, About: "Switchyard's own batch system, over real processes",
		Defaults: engineConfig{CPUs: 1, Nodes: 1, Policy: "easy", Grace: 10 * protocol.Second},
		Check:    checkEngine, Make: openEngine, Engine: simulateEngine,
	}
}

func checkEngine(r *sdk.Reader, c *engineConfig) {
	r.AtLeast("cpus", c.CPUs, 1)
	r.AtLeast("nodes", c.Nodes, 1)
	if c.Nodes > 0 && c.CPUs%c.Nodes != 0 {
		r.Problem("nodes", "%d nodes do not divide %d cpus", c.Nodes, c.CPUs)
	}
	if _, err := engine.Named(c.Policy); err != nil {
		r.OneOf("policy", c.Policy, engine.Names()...)
	}
}

func openEngine(c engineConfig, host sdk.Host) (localsched.Scheduler, error) {
	if host.StateDir == "" {
		return nil, errors.New("a batch system needs a directory for its jobs, and the host names none")
	}
	policy, err := engine.Named(c.Policy)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, which watches the jobs: %w", err)
	}
	return process.Open(process.Config{
		Dir: filepath.Join(host.StateDir, "spool"), Site: host.Site,
		Capacity: protocol.Capacity{CPUs: c.CPUs, Nodes: c.Nodes, WholeNode: c.WholeNode}, Policy: policy,
		GraceKill: c.Grace.Std(), Shim: []string{self, shimCommand},
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

func simulateEngine(c engineConfig, machine protocol.Capacity) (localsched.Engine, error) {
	policy, err := engine.Named(c.Policy)
	if err != nil {
		return nil, err
	}
	return engine.New(engine.Of(machine), policy).Fallible(), nil
}

// slurmConfig is that of [localsched.slurm].
type slurmConfig struct {
	Conf       string            `toml:"conf"`    // slurm.conf; empty: as the commands find it
	Bin        string            `toml:"bin_dir"` // directory of the commands; empty: PATH
	Partitions []string          `toml:"partitions"`
	Spool      string            `toml:"spool"` // empty: in the plugin's own directory
	Poll       protocol.Duration `toml:"poll_interval"`
	JobComp    string            `toml:"jobcomp_log"` // empty: asked from Slurm
	Extra      []string          `toml:"sbatch_args"` // added to every sbatch
}

func slurmScheduler() sdk.Plugin {
	return sdk.Scheduler[slurmConfig]{
		Name: "slurm", Version: version, About: "a real Slurm, driven through its commands",
		Defaults: slurmConfig{Poll: 2 * protocol.Second},
		Check:    func(r *sdk.Reader, c *slurmConfig) { r.Positive("poll_interval", c.Poll) },
		Make:     openSlurm,
	}
}

func openSlurm(c slurmConfig, host sdk.Host) (localsched.Scheduler, error) {
	if c.Spool == "" && host.StateDir == "" {
		return nil, errors.New("spool: is missing; name a directory that the compute nodes share")
	}
	return slurm.Open(context.Background(), slurm.Config{
		Dir: cmp.Or(c.Spool, filepath.Join(host.StateDir, "spool")), Site: host.Site,
		Conf: c.Conf, Bin: c.Bin, Partitions: c.Partitions, Poll: c.Poll.Std(), JobComp: c.JobComp, Extra: c.Extra,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}
