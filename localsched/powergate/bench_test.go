package powergate_test

import (
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/powergate"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// BenchmarkHold has a job come, and be withdrawn, while a thousand are held.
func BenchmarkHold(b *testing.B) {
	config := powergate.Config{Dir: b.TempDir(), Machine: machine(), Scheduler: newFake(cpus), Budget: until(b, now().Add(protocol.Day), 0)}
	g, err := powergate.Open(config)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	submit := func(n int) localsched.Submission {
		job := submission(n, 1)
		if _, err := g.Submit(b.Context(), job); err != nil {
			b.Fatal(err)
		}
		return job
	}
	const held = 1000
	for n := range held {
		submit(n)
	}
	n := held
	for b.Loop() {
		job := submit(n)
		if _, err := g.Withdraw(b.Context(), job.Tag); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// BenchmarkRestore opens a gate with held jobs, and says how long each takes.
func BenchmarkRestore(b *testing.B) {
	for _, held := range []int{1000, 5000} {
		b.Run(strconv.Itoa(held), func(b *testing.B) {
			config := powergate.Config{Dir: b.TempDir(), Machine: machine(), Scheduler: newFake(cpus), Budget: until(b, now().Add(protocol.Day), 0)}
			g, err := powergate.Open(config)
			for n := 0; n < held && err == nil; n++ {
				_, err = g.Submit(b.Context(), submission(n, 1))
			}
			for err == nil && b.Loop() {
				g.Close()
				g, err = powergate.Open(config)
			}
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*held), "µs/job")
		})
	}
}
