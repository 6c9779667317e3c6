package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAlone: under a policy that sends nothing away jobs wait at home although a
// partner is idle, and one that does not fit there is refused, whoever else could
// run it. The site still takes guests.
func TestAlone(t *testing.T) {
	t.Parallel()
	capacity := func(cpus int) protocol.Capacity { return protocol.Capacity{CPUs: cpus, Nodes: cpus} }
	w, err := peertest.New(peertest.Options{Seed: 1, Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: capacity(4), Policy: local.New()}, {Name: "b", Capacity: capacity(8)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	job := func(cpus int) protocol.Job {
		return peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{
			Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}, Name: "x",
		})
	}
	a := w.Site("a")
	w.Submit("a", "ada", "", job(4), job(4), job(4))
	if wires := w.Wires(); len(wires) != 0 {
		t.Errorf("%d messages were sent", len(wires))
	}
	for _, stored := range a.Rows().Jobs() {
		if stored.Phase != row.JobCommittedLocal {
			t.Errorf("job %v is %s", stored.Spec.Job, stored.Phase)
		}
	}
	asked := w.Submit("a", "ada", "", job(8))
	if refusal, ok := a.Answer(asked).(view.Refusal); !ok || refusal.Code != view.NoSite || len(refusal.Sites) != 2 {
		t.Errorf("a job for b's machine: %+v", a.Answer(asked))
	}
	w.Submit("b", "ada", "", job(8), job(2))
	for wires := w.Wires(); len(wires) > 0; wires = w.Wires() {
		w.Deliver(wires[0])
	}
	w.Advance(4 * protocol.Minute)
	for wires := w.Wires(); len(wires) > 0; wires = w.Wires() {
		w.Deliver(wires[0])
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
	if left := a.Rows().Jobs(); len(left) != 0 {
		t.Errorf("%d jobs of a have not ended", len(left))
	}
}
