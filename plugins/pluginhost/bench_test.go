package pluginhost_test

import (
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// BenchmarkDecide compares policy tc in another process with the same in this one:
// the target for the largest round is twice the time and 50 ms.
func BenchmarkDecide(b *testing.B) {
	for _, size := range []struct {
		name        string
		jobs, sites int
	}{{"1x3", 1, 3}, {"64x8", 64, 8}, {"10000x58", 10_000, 58}} {
		for _, way := range []string{"tls", "plain"} {
			b.Run(size.name+"/"+way, func(b *testing.B) {
				spec := specOf(b, "tc")
				if way == "plain" {
					spec.Plain, spec.SHA256 = true, sumOf(b, spec.Path)
				}
				remote, local, in := up(b, spec).Policy(), tc.New(tc.Config{Epsilon: tc.DefaultEpsilon}), round(size.jobs, size.sites)
				compare(b,
					func() error { _, _, err := local.Decide(b.Context(), in); return err },
					func() error { _, _, err := remote.Decide(b.Context(), in); return err })
			})
		}
	}
}

// BenchmarkQuote asks the memory scheduler, which answers at once: what is measured is
// the way there and back.
func BenchmarkQuote(b *testing.B) {
	for _, size := range []struct {
		name string
		jobs int
	}{{"1", 1}, {"10000", 10_000}} {
		b.Run(size.name, func(b *testing.B) {
			spec := specOf(b, "memory")
			spec.Kind = pluginhost.SchedulerKind
			remote, local := up(b, spec).Scheduler(), &memory{}
			var query localsched.Query
			for j := range size.jobs {
				query.Jobs = append(query.Jobs, protocol.Request{Job: tagOf(uint64(j + 100)).Job, CPUs: 1, WallTime: protocol.Hour})
			}
			compare(b,
				func() error { _, err := local.Quote(b.Context(), query); return err },
				func() error { _, err := remote.Quote(b.Context(), query); return err })
		})
	}
}

// BenchmarkTick is the least call of an engine, as the simulator makes many.
func BenchmarkTick(b *testing.B) {
	spec := specOf(b, "memory")
	spec.Kind = pluginhost.SchedulerKind
	capacity := protocol.Capacity{CPUs: 8, Nodes: 1}
	remote, err := up(b, spec).Engine(capacity)
	if err != nil {
		b.Fatal(err)
	}
	local := engine.New(engine.PerCPU(capacity), engine.EASY()).Fallible()
	compare(b,
		func() error { _, err := local.Tick(1); return err },
		func() error { _, err := remote.Tick(1); return err })
}

// compare reports the time of a remote call, that of a local one, their ratio, and how
// much the remote one takes beyond twice the local one.
func compare(b *testing.B, local, remote func() error) {
	b.Helper()
	if err := remote(); err != nil {
		b.Fatal(err)
	}
	rounds, began := 0, time.Now()
	for rounds < 3 || time.Since(began) < 300*time.Millisecond {
		if err := local(); err != nil {
			b.Fatal(err)
		}
		rounds++
	}
	inside := time.Since(began).Seconds() * 1000 / float64(rounds)
	for b.Loop() {
		if err := remote(); err != nil {
			b.Fatal(err)
		}
	}
	outside := b.Elapsed().Seconds() * 1000 / float64(b.N)
	b.ReportMetric(inside, "ms/local")
	b.ReportMetric(outside, "ms/remote")
	b.ReportMetric(outside/inside, "x-local")
	b.ReportMetric(outside-2*inside, "ms/beyond2x")
}
