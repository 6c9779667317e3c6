package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestArraySpreads: the elements of a large array run at all sites by their free CPUs, with many elements in each round.
func TestArraySpreads(t *testing.T) {
	t.Parallel()
	const elements = 1000
	w, err := peertest.New(peertest.Options{Seed: 5, Faults: gentle(), Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 100, Nodes: 1}, MaxJobs: elements},
		{Name: "b", Capacity: protocol.Capacity{CPUs: 300, Nodes: 1}, MaxJobs: elements},
		{Name: "c", Capacity: protocol.Capacity{CPUs: 600, Nodes: 1}, MaxJobs: elements},
	}})
	if err != nil {
		t.Fatal(err)
	}
	rounds := 0
	w.Journal = func(line string) {
		if strings.HasPrefix(line, "a:   event round-opened") {
			rounds++
		}
	}
	job := peertest.Plan{Run: protocol.Hour}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: 2 * protocol.Hour}})
	array, err := protocol.ParseArray("0-999")
	if err != nil {
		t.Fatal(err)
	}
	job.Array = &array
	asked := w.Submit("a", "ada", "", job)
	for range 60 {
		w.Advance(protocol.Second)
	}
	submitted, ok := w.Site("a").Answer(asked).(view.Submitted)
	if !ok {
		t.Fatalf("%+v", w.Site("a").Answer(asked))
	}
	running := map[protocol.SiteName]int{}
	for _, stored := range w.Site("a").Rows().Jobs() {
		if stored.State == protocol.Running {
			running[stored.Site]++
		}
	}
	all := 0
	for site, cpus := range map[protocol.SiteName]int{"a": 100, "b": 300, "c": 600} {
		if all += running[site]; running[site] < cpus*9/10 { // of the last round some come where others were placed meanwhile
			t.Errorf("%d elements run at %s, which has %d CPUs", running[site], site, cpus)
		}
	}
	if rounds > 2*elements/64 {
		t.Errorf("%d rounds have placed %d elements", rounds, elements)
	}
	queue := w.Ask("a", func(asked event.AskID) event.Event { return event.AskJob{Asked: asked, Job: submitted.Jobs[0]} })
	w.Advance(protocol.Second)
	if got, ok := w.Site("a").Answer(queue).(view.Job); !ok || got.Array == nil || got.Array.Running != all || got.State != protocol.Running {
		t.Errorf("%+v", w.Site("a").Answer(queue))
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}
