package localqueue

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

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// KnownCPUs are those of the machine as far as that is known before its batch system says
// it; 0: not.
func KnownCPUs(cfg *config.Config) int {
	if cfg.LocalSched.Plugin == config.Process {
		return cfg.LocalSched.Capacity(runtime.NumCPU()).CPUs
	}
	last, err := loadMachine(machinePath(cfg))
	if err != nil {
		return 0 // Open reports it
	}
	return last.Capacity.CPUs
}

// machinePath is the file of what the batch system has said of its machine.
func machinePath(cfg *config.Config) string {
	return filepath.Join(string(cfg.Site.StateDir), "machine.json")
}

// describeTimeout bounds how long a batch system may take to say what it is.
const describeTimeout = 30 * time.Second

// describe asks the batch system for the machine that it has. What it says is kept:
// a batch system that is down when the peer starts must not keep the peer from
// looking after the jobs that are there.
func (q *Queue) describe(ctx context.Context) (protocol.Capacity, error) {
	kept := machinePath(q.cfg)
	limited, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	described, err := q.scheduler.Describe(limited)
	if err == nil {
		err = saveMachine(kept, described)
	} else {
		described, err = q.lastKnown(kept, err)
	}
	if err = errors.Join(err, q.checkProtection(&described), checkAssociations(q.cfg, &described)); err != nil {
		return protocol.Capacity{}, err
	}
	q.described = described
	_, holds := q.scheduler.(localsched.Reserver)
	q.reserves = holds && slices.Contains(described.Capabilities, localsched.Reserve)
	return q.withConfigured(described.Capacity), nil
}

// lastKnown is what a batch system has said before that says nothing now, and why.
func (q *Queue) lastKnown(kept string, why error) (localsched.Description, error) {
	last, err := loadMachine(kept)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return last, fmt.Errorf("[localsched]: the batch system does not say what machine it has, and never has to this peer: %w; "+
			"see whether it runs, and start the peer again", why)
	case err != nil:
		return last, fmt.Errorf("[localsched]: the batch system does not say what machine it has: %w", errors.Join(why, err))
	}
	q.log.Warn("capacity_from_cache", "why", why, "cpus", last.Capacity.CPUs, "nodes", last.Capacity.Nodes)
	return last, nil
}

// checkProtection says why the batch system cannot protect the local users as it is configured to.
func (q *Queue) checkProtection(d *localsched.Description) error {
	unknown := d.Name == "" // a peer of an earlier version has not kept it, and the batch system is down
	if q.cfg.GuestLimits.MaxOwnerDelay == 0 || unknown || slices.Contains(d.Capabilities, localsched.Delays) {
		return nil
	}
	return fmt.Errorf("[guest_limits] max_owner_delay: the batch system %s cannot tell whom a job would delay; leave it out, and use max_cpu_share", d.Name)
}

// Accepts says why the batch system cannot do what another configuration wants of it.
func (q *Queue) Accepts(next *config.Config) error { return checkAssociations(next, &q.described) }

// checkAssociations says why the batch system cannot do what the tables [[association]] say of jobs.
func checkAssociations(cfg *config.Config, d *localsched.Description) error {
	plugin := cfg.LocalSched.Plugin != config.Process && cfg.LocalSched.Plugin != config.SlurmCommands
	if len(cfg.Associations) == 0 || !plugin || slices.Contains(d.Capabilities, localsched.Associations) {
		return nil
	}
	return fmt.Errorf("[[association]]: the batch system %s does not use accounts, partitions and QOS of jobs, "+
		"as it has no capability %q; leave the tables out, or use another one", d.Name, localsched.Associations)
}

// withConfigured adds the speed of a CPU, which few batch systems know, and whether the site has a
// container command.
func (q *Queue) withConfigured(c protocol.Capacity) protocol.Capacity {
	c.MHz = cmp.Or(q.cfg.LocalSched.MHz, c.MHz)
	c.Mflops = cmp.Or(q.cfg.LocalSched.Mflops, c.Mflops)
	c.Containers = c.Containers || len(q.cfg.LocalSched.Container) > 0
	return c
}

// storedMachine is machine.json. Earlier versions have kept the capacity alone.
type storedMachine struct {
	protocol.Capacity
	Name         string   `json:",omitempty"`
	Capabilities []string `json:",omitempty"`
}

func saveMachine(path string, d localsched.Description) error {
	if err := statedir.WriteJSON(path, storedMachine{d.Capacity, d.Name, d.Capabilities}); err != nil {
		return fmt.Errorf("keep what the batch system says of its machine: %w", err)
	}
	return nil
}

func loadMachine(path string) (localsched.Description, error) {
	var kept storedMachine
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err == nil && kept.CPUs < 1 {
		err = fmt.Errorf("%s names no CPUs", path)
	}
	return localsched.Description{Name: kept.Name, Capacity: kept.Capacity, Capabilities: kept.Capabilities}, err
}
