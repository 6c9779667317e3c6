package sim_test

import (
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// drawnLoad draws jobs whose work is so many percent of what 256 CPUs can do.
func drawnLoad(jobs, percent int) []workload.Job {
	random := rand.New(rand.NewPCG(7, 7))
	drawn := make([]workload.Job, jobs)
	at := 0.0
	for i := range drawn {
		size := 1 << random.IntN(8)
		estimate := 60_000 + protocol.Duration(random.ExpFloat64()*3_600_000)
		run := max(1, protocol.Duration(float64(estimate)*random.Float64()))
		drawn[i] = workload.Job{ID: int64(i), Submit: protocol.Instant(at), Run: run, Estimate: estimate, CPUs: size}
		at += float64(size) * float64(run) / 256 * 100 / float64(percent)
	}
	return drawn
}

// BenchmarkSchedule is one site under EASY, the simulation alone, against the
// rates of pyss that were recorded on another machine of this kind: jobs per CPU
// second.
func BenchmarkSchedule(b *testing.B) {
	traces := filepath.Join(sharedData, "traces")
	for _, c := range []struct {
		name  string
		procs int
		pyss  float64
		jobs  func(b *testing.B) []workload.Job
	}{
		{"5K-sample", 128, 13_200, func(b *testing.B) []workload.Job {
			b.Helper()
			return readJobs(b, filepath.Join(traces, "5K_sample_clean.swf.gz"))
		}},
		{"lublin-perfect", 256, 2_860, func(b *testing.B) []workload.Job {
			b.Helper()
			return readJobs(b, filepath.Join(traces, "lublin_256_perfect.swf.gz"))
		}},
		{"lublin-est", 256, 3_210, func(b *testing.B) []workload.Job {
			b.Helper()
			return readJobs(b, filepath.Join(traces, "lublin_256_est.swf.gz"))
		}},
		{"half-load", 256, 17_700, func(*testing.B) []workload.Job { return drawnLoad(100_000, 50) }},
		{"overload", 256, 640, func(*testing.B) []workload.Job { return drawnLoad(100_000, 400) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			jobs := c.jobs(b)
			machine := perCPUMachine(c.procs)
			b.ReportAllocs()
			before := cpuSeconds(b)
			for b.Loop() {
				if _, _, err := sim.Schedule(jobs, machine, engine.EASY(), sim.TiePyss); err != nil {
					b.Fatal(err)
				}
			}
			rate := float64(len(jobs)) * float64(b.N) / (cpuSeconds(b) - before)
			b.ReportMetric(rate, "jobs/cpu-s")
			b.ReportMetric(rate/c.pyss, "of-pyss")
		})
	}
}

// cpuSeconds is what the process has used, user and system.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return float64(used.Utime.Sec+used.Stime.Sec) + float64(used.Utime.Usec+used.Stime.Usec)/1e6
}
