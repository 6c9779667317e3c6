package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// scripted is a policy that fails a number of times, and then places every job up to a number of CPUs at its own
// site. What it is asked, and when, goes into a log.
type scripted struct {
	name  string
	fails int
	cpus  int
	log   *[]string
}

func (s *scripted) Info() policy.Info {
	return policy.Info{Name: s.name, Initiations: []policy.Initiation{policy.Sender}}
}

func (s *scripted) Decide(_ context.Context, in policy.Snapshot) (decisions []policy.Decision, hint []byte, err error) {
	said := []string{s.name + ":"}
	for i, job := range in.Jobs {
		d := policy.Decision{Job: i, Site: in.Self, Reason: s.name}
		if job.CPUs > s.cpus {
			d.Site = policy.NoSite
		}
		decisions = append(decisions, d)
		said = append(said, fmt.Sprintf("%d CPUs after %v at %d, hint %q;", job.CPUs, job.Waited, d.Site, in.Hint))
	}
	if s.fails > 0 {
		s.fails--
		*s.log = append(*s.log, strings.Join(append(said, "failed"), " "))
		return nil, nil, errors.New("the plugin is down")
	}
	*s.log = append(*s.log, strings.Join(said, " "))
	return decisions, []byte("of " + s.name), nil
}

// pair are a policy that fails twice, and a fallback that places small jobs only.
func pair() (plugin, fallback *scripted) {
	log := new([]string)
	return &scripted{"plugin", 2, 4, log}, &scripted{"fallback", 0, 1, log}
}

// live is what the policies of a live peer are asked about jobs of these CPUs.
func live(t *testing.T, cpus []int) (log []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		plugin, fallback := pair()
		surroundings := &quoting{}
		cfg := liveConfig(newMemory())
		cfg.Scheduler, cfg.Deliverer = surroundings, surroundings
		cfg.Policy, cfg.Fallback, cfg.Peer.Policy = plugin, fallback, policy.Describe(plugin)
		cfg.Seed = simulatedSeed + 1<<32 // of the first life of a simulated peer
		n, err := node.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		for _, wide := range cpus {
			ask[view.Submitted](t, n, func(asked event.AskID) event.Event {
				jobs := newJobs(1)
				jobs[0].Spec.CPUs = wide
				return event.Submit{Asked: asked, User: "ann", Jobs: jobs}
			})
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		log = *plugin.log
	})
	return log
}

const simulatedSeed = 7

// simulated is the same in the simulator.
func simulated(t *testing.T, cpus []int) []string {
	t.Helper()
	plugin, fallback := pair()
	cfg := sim.Config{
		Seed: simulatedSeed, Scheme: sim.Distributed, Policy: plugin, Fallback: fallback,
		Tuning: rules.RuntimeConfig{Initiation: policy.Sender},
		Sites:  []sim.Site{{Machine: sim.Machine{Name: "here", Nodes: 8, CPUsPerNode: 1}, Local: engine.EASY()}},
	}
	var jobs []workload.Job
	for i, wide := range cpus {
		jobs = append(jobs, workload.Job{
			ID: int64(i + 1), CPUs: wide, Run: 2 * protocol.Hour, Estimate: 2 * protocol.Hour,
		})
	}
	if _, err := sim.Run(t.Context(), cfg, jobs, nil); err != nil {
		t.Fatal(err)
	}
	return *plugin.log
}

// TestLiveAsSimulated: a policy that fails twice and then works, and the fallback policy,
// are asked the same, at the same times, by a live peer and by the simulator.
func TestLiveAsSimulated(t *testing.T) {
	cpus := []int{1, 4}
	there, here := simulated(t, cpus), live(t, cpus)
	if !slices.Equal(there, here) {
		t.Errorf("simulated:\n%q\nlive:\n%q", there, here)
	}
	if len(here) < 5 || here[0] != `plugin: 1 CPUs after 0s at 0, hint ""; failed` {
		t.Errorf("the scenario is too dull: %q", here)
	}
}
