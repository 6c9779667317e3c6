package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// three is a small grid of unlike machines.
func three(initiation policy.Initiation) sim.Config {
	cfg := sim.Config{
		Seed: 1, Scheme: sim.Distributed, Policy: tc.New(tc.Config{Epsilon: tc.DefaultEpsilon}),
		Tuning: rules.RuntimeConfig{Initiation: initiation, RoundJobs: 1}, Bytes: true, Check: 10,
	}
	for i, m := range []sim.Machine{
		{Nodes: 16, CPUsPerNode: 4, MHz: 375, WholeNode: true},
		{Nodes: 32, CPUsPerNode: 2, MHz: 300},
		{Nodes: 8, CPUsPerNode: 8, MHz: 1300, WholeNode: true},
	} {
		m.Name = protocol.SiteName(fmt.Sprintf("m%d", i+1))
		cfg.Sites = append(cfg.Sites, sim.Site{Machine: m, Local: engine.EASY()})
	}
	return cfg
}

// work makes jobs for the first two of three sites, more than they can do.
func work(n int, seed uint64) []workload.Job {
	rng := rand.New(rand.NewPCG(seed, 2))
	jobs := make([]workload.Job, n)
	at := protocol.Instant(0)
	for i := range jobs {
		at += protocol.Instant(rng.Int64N(120_000))
		run := protocol.Duration(1000 + rng.Int64N(3_600_000))
		jobs[i] = workload.Job{
			ID: int64(i + 1), Origin: rng.IntN(2), Submit: at, CPUs: 1 + rng.IntN(32),
			Run: run, Estimate: run * protocol.Duration(1+rng.IntN(3)),
		}
	}
	return jobs
}

func run(t testing.TB, cfg sim.Config, jobs []workload.Job) (*sim.Result, sim.Metrics) {
	t.Helper()
	r, err := sim.Run(context.Background(), cfg, jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, sim.Measure(cfg.Machines(), jobs, r)
}

func schemes() map[string]sim.Config {
	all := map[string]sim.Config{
		"local": three(policy.Sender), "sender": three(policy.Sender), "receiver": three(policy.Receiver),
		"symmetric": three(policy.Symmetric), "central": three(policy.Sender), "ideal": three(policy.Sender),
	}
	change := func(name string, by func(*sim.Config)) {
		cfg := all[name]
		by(&cfg)
		all[name] = cfg
	}
	change("local", func(c *sim.Config) { c.Policy = local.New() })
	change("central", func(c *sim.Config) { c.Scheme = sim.Central })
	change("ideal", func(c *sim.Config) { c.Scheme = sim.Ideal })
	return all
}

// TestSameSeedSameTrace: two runs agree in all that happened, under every scheme.
func TestSameSeedSameTrace(t *testing.T) {
	t.Parallel()
	for name, cfg := range schemes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobs := work(300, 1)
			a, _ := run(t, cfg, jobs)
			b, _ := run(t, cfg, jobs)
			if !reflect.DeepEqual(a, b) {
				t.Errorf("two runs differ: %x, %x", a.Hash, b.Hash)
			}
			cfg.Seed = 2
			if c, _ := run(t, cfg, work(300, 2)); c.Hash == a.Hash {
				t.Error("another seed and workload give the same hash")
			}
		})
	}
}

// TestEveryJobRunsOnce: whatever the scheme and local policies, every job runs
// once, where it fits, not before it was submitted, as long as that machine takes.
func TestEveryJobRunsOnce(t *testing.T) {
	t.Parallel()
	for name, cfg := range schemes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				cfg := cfg
				cfg.Seed = rapid.Uint64Range(1, 1000).Draw(rt, "seed")
				cfg.Sites = append([]sim.Site(nil), cfg.Sites...)
				for i := range cfg.Sites {
					p, err := engine.Named(rapid.SampledFrom(engine.Names()).Draw(rt, "local policy"))
					if err != nil {
						rt.Fatal(err)
					}
					cfg.Sites[i].Local = p
				}
				jobs := work(rapid.IntRange(1, 60).Draw(rt, "jobs"), cfg.Seed)
				r, err := sim.Run(context.Background(), cfg, jobs, nil)
				if err != nil {
					rt.Fatal(err)
				}
				checkPlacements(rt, cfg, jobs, r)
			})
		})
	}
}

func checkPlacements(t rapid.TB, cfg sim.Config, jobs []workload.Job, r *sim.Result) {
	for i, p := range r.Placements {
		job := jobs[i]
		if p.Site < 0 || p.Start < job.Submit {
			t.Fatalf("job %d of %d: placed %+v, submitted at %d", i, len(jobs), p, job.Submit)
		}
		if cfg.Scheme == sim.Ideal {
			continue
		}
		m := cfg.Sites[p.Site].Machine
		if want := job.Run.Rescale(cfg.Sites[job.Origin].MHz, m.MHz); p.End.Sub(p.Start) != want {
			t.Fatalf("job %d ran %v at %s, want %v", i, p.End.Sub(p.Start), m.Name, want)
		}
		if job.CPUs > m.CPUs() {
			t.Fatalf("job %d of %d CPUs ran at %s, which has %d", i, job.CPUs, m.Name, m.CPUs())
		}
		if _, alone := cfg.Policy.(local.Policy); alone && p.Site != job.Origin {
			t.Fatalf("job %d left its site under the policy local", i)
		}
	}
}

// TestFaults: late, lost, doubled and reordered messages, cuts and crashes lose no
// job and start none twice (the simulator checks each start and each end).
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, initiation := range []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric} {
		t.Run(string(initiation), func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 5; seed++ {
				cfg := three(initiation)
				cfg.Seed = seed
				cfg.Network = sim.Network{
					Link:  sim.Link{Latency: 20, Jitter: 500, Loss: 0.1, Duplicate: 0.1},
					Links: []sim.LinkBetween{{A: 1, B: 2, Link: sim.Link{Latency: 900}}},
					Cuts: []sim.Cut{
						{A: 0, B: -1, From: 600_000, Until: 1_500_000},
						{A: 0, B: 2, From: 1_000_000, Until: 3_000_000},
					},
				}
				cfg.Crashes = []sim.Crash{
					{Site: 0, At: 2_000_000, For: 30_000},
					{Site: 1, At: 3_000_000, For: 600_000},
					{Site: 2, At: 3_100_000, For: 1000},
					{Site: 2, At: 5_000_000, For: 1_000_000},
				}
				jobs := work(200, seed)
				r, m := run(t, cfg, jobs)
				if m.Unplaced > 0 || r.Traffic.Lost == 0 {
					t.Errorf("seed %d: %d jobs never ran, %d messages lost", seed, m.Unplaced, r.Traffic.Lost)
				}
				again, _ := run(t, cfg, jobs)
				if again.Hash != r.Hash {
					t.Errorf("seed %d: two runs differ", seed)
				}
			}
		})
	}
}

// TestLinks: what one link loses concerns no other one.
func TestLinks(t *testing.T) {
	t.Parallel()
	cfg := three(policy.Sender)
	cfg.Network.Links = []sim.LinkBetween{{A: 0, B: -1, Link: sim.Link{Loss: 0.999}}, {A: 0, B: 2, Link: sim.Link{Latency: 5}}}
	_, m := run(t, cfg, work(300, 1))
	if a, b := m.Sites[0], m.Sites[1]; a.Sent == 0 || b.Sent == 0 || m.Unplaced > 0 {
		t.Errorf("sites %+v", m.Sites)
	}
	if r, _ := run(t, cfg, work(300, 1)); r.Traffic.Lost == 0 {
		t.Error("nothing was lost")
	}
}

// TestACrashHoldsItsOwnJobsBack: they are submitted when the peer is back; those of
// other sites come in time.
func TestACrashHoldsItsOwnJobsBack(t *testing.T) {
	t.Parallel()
	cfg := three(policy.Sender)
	cfg.Crashes = []sim.Crash{{Site: 0, At: 50, For: 1000}}
	job := func(origin int, submit protocol.Instant) workload.Job {
		return workload.Job{Origin: origin, Submit: submit, Run: 10, Estimate: 10, CPUs: 1}
	}
	r, m := run(t, cfg, []workload.Job{job(0, 100), job(1, 100), job(0, 200), job(1, 300)})
	var starts []protocol.Instant
	for _, p := range r.Placements {
		starts = append(starts, p.Start)
	}
	if want := []protocol.Instant{1050, 100, 1050, 300}; !slices.Equal(starts, want) || m.Unplaced != 0 {
		t.Errorf("starts %v, want %v", starts, want)
	}
}

// never is a policy that places nothing.
type never struct{}

func (never) Info() policy.Info {
	return policy.Info{Name: "never", Initiations: []policy.Initiation{policy.Sender}}
}

func (never) Decide(context.Context, policy.Snapshot) ([]policy.Decision, []byte, error) {
	return nil, nil, nil
}

// TestJobsThatAreNotPlacedWait: the simulation ends all the same, and says so.
// homely sends away what would wait for long, and has no use for φ.
type homely struct{}

func (homely) Info() policy.Info {
	return policy.Info{Name: "homely", Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric}}
}

func (homely) Decide(_ context.Context, in policy.Snapshot) (decisions []policy.Decision, hint []byte, err error) {
	for j := range in.Jobs {
		best := in.Self
		for s := range in.Sites {
			if home := in.AWT[in.At(j, in.Self)]; home > protocol.Hour && in.AWT[in.At(j, s)] < home && in.Sites[s].MaxJobs > 0 {
				best = s
			}
		}
		if wait := in.AWT[in.At(j, best)]; wait != protocol.Never {
			decisions = append(decisions, policy.Decision{Job: j, Site: best, Wait: wait})
		}
	}
	return decisions, nil, nil
}

// A policy without the φ shortcut decides about the own site itself, whatever opens
// the rounds: no job waits for a volunteer that may never come.
func TestPoliciesWithoutShortcutPlaceAllJobs(t *testing.T) {
	t.Parallel()
	for _, initiation := range []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric} {
		cfg := three(initiation)
		cfg.Policy = homely{}
		_, m := run(t, cfg, work(300, 5))
		if m.Unplaced > 0 || m.Jobs != 300 {
			t.Errorf("%s: %d jobs ran, %d were not placed", initiation, m.Jobs, m.Unplaced)
		}
	}
}

func TestJobsThatAreNotPlacedWait(t *testing.T) {
	t.Parallel()
	cfg := three(policy.Sender)
	cfg.Policy = never{}
	if _, m := run(t, cfg, work(20, 1)); m.Unplaced != 20 || m.Jobs != 0 {
		t.Errorf("%d jobs ran, %d did not", m.Jobs, m.Unplaced)
	}
}

// TestJobsThatFitNowhereStayUnplaced: they are counted and disturb nobody.
func TestJobsThatFitNowhereStayUnplaced(t *testing.T) {
	t.Parallel()
	jobs := work(50, 1)
	jobs[10].CPUs, jobs[20].CPUs = 65, 10_000
	_, m := run(t, three(policy.Sender), jobs)
	if m.Unplaced != 2 || m.Jobs != 48 {
		t.Errorf("%d jobs ran, %d did not", m.Jobs, m.Unplaced)
	}
}

// TestSchemesKeepTheirPromises: each scheme of [SS] is better than local and worse
// than ideal on a grid that is overloaded at two of three sites.
func TestSchemesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	jobs := work(400, 3)
	got := map[string]sim.Metrics{}
	for name, cfg := range schemes() {
		_, got[name] = run(t, cfg, jobs)
	}
	for _, name := range []string{"sender", "receiver", "symmetric", "central"} {
		if got[name].MeanWait >= got["local"].MeanWait || got[name].GridEfficiency <= got["local"].GridEfficiency {
			t.Errorf("%s is no better than local: wait %.0f s of %.0f, efficiency %.3f of %.3f",
				name, got[name].MeanWait, got["local"].MeanWait, got[name].GridEfficiency, got["local"].GridEfficiency)
		}
		if got["ideal"].MeanResponse > got[name].MeanResponse {
			t.Errorf("%s beats the ideal: response %.0f s, %.0f", name, got[name].MeanResponse, got["ideal"].MeanResponse)
		}
	}
	if l := got["local"]; l.Transferred != 0 || l.MessagesPerJob != 0 || l.BytesPerJob != 0 {
		t.Errorf("local moves %.3f of the jobs with %.1f messages", l.Transferred, l.MessagesPerJob)
	}
	if s := got["sender"]; s.BytesPerJob < s.MessagesPerJob {
		t.Errorf("%.1f bytes in %.1f messages for each job", s.BytesPerJob, s.MessagesPerJob)
	}
}

// TestPartnerSets: a site's jobs go to its partners only, and with more partners
// than a round asks, gossip chooses whom.
func TestPartnerSets(t *testing.T) {
	t.Parallel()
	cfg := three(policy.Sender)
	cfg.Sites = nil
	for i := range 40 {
		cfg.Sites = append(cfg.Sites, sim.Site{
			Machine: sim.Machine{Name: protocol.SiteName(fmt.Sprintf("s%d", i)), Nodes: 8, CPUsPerNode: 4}, Local: engine.EASY(),
		})
	}
	cfg.Tuning.PartnersPerRound = 2
	for _, partners := range []int{0, 4} {
		cfg.Partners = partners
		if _, m := run(t, cfg, work(500, 1)); m.Transferred == 0 || m.MessagesPerJob > 14 {
			t.Errorf("%d partners: %.3f moved with %.1f messages a job", partners, m.Transferred, m.MessagesPerJob)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	good := three(policy.Sender)
	for want, change := range map[string]func(*sim.Config, []workload.Job){
		"0 sites":                              func(c *sim.Config, _ []workload.Job) { c.Sites = nil },
		"the name m1 is taken":                 func(c *sim.Config, _ []workload.Job) { c.Sites[1].Name = "m1" },
		"site name":                            func(c *sim.Config, _ []workload.Job) { c.Sites[1].Name = "M" },
		"give positive numbers":                func(c *sim.Config, _ []workload.Job) { c.Sites[1].Nodes = 0 },
		"neither a local policy nor an engine": func(c *sim.Config, _ []workload.Job) { c.Sites[1].Local = nil },
		"of all machines or of none":           func(c *sim.Config, _ []workload.Job) { c.Sites[1].MHz = 0 },
		"the site is down already": func(c *sim.Config, _ []workload.Job) {
			c.Crashes = []sim.Crash{{Site: 1, At: 10, For: 20}, {Site: 1, At: 29, For: 1}}
		},
		"scheme \"x\" is unknown": func(c *sim.Config, _ []workload.Job) { c.Scheme = "x" },
		"the policy is missing":   func(c *sim.Config, _ []workload.Job) { c.Policy = nil },
		"latency and jitter":      func(c *sim.Config, _ []workload.Job) { c.Network.Loss = 1 },
		"no such site":            func(c *sim.Config, _ []workload.Job) { c.Crashes = []sim.Crash{{Site: 3, For: 1}} },
		"A:0 B:0": func(c *sim.Config, _ []workload.Job) {
			c.Network.Links = []sim.LinkBetween{{A: 0, B: 0}}
		},
		"no such sites":                    func(c *sim.Config, _ []workload.Job) { c.Network.Cuts = []sim.Cut{{A: 0, B: 3, Until: 1}} },
		"sort the workload":                func(_ *sim.Config, j []workload.Job) { j[1].Submit = 1 << 40 },
		"comes from site 3 of 3":           func(_ *sim.Config, j []workload.Job) { j[1].Origin = 3 },
		"clean the workload":               func(_ *sim.Config, j []workload.Job) { j[1].Estimate = 0 },
		"does not accept initiation":       func(c *sim.Config, _ []workload.Job) { c.Policy, c.Tuning.Initiation = never{}, policy.Receiver },
		"the history has 11 jobs of 10":    func(c *sim.Config, _ []workload.Job) { c.History = 11 },
		"jobs stays at home; use 0 to":     func(c *sim.Config, _ []workload.Job) { c.LocalShare = protocol.PPM + 1 },
		"use an ordered pair up to":        func(c *sim.Config, _ []workload.Job) { c.PowerLow, c.PowerHigh = 2, 1 },
		"size of data must not be":         func(c *sim.Config, _ []workload.Job) { c.Perturb = -1 },
		"data links of 2 sites for a grid": func(c *sim.Config, _ []workload.Job) { c.Stage.Links = make([][]sim.DataLink, 2) },
		"a count is negative; give a po":   func(c *sim.Config, _ []workload.Job) { c.Tuning.JobsPerVolunteer = -1 },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			cfg, jobs := good, work(10, 1)
			cfg.Sites = append([]sim.Site(nil), good.Sites...)
			change(&cfg, jobs)
			if _, err := sim.Run(context.Background(), cfg, jobs, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
}

func TestIdealRefusesTooMuchWork(t *testing.T) {
	t.Parallel()
	cfg := three(policy.Sender)
	cfg.Scheme = sim.Ideal
	jobs := make([]workload.Job, 5)
	for i := range jobs {
		jobs[i] = workload.Job{CPUs: 1 << 30, Run: 6_000_000, Estimate: 6_000_000}
	}
	if _, err := sim.Run(context.Background(), cfg, jobs, nil); err == nil || !strings.Contains(err.Error(), "64 bits") {
		t.Errorf("error %v", err)
	}
}

func TestCancelledRunStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := sim.Run(ctx, three(policy.Sender), work(10, 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestIdealByHand: two CPUs of 100 MHz are 200 units of work in a millisecond.
func TestIdealByHand(t *testing.T) {
	t.Parallel()
	cfg := sim.Config{
		Scheme: sim.Ideal, Policy: local.New(),
		Sites: []sim.Site{{Machine: sim.Machine{Name: "m", Nodes: 2, CPUsPerNode: 1, MHz: 100}, Local: engine.EASY()}},
	}
	job := func(submit protocol.Instant, cpus int, ms protocol.Duration) workload.Job {
		return workload.Job{Submit: submit, CPUs: cpus, Run: ms, Estimate: ms}
	}
	jobs := []workload.Job{
		job(0, 1, 100),  // 10,000 units: 50 ms alone
		job(10, 1, 10),  // 1,000 units: 5 ms, goes first as less is left of it
		job(10, 1, 10),  // the same, after it
		job(100, 4, 25), // 10,000 units on an idle machine
	}
	r, m := run(t, cfg, jobs)
	want := []sim.Placement{{Start: 0, End: 60}, {Start: 10, End: 15}, {Start: 15, End: 20}, {Start: 100, End: 150}}
	if !reflect.DeepEqual(r.Placements, want) {
		t.Errorf("placed %+v, want %+v", r.Placements, want)
	}
	if want := 22_000.0 / (200 * 150); m.GridEfficiency != want {
		t.Errorf("efficiency %v, want %v", m.GridEfficiency, want)
	}
}
