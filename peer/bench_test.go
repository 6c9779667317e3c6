package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// BenchmarkStepSubmit is the core's share of taking a job in: one step, with
// other jobs waiting.
func BenchmarkStepSubmit(b *testing.B) {
	p, err := peer.New(goodConfig(), 1, nil)
	if err != nil {
		b.Fatal(err)
	}
	now := peertest.Epoch
	p.Step(now, event.Tick{})
	job := peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "x",
	})
	jobs := []protocol.Job{job}
	b.ReportAllocs()
	for b.Loop() {
		now++
		p.Step(now, event.Submit{Asked: 1, User: "ada", Jobs: jobs})
	}
}

// BenchmarkHandOff hands jobs from one site of three to the others, with every
// message through its wire form: from submission to the result's acknowledgement.
func BenchmarkHandOff(b *testing.B) {
	var sites []peertest.SiteOptions
	for _, name := range []protocol.SiteName{"a", "b", "c"} {
		sites = append(sites, peertest.SiteOptions{Name: name, Capacity: protocol.Capacity{CPUs: 64, Nodes: 64}})
	}
	w, err := peertest.New(peertest.Options{Seed: 1, Sites: sites})
	if err != nil {
		b.Fatal(err)
	}
	plan := peertest.Plan{Run: protocol.Second}
	spec := protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "x", Sites: []protocol.SiteName{"b", "c"},
	}
	const batch = 64
	jobs := make([]protocol.Job, batch)
	for i := range jobs {
		jobs[i] = plan.Job(spec)
	}
	deliver := func() {
		for wires := w.Wires(); len(wires) > 0; wires = w.Wires() {
			for _, wire := range wires {
				w.Deliver(wire)
			}
		}
	}
	done := 0
	for b.Loop() {
		w.Submit("a", "ada", "", jobs...)
		deliver()
		w.Advance(protocol.Second)
		deliver()
		done += batch
	}
	if err = w.Err(); err != nil {
		b.Fatal(err)
	}
	if busy := w.Quiet(); busy != "" {
		b.Fatal(busy)
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "jobs/s")
}
