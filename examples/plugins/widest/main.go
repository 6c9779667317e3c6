// Command widest is a local-scheduler plugin of Switchyard, and an example to copy: a
// batch system over real processes that starts the widest job first. The order is in
// order.go; this file makes a plugin of it, for peers and for the simulator.
package main

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// config is what the plugin reads from the file that the host names: its machine.
type config struct {
	CPUs      int               `toml:"cpus"` // of the whole machine; 0: as many as this computer has
	Nodes     int               `toml:"nodes"`
	WholeNode bool              `toml:"whole_node"` // a node runs one job at a time
	Grace     protocol.Duration `toml:"kill_grace"` // from TERM to KILL
}

// shim is the first argument of the process that watches over a job.
const shim = "shim"

func main() {
	// The shim stays under every job for as long as it runs, so it comes first.
	if len(os.Args) > 1 && os.Args[1] == shim {
		os.Exit(process.ShimMain(os.Args[2:]))
	}
	sdk.Main(sdk.Scheduler[config]{
		Name:     "widest",
		Version:  "1.0.0",
		About:    "processes of this computer, the widest job first",
		Defaults: config{Nodes: 1, Grace: 10 * protocol.Second},
		Check:    check,
		Make:     open,
		Engine:   simulate,
	})
}

// check finds what is wrong with a configuration.
func check(r *sdk.Reader, c *config) {
	r.AtLeast("cpus", c.CPUs, 0)
	r.AtLeast("nodes", c.Nodes, 1)
	if cpus := c.capacity().CPUs; c.Nodes > 0 && cpus%c.Nodes != 0 {
		r.Problem("nodes", "%d nodes do not divide %d CPUs; choose numbers that do", c.Nodes, cpus)
	}
	r.Positive("kill_grace", c.Grace)
}

// capacity is the machine that the plugin drives.
func (c *config) capacity() protocol.Capacity {
	return protocol.Capacity{CPUs: cmp.Or(c.CPUs, runtime.NumCPU()), Nodes: c.Nodes, WholeNode: c.WholeNode}
}

// open drives real jobs, for a peer.
func open(c config, host sdk.Host) (localsched.Scheduler, error) {
	if host.StateDir == "" {
		return nil, errors.New("a batch system needs a directory for its jobs, and the host names none")
	}
	return process.Open(process.Config{
		Dir:       filepath.Join(host.StateDir, "spool"),
		Site:      host.Site,
		Capacity:  c.capacity(),
		Policy:    WidestFirst(),
		GraceKill: c.Grace.Std(),
		Shim:      []string{"/proc/self/exe", shim}, // jobs' accounts need not reach our file
		Log:       slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	})
}

// simulate decides what starts when, for the simulator. The machine is that of the
// experiment.
func simulate(_ config, machine protocol.Capacity) (localsched.Engine, error) {
	return Engine(machine), nil
}
