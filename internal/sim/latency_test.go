package sim_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// lone is a site of one CPU with latencies.
func lone() sim.Config {
	return sim.Config{
		Seed: 1, Scheme: sim.Distributed, Policy: tc.New(tc.Config{}), Tuning: rules.RuntimeConfig{Initiation: policy.Sender, RoundJobs: 1},
		Sites: []sim.Site{{
			Machine: sim.Machine{Name: "one", Nodes: 1, CPUsPerNode: 1, MHz: 1000}, Local: engine.EASY(),
			Latencies: sim.Latencies{Commit: 10, Call: 2, Submit: 5, Start: 7, End: 3},
		}},
	}
}

// aSecond is a job of a CPU and a second.
func aSecond(id int64, submit protocol.Instant) workload.Job {
	return workload.Job{ID: id, Submit: submit, Run: 1000, Estimate: 2000, CPUs: 1}
}

// TestLatenciesOfAStart: a job is committed (10 ms), quoted (2), committed to the local queue (10),
// submitted (5) and started (7). The next one has its round after that (12 ms later in the queue), waits for its CPU until the
// end is through (3), and is started (7).
func TestLatenciesOfAStart(t *testing.T) {
	t.Parallel()
	cfg, jobs := lone(), []workload.Job{aSecond(1, 1000), aSecond(2, 1000)}
	got, _ := run(t, cfg, jobs)
	want := []sim.Placement{{Queued: 1027, Start: 1034, End: 2034}, {Queued: 1039, Start: 2044, End: 3044}}
	if !reflect.DeepEqual(got.Placements, want) {
		t.Errorf("placed %+v, want %+v", got.Placements, want)
	}
	cfg.JobLatencies = []*sim.JobLatencies{{Submit: 1, Start: 100}, nil}
	got, _ = run(t, cfg, jobs)
	want = []sim.Placement{{Queued: 1023, Start: 1123, End: 2123}, {Queued: 1039, Start: 2130, End: 3130}}
	if !reflect.DeepEqual(got.Placements, want) {
		t.Errorf("with latencies of its own the first is placed %+v, want %+v", got.Placements, want)
	}
}

// TestLatenciesKeepWhatHolds: with latencies too every job runs once and where it fits, and equal
// configurations give equal results.
func TestLatenciesKeepWhatHolds(t *testing.T) {
	t.Parallel()
	for _, initiation := range []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric} {
		cfg, jobs := three(initiation), work(200, 3)
		without, _ := run(t, cfg, jobs)
		cfg.Network.Latency = 20
		for i := range cfg.Sites {
			cfg.Sites[i].Latencies = sim.Latencies{Commit: 30, Call: 1, Submit: 40, Start: 200, End: 50}
		}
		a, _ := run(t, cfg, jobs)
		b, _ := run(t, cfg, jobs)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: two runs differ", initiation)
		}
		if a.Hash == without.Hash {
			t.Errorf("%s: latencies change nothing", initiation)
		}
		checkPlacements(t, cfg, jobs, a)
	}
}

// TestFirstCheck: a site that is idle volunteers at its first check and every σ later, and a job that
// waits for a volunteer leaves then.
func TestFirstCheck(t *testing.T) {
	t.Parallel()
	for _, first := range []protocol.Duration{2 * protocol.Second, 7 * protocol.Second} {
		cfg := lone()
		cfg.Tuning = rules.RuntimeConfig{Initiation: policy.Receiver, CheckInterval: 10 * protocol.Second, LocalWaitThreshold: 1}
		cfg.Sites[0].Latencies = sim.Latencies{}
		other := cfg.Sites[0]
		other.Name, other.FirstCheck = "two", first
		cfg.Sites[0].FirstCheck = 9 * protocol.Second
		cfg.Sites = append(cfg.Sites, other)
		long := aSecond(1, 0)
		long.Run, long.Estimate = 100_000, 100_000
		got, _ := run(t, cfg, []workload.Job{long, aSecond(2, 1000)})
		if want := (sim.Placement{Site: 1, Queued: protocol.Instant(first), Start: protocol.Instant(first), End: protocol.Instant(first) + 1000}); got.Placements[1] != want {
			t.Errorf("first check after %v: placed %+v, want %+v", first, got.Placements[1], want)
		}
	}
}

func TestLatenciesAreChecked(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*sim.Config){
		"none may be negative":    func(c *sim.Config) { c.Sites[0].Latencies.Commit = -1 },
		"of a job: none may be":   func(c *sim.Config) { c.Sites[0].Latencies.End = -1 },
		"job with index 0":        func(c *sim.Config) { c.JobLatencies = []*sim.JobLatencies{{Start: -1}} },
		"latencies of 2 jobs for": func(c *sim.Config) { c.JobLatencies = make([]*sim.JobLatencies, 2) },
		"first check is at -1ms":  func(c *sim.Config) { c.Sites[0].FirstCheck = -1 },
	} {
		cfg := lone()
		change(&cfg)
		if _, err := sim.Run(context.Background(), cfg, []workload.Job{aSecond(1, 0)}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
