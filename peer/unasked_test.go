package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestUnaskedSaysWhy: a partner that is asked about some jobs of a round is shown with the reason
// why it is not asked about the others.
func TestUnaskedSaysWhy(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(c *rules.Config) { c.Capacity = protocol.Capacity{CPUs: 16, Nodes: 1} }, idle(peertest.Greedy{}, atOnce))
	of := func(cpus int, sites ...protocol.SiteName) protocol.Job {
		return peertest.Plan{Run: 1}.Job(protocol.Spec{
			Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}, Name: "x", Sites: sites,
		})
	}
	l.step(event.TestSubmit{Asked: 1, User: "ada", Jobs: []protocol.Job{of(1), of(1, "a"), of(10)}})
	request, ok := l.last().(protocol.QuoteRequest)
	if !ok || len(request.Jobs) != 1 {
		t.Fatalf("sent %+v", l.sent)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{
		Round: request.Round, MaxJobs: 1, Quotes: []protocol.Quote{{Job: request.Jobs[0].Job, ERT: protocol.Hour}},
	}})
	quoted, ok := l.answers[len(l.answers)-1].(view.TestSubmitResult)
	if !ok || len(quoted.Jobs) != 3 {
		t.Fatalf("answered %+v", l.answers)
	}
	for i, want := range []string{"", "not among the sites that the job names", "needs 10 CPUs, the site has 8"} {
		for _, q := range quoted.Jobs[i] {
			if q.Site == "b" && q.Declined != want {
				t.Errorf("job %d: b says %q, want %q", i+1, q.Declined, want)
			}
		}
	}
}
