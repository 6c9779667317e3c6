package node_test

import (
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// BenchmarkSubmitInFlood submits ten jobs a second, durably, at a peer whose partner asks
// for quotes of 400 jobs without end. It prints the worst submission, which is to stay below
// 200 ms, and how much more memory the process held than before: at most 64 MB. The partner is
// in the same process, and its part counts too.
func BenchmarkSubmitInFlood(b *testing.B) {
	sites := startGrid(b, []protocol.Duration{protocol.Minute, protocol.Hour},
		func(address string) string { return address })
	target, partner := sites[0], sites[1]
	before := heldMemory()
	var most, asked atomic.Int64
	stop := make(chan struct{})
	var flood sync.WaitGroup
	until := func(step func()) {
		flood.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					step()
				}
			}
		})
	}
	until(func() {
		if partner.bus.Send(target.name, flooding(asked.Add(1))) != nil {
			b.Error("the flood ended")
		}
	})
	until(func() {
		most.Store(max(most.Load(), heldMemory()))
		time.Sleep(time.Millisecond)
	})
	var worst time.Duration
	users := time.NewTicker(100 * time.Millisecond)
	defer users.Stop()
	for b.Loop() {
		<-users.C
		start := time.Now()
		target.submit(b, 1)
		worst = max(worst, time.Since(start))
	}
	close(stop)
	flood.Wait()
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
	b.ReportMetric(float64(most.Load()-before)/(1<<20), "more-MB")
	b.ReportMetric(float64(asked.Load())/b.Elapsed().Seconds(), "questions/s")
}

// flooding is a question for 400 jobs.
func flooding(round int64) protocol.QuoteRequest {
	m := protocol.QuoteRequest{Round: protocol.RoundID(round), Deadline: 2 * protocol.Second, Jobs: make([]protocol.Spec, 400)}
	for i := range m.Jobs {
		m.Jobs[i] = protocol.Spec{
			Request: protocol.Request{Job: protocol.NewJobID(2, uint64(i+1)), CPUs: 1, WallTime: protocol.Minute}, User: "ann",
		}
	}
	return m
}

// heldMemory is the memory that the process holds of the operating system, in bytes.
func heldMemory() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64())
}
