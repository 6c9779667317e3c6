package sim_test

import (
	"context"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
)

// six is the grid of [SS 4.2].
func six(initiation policy.Initiation) sim.Config {
	cfg := sim.Config{
		Seed: 1, Scheme: sim.Distributed, Policy: tc.New(tc.Config{Epsilon: tc.DefaultEpsilon}),
		Tuning: peer.Tuning{Initiation: initiation, RoundJobs: 1},
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
		})
	}
}
