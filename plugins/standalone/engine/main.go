// Command engine is the built-in batch system as a plugin of its own: real
// processes of this machine, under the engine's policies.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// config is the plugin's configuration.
type config struct {
	CPUs      int               `toml:"cpus"`  // of the whole machine
	Nodes     int               `toml:"nodes"` // divides CPUs
	WholeNode bool              `toml:"whole_node"`
	Policy    string            `toml:"policy"` // of the queue, by its name in the engine
	Grace     protocol.Duration `toml:"grace"`  // between SIGTERM and SIGKILL
}

// shimCommand is the first argument of the process that watches a job.
const shimCommand = "shim"

func main() {
	if len(os.Args) > 1 && os.Args[1] == shimCommand {
		os.Exit(process.ShimMain(os.Args[2:]))
	}
	sdk.Main(sdk.Scheduler[config]{
		Name: "engine", Version: "1.0.0", About: "Switchyard's own batch system, over real processes",
		Defaults: config{CPUs: 1, Nodes: 1, Policy: "easy", Grace: 10 * protocol.Second},
		Check:    check, Make: open, Engine: simulate,
	})
}

func check(r *sdk.Reader, c *config) {
	r.AtLeast("cpus", c.CPUs, 1)
	r.AtLeast("nodes", c.Nodes, 1)
	if c.Nodes > 0 && c.CPUs%c.Nodes != 0 {
		r.Problem("nodes", "%d nodes do not divide %d cpus", c.Nodes, c.CPUs)
	}
	if _, err := engine.Named(c.Policy); err != nil {
		r.OneOf("policy", c.Policy, engine.Names()...)
	}
}

func (c config) capacity() protocol.Capacity {
	return protocol.Capacity{CPUs: c.CPUs, Nodes: c.Nodes, WholeNode: c.WholeNode}
}

func open(c config, host sdk.Host) (localsched.Scheduler, error) {
	if host.StateDir == "" {
		return nil, errors.New("a batch system needs a folder for its jobs, and the host names none")
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
		Dir: filepath.Join(host.StateDir, "spool"), Site: host.Site, Capacity: c.capacity(), Policy: policy,
		GraceKill: c.Grace.Std(), Shim: []string{self, shimCommand},
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// simulate makes the engine alone, for the simulator.
func simulate(c config, machine protocol.Capacity) (localsched.Engine, error) {
	policy, err := engine.Named(c.Policy)
	if err != nil {
		return nil, err
	}
	return engine.New(engine.Of(machine), policy).Border(), nil
}
