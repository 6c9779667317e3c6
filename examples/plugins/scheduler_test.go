package plugins_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// openScheduler is a scheduler in a process that ends when it is closed. The example holds
// room, as the engine that it drives does.
type openScheduler struct {
	localsched.Scheduler
	localsched.Reserver
	io.Closer
}

// TestSchedulerConformance: in a process of its own the scheduler runs real jobs as
// every batch system must.
func TestSchedulerConformance(t *testing.T) {
	t.Parallel()
	dir := publicDir(t)
	spec, log := goScheduler().spec(t, "cpus = 4\nkill_grace = \"1s\""), logOf(t)
	spec.Host.Site, spec.Host.StateDir = "here", filepath.Join(dir, "state")
	if err := os.Mkdir(spec.Host.StateDir, 0o711); err != nil {
		t.Fatal(err)
	}
	localschedtest.Test(t, localschedtest.Target{
		Account: jobAccount(t).Username, Dir: jobDir(t, dir), Limit: protocol.Second, Restart: true,
		Open: func(ctx context.Context) (localsched.Scheduler, error) {
			plugin, err := pluginhost.Open(spec, log) //nolint:contextcheck // it runs until it is closed
			if err != nil {
				return nil, err
			}
			if err = plugin.Wait(ctx); err != nil {
				return nil, errors.Join(err, plugin.Close())
			}
			scheduler := plugin.Scheduler()
			reserver, holds := scheduler.(localsched.Reserver)
			if !holds {
				return nil, errors.Join(errors.New("the example holds no room"), plugin.Close())
			}
			return openScheduler{scheduler, reserver, plugin}, nil
		},
	})
}

// TestEngineConformance: the same for its engine, as the simulator uses it.
func TestEngineConformance(t *testing.T) {
	t.Parallel()
	plugin := goScheduler().open(t, "")
	localschedtest.TestEngine(t, localschedtest.EngineTarget{Open: plugin.Engine})
}

// TestSchedulerConfigurations: mistakes are told with line and key.
func TestSchedulerConfigurations(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"cpus = 4\nnodes = 3":  "plugin.toml:2: nodes: 3 nodes do not divide 4 CPUs",
		"cpus = -1":            "plugin.toml:1: cpus: is -1; use 0 or more",
		"nodes = 0":            "plugin.toml:1: nodes: is 0; use 1 or more",
		"kill_grace = \"0s\"":  "plugin.toml:1: kill_grace: is 0",
		"cpus = 4\npolicy = 1": "plugin.toml:2: policy: unknown key",
	} {
		if err := failure(t, goScheduler(), config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", config, err, want)
		}
	}
}
