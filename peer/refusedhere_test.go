package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestRefusedHereSaysWhy: a batch system that takes one job of each user at once refuses others. The
// queue has its words, and they are submitted again as soon as it has room, not after σ.
func TestRefusedHereSaysWhy(t *testing.T) {
	t.Parallel()
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 8, Nodes: 8}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := w.Site("a")
	a.Batch.Most = 1
	const jobs, run = 8, 5 * protocol.Second
	var all []protocol.Job
	for range jobs {
		all = append(all, peertest.Plan{Run: run}.Job(protocol.Spec{
			Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "x", User: "alice",
		}))
	}
	w.Submit("a", "alice", "", all...)
	w.Advance(2 * protocol.Second)
	queue, _ := a.Answer(w.AskOne(a, func(asked event.AskID) event.Event { return event.AskQueue{Asked: asked} })).(view.Queue)
	waiting := 0
	for _, v := range queue.Jobs {
		if v.State == protocol.Pending {
			waiting++
			if !strings.Contains(v.Reason, "MaxSubmitJobs: it has 1 job") {
				t.Errorf("job %v waits with %q", v.ID, v.Reason)
			}
		}
	}
	if waiting != jobs-1 {
		t.Errorf("%d jobs wait: %+v", waiting, queue.Jobs)
	}
	w.Advance(jobs*run + 10*protocol.Second)
	if got := len(a.Finished()); got != jobs {
		t.Errorf("%d jobs have ended, want %d", got, jobs)
	}
}

// TestRefusedThereSaysWhy: the reason of a job that a partner's batch system has refused has its words.
func TestRefusedThereSaysWhy(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	reported := ""
	w.Journal = func(line string) {
		if strings.Contains(line, "event requeued") {
			reported = line
		}
	}
	job := twoCPUs(protocol.Second)
	job.Payload = peertest.Plan{Refuse: true}.Payload()
	w.Submit("a", "alice", "", job)
	w.Advance(10 * protocol.Second)
	if !strings.Contains(reported, "b: the local scheduler refused it: its script asks to be refused") {
		t.Errorf("the job came back with %q", reported)
	}
}

// TestSuspendedIsShown: what a batch system says of a job that runs is its reason, until it says
// something else; the number that it has given to the job is shown, too.
func TestSuspendedIsShown(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	l.step(event.Disconnected{Site: "b"})
	l.step(submission(1))
	l.advance(protocol.Second)
	var tag protocol.Tag
	for _, op := range l.asked {
		if op, ok := op.(event.SubmitOp); ok {
			tag = op.Job.Tag
		}
	}
	for _, reason := range []string{"", "SUSPENDED", ""} {
		l.step(event.CallDone{ID: l.watching, Result: event.WatchResult{Watched: localsched.Watched{
			Changes: []localsched.Change{{Tag: tag, State: protocol.Running, Started: l.now, Reason: reason}},
		}}})
		if v := l.view(tag.Job); v.State != protocol.Running || v.Reason != reason || v.Local != "1" {
			t.Errorf("%v with the reason %q and the number %q, want RUNNING, %q, 1", v.State, v.Reason, v.Local, reason)
		}
	}
}
