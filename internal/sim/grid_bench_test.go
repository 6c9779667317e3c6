package sim_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// six is the grid of [SS 4.2].
func six(initiation policy.Initiation) sim.Config {
	cfg := sim.Config{
		Seed: 1, Scheme: sim.Distributed, Policy: tc.New(tc.Config{Epsilon: tc.DefaultEpsilon}),
		Tuning: rules.RuntimeConfig{Initiation: initiation, RoundJobs: 1},
	}
	for _, m := range workload.SuperschedulerMachines() {
		cfg.Sites = append(cfg.Sites, sim.Site{
			Machine: sim.MachineOf(m), Local: engine.EASY(),
		})
	}
	return cfg
}

// BenchmarkSixMachines runs the heavy synthetic workload of [SS 4.2].
func BenchmarkSixMachines(b *testing.B) {
	jobs, err := workload.Mix(workload.Heavy(), 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		cfg  func() sim.Config
	}{
		{"local", func() sim.Config { c := six(policy.Sender); c.Policy = local.New(); return c }},
		{"sender", func() sim.Config { return six(policy.Sender) }},
		{"symmetric", func() sim.Config { return six(policy.Symmetric) }},
		{"receiver", func() sim.Config { return six(policy.Receiver) }},
		{"central", func() sim.Config { c := six(policy.Sender); c.Scheme = sim.Central; return c }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				cfg := c.cfg()
				r, err := sim.Run(context.Background(), cfg, jobs, nil)
				if err != nil {
					b.Fatal(err)
				}
				m := sim.Measure(cfg.Machines(), jobs, r)
				b.ReportMetric(m.MeanWait, "wait_s")
				b.ReportMetric(m.Transferred, "moved")
				b.ReportMetric(m.GridEfficiency, "efficiency")
			}
			b.ReportMetric(float64(len(jobs))*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "of-target")
		})
	}
}

// BenchmarkThousandSites runs a million jobs at a thousand sites with 16 partners
// each, sender-initiated.
func BenchmarkThousandSites(b *testing.B) {
	const sites, jobs = 1000, 1_000_000
	cfg := sim.Config{
		Seed: 1, Scheme: sim.Distributed, Policy: tc.New(tc.Config{Epsilon: tc.DefaultEpsilon}),
		Tuning: rules.RuntimeConfig{Initiation: policy.Sender, RoundJobs: 1}, Partners: 16,
	}
	for i := range sites {
		cfg.Sites = append(cfg.Sites, sim.Site{
			Machine: sim.Machine{Name: protocol.SiteName(fmt.Sprintf("s%03d", i)), Nodes: 64, CPUsPerNode: 4, MHz: 300 + i%7*100},
			Local:   engine.EASY(),
		})
	}
	work := even(sites, jobs)
	for b.Loop() {
		r, err := sim.Run(context.Background(), cfg, work, nil)
		if err != nil {
			b.Fatal(err)
		}
		m := sim.Measure(cfg.Machines(), work, r)
		b.ReportMetric(m.MeanWait, "wait_s")
		b.ReportMetric(m.Transferred, "moved")
		b.ReportMetric(m.Utilization, "utilization")
		b.ReportMetric(m.MessagesPerJob, "messages/job")
	}
	b.ReportMetric(float64(jobs)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(600*float64(b.N)/b.Elapsed().Seconds(), "of-target")
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		b.ReportMetric(float64(usage.Maxrss)/(1<<20), "peak-GiB")
	}
}

// even makes jobs that keep 256 CPUs at each site busy at nine tenths, some sites
// more and some less.
func even(sites, jobs int) []workload.Job {
	rng := rand.New(rand.NewPCG(3, 3))
	out := make([]workload.Job, jobs)
	at := 0.0
	for i := range out {
		run := protocol.Duration(1000 * (60 + rng.ExpFloat64()*3600))
		out[i] = workload.Job{
			ID: int64(i + 1), Submit: protocol.Instant(at), Run: run, Estimate: run * 2,
			CPUs: 1 << rng.IntN(7), Origin: int(float64(sites) * math.Pow(rng.Float64(), 1.3)),
		}
		at += rng.ExpFloat64() * 18.14 * 3660e3 / 256 / 0.9 / float64(sites)
	}
	return out
}
