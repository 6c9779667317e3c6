package peer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// gentle delivers everything soon, and loses nothing.
func gentle() *peertest.Nemesis {
	n := &peertest.Nemesis{Late: 10}
	n.Seed(1)
	return n
}

// twoSites are a, whose machine has no room for a job of two CPUs, and b.
func twoSites(t *testing.T) *peertest.World {
	t.Helper()
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 1, Nodes: 1}}, {Name: "b", Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func twoCPUs(run protocol.Duration) protocol.Job {
	return peertest.Plan{Run: run}.Job(protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: protocol.Hour}, Name: "x"})
}

// submit submits a job at a and returns it.
func submit(t *testing.T, w *peertest.World, job protocol.Job) protocol.JobID {
	t.Helper()
	asked := w.Submit("a", "ada", "", job)
	w.Advance(10 * protocol.Second)
	submitted, ok := w.Site("a").Answer(asked).(view.Submitted)
	if !ok {
		t.Fatalf("answered %+v", w.Site("a").Answer(asked))
	}
	return submitted.Jobs[0]
}

// inDoubt is a world whose job ran at b, which has lost its store since.
func inDoubt(t *testing.T) (*peertest.World, protocol.JobID) {
	t.Helper()
	w := twoSites(t)
	id := submit(t, w, twoCPUs(protocol.Hour))
	w.Wipe("b")
	if err := w.Restart("b"); err != nil {
		t.Fatal(err)
	}
	w.Advance(protocol.Minute)
	if why := reasonAt(w, id); !strings.HasPrefix(why, "NeedsOperator: b has lost its records") {
		t.Fatalf("the job waits for %q", why)
	}
	return w, id
}

func reasonAt(w *peertest.World, id protocol.JobID) string {
	asked := w.Ask("a", func(asked event.AskID) event.Event { return event.AskJob{Asked: asked, Job: id} })
	w.Advance(protocol.Second)
	view, _ := w.Site("a").Answer(asked).(view.Job)
	return view.Reason
}

// TestCancelEndsUnknownJobs: a job that needs an operator ends by cancel, at once, and
// says that its outcome is unknown. Its place is free.
func TestCancelEndsUnknownJobs(t *testing.T) {
	t.Parallel()
	w, id := inDoubt(t)
	w.Cancel("a", id)
	w.Advance(protocol.Second)
	view, ended := w.Site("a").Archived(id)
	if !ended || view.State != protocol.Cancelled || !strings.HasPrefix(view.Reason, "outcome unknown: b has lost") {
		t.Errorf("it has ended: %t, %v, %q", ended, view.State, view.Reason)
	}
	if jobs := w.Site("a").Rows().Jobs(); len(jobs) != 0 {
		t.Errorf("%d jobs are left", len(jobs))
	}
}

// TestRequeueByForce: only a job in doubt can be requeued, by its user or root, and who did it
// is on record. It runs again.
func TestRequeueByForce(t *testing.T) {
	t.Parallel()
	w, id := inDoubt(t)
	ask := func(user string) view.Reply {
		asked := w.Ask("a", func(asked event.AskID) event.Event {
			return event.Requeue{Asked: asked, Job: id, Force: true, User: user, UID: 1234}
		})
		w.Advance(protocol.Second)
		return w.Site("a").Answer(asked)
	}
	if no, ok := ask("bob").(view.Refusal); !ok || no.Code != view.Denied {
		t.Errorf("another user gets %+v", no)
	}
	var journal []string
	w.Journal = func(line string) { journal = append(journal, line) }
	w.Force(id)
	if _, ok := ask("ada").(view.Done); !ok {
		t.Error("its user is refused")
	}
	w.Advance(protocol.Minute)
	if all := strings.Join(journal, "\n"); !strings.Contains(all, "requeue-forced") || !strings.Contains(all, "ada (uid 1234); it may run twice") {
		t.Errorf("nobody is named:\n%s", all)
	}
	job, _ := w.Site("a").Rows().Job(id)
	if job.Phase != row.JobHandedOff || job.Epoch != 2 || job.State != protocol.Running {
		t.Errorf("it is %s at epoch %d, %v", job.Phase, job.Epoch, job.State)
	}
	if no, ok := ask("ada").(view.Refusal); !ok || no.Code != view.BadRequest {
		t.Errorf("once more: %+v", no)
	}
}

// TestALostStoreForgetsNothing: a peer whose rows are lost leaves what it does not know with
// the local scheduler, and says so; results of jobs that ended meanwhile are kept.
func TestALostStoreForgetsNothing(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	submit(t, w, twoCPUs(30*protocol.Second))
	submit(t, w, twoCPUs(protocol.Hour))
	w.Wipe("b")
	w.Advance(2 * protocol.Minute) // the first has ended meanwhile
	said := 0
	w.Journal = func(line string) {
		if strings.Contains(line, "event unknown-local-job") {
			said++
		}
	}
	if err := w.Restart("b"); err != nil {
		t.Fatal(err)
	}
	w.Advance(protocol.Minute)
	if kept := w.Site("b").Batch.Kept(); len(kept) != 2 || said != 2 {
		t.Errorf("the batch system has %v, %d facts", kept, said)
	}
}

// TestForgetsWhatItClosed: an end that this store took before a crash is forgotten after it.
func TestForgetsWhatItClosed(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	submit(t, w, twoCPUs(protocol.Second))
	w.Advance(protocol.Minute)
	guest := w.Site("b").Rows().Guests()[0]
	c := newCardsOf(t, goodConfig(), w.Site("b").Rows().Rows)
	watch := slices.IndexFunc(c.first.Calls, func(c event.Call) bool { _, ok := c.Op.(event.WatchOp); return ok })
	ready := c.step(event.CallDone{ID: c.first.Calls[watch].ID, Result: event.WatchResult{Watched: localsched.Watched{
		Changes: []localsched.Change{{Tag: protocol.Tag{Job: guest.Spec.Job, Epoch: guest.Epoch}, State: protocol.Completed}},
	}}})
	if !slices.ContainsFunc(ready.Calls, func(c event.Call) bool { _, ok := c.Op.(event.ForgetOp); return ok }) {
		t.Error("it is kept")
	}
}

// TestAPartnerLeavesWithJobs: a partner that is configured no more while it has jobs, and jobs
// of it are here, keeps a place: reasons and sites say so, its guests count for the share, and
// its jobs end by cancel. No start fails for it.
func TestAPartnerLeavesWithJobs(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	id := submit(t, w, twoCPUs(protocol.Hour))
	guest := w.Submit("b", "ada", "", peertest.Plan{Run: protocol.Hour}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "y", Sites: []protocol.SiteName{"a"},
	}))
	w.Advance(10 * protocol.Second)
	if _, ok := w.Site("b").Answer(guest).(view.Submitted); !ok {
		t.Fatal("the guest is refused")
	}
	cfg := goodConfig()
	cfg.Partners, cfg.Capacity, cfg.Protect.Share = []rules.Partner{{Site: "c", MaxJobs: 9}}, protocol.Capacity{CPUs: 1, Nodes: 1}, 500_000
	c := newCardsOf(t, cfg, w.Site("a").Rows().Rows)
	said := slices.ContainsFunc(c.first.LogEvents, func(f event.LogEvent) bool {
		return f.Kind == event.LogPartnerMissing && strings.Contains(f.Text, "it has 1 open job of this site, and this site has 1 open job of it")
	})
	if got := c.links(); got != "a self, b missing, c down" || !said {
		t.Errorf("the links are %s, said %t", got, said)
	}
	c.show("c", 3, 1)
	asking := c.step(event.MessageIn{From: "c", Body: protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{{
		Request: protocol.Request{Job: protocol.NewJobID(3, 1), CPUs: 1, WallTime: 1}, User: "ada",
	}}}})
	reply, _ := asking.Messages[0].Body.(protocol.QuoteReply)
	if len(reply.Quotes) != 1 || !strings.Contains(reply.Quotes[0].Declined, "guests would have 200.0 %") {
		t.Errorf("the guest of b does not count: %+v", reply)
	}
	shown := c.ask(event.AskJob{Asked: 91, Job: id})
	if v, ok := shown.(view.Job); !ok || !strings.Contains(v.Reason, "NeedsOperator: b has the job, and is no longer a partner") {
		t.Errorf("the job is shown as %+v", shown)
	}
	c.ask(event.Cancel{Asked: 92, Job: id, User: "ada"})
	if open := len(c.rows[row.JobTable]); open != 0 {
		t.Errorf("cancel ends it not: %d jobs", open)
	}
}

// TestCancelOfWhatASiteCannotTell: the local scheduler of a partner cannot tell whether it has the
// job. The partner answers a cancel with that, and the job ends with its outcome unknown: it must not
// pass for one that never started, though the partner's store is the one that took it.
func TestCancelOfWhatASiteCannotTell(t *testing.T) {
	t.Parallel()
	id := protocol.NewJobID(1, 7)
	tag := protocol.Tag{Job: id, Epoch: 1}
	spec := protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1, WallTime: protocol.Hour}, Name: "one", User: "ada"}
	const holder = 99
	rows := func(cancelling bool) []row.Record {
		key := row.JobKey(id)
		return []row.Record{
			{Table: row.SiteTable, Key: "site", Row: row.Site{FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8}},
			{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}},
			{Table: row.JobTable, Key: key, Row: row.Job{
				Spec: spec, Phase: row.JobRecalling, Epoch: 1, Site: "b", CommittedAt: 1, State: protocol.Pending, Holder: holder, Cancelling: cancelling,
			}},
		}
	}
	card := protocol.Card{Site: "b", Number: 2, Incarnation: holder, Protocol: protocol.ProtocolVersion, Capacity: protocol.Capacity{CPUs: 4}}
	for name, tt := range map[string]struct {
		cancelling bool
		answer     protocol.UnknownJob
		ends       string // how its reason begins; none: it does not end
		operator   bool
	}{
		"it has no trace of it":          {true, protocol.UnknownJob{Tag: tag}, "", false},
		"it cannot tell":                 {true, protocol.UnknownJob{Tag: tag, InDoubt: true}, "outcome unknown: the local scheduler of b cannot tell", false},
		"it cannot tell, of a recall":    {false, protocol.UnknownJob{Tag: tag, InDoubt: true}, "", true},
		"it has no trace, of the recall": {false, protocol.UnknownJob{Tag: tag}, "", false},
	} {
		p, err := peer.New(goodConfig(), 1, rows(tt.cancelling))
		if err != nil {
			t.Fatal(err)
		}
		p.Step(peertest.Epoch, event.Tick{})
		p.Step(peertest.Epoch, event.Connected{Card: card})
		ready := p.Step(peertest.Epoch, event.MessageIn{From: "b", Body: tt.answer})
		if ready.Fault != nil {
			t.Fatalf("%s: %v", name, ready.Fault)
		}
		var ended *view.Job
		stuck := ""
		for _, rec := range ready.Records {
			switch stored := rec.Row.(type) { //nolint:gochecksumtype // the others do not matter here
			case row.Archived:
				ended = &stored.View
			case row.Job:
				stuck = stored.OperatorReason
			}
		}
		switch {
		case tt.cancelling && (ended == nil || ended.State != protocol.Cancelled || !strings.HasPrefix(ended.Reason, tt.ends) || (ended.Reason == "") != (tt.ends == "")):
			t.Errorf("%s: it ends as %+v", name, ended)
		case !tt.cancelling && (ended != nil || (stuck != "") != tt.operator):
			t.Errorf("%s: ended %+v, needs an operator: %q", name, ended, stuck)
		}
	}
}

// TestRequeueOfWhatASiteCannotTell: a job that may run twice is placed elsewhere, and its placement
// there stays one that may still run: its site does have records of it.
func TestRequeueOfWhatASiteCannotTell(t *testing.T) {
	t.Parallel()
	tag := protocol.Tag{Job: protocol.NewJobID(1, 7), Epoch: 1}
	key := row.JobKey(tag.Job)
	p, err := peer.New(goodConfig(), 1, []row.Record{
		{Table: row.SiteTable, Key: "site", Row: row.Site{FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8}},
		{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}},
		{Table: row.JobTable, Key: key, Row: row.Job{
			Spec:  protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Hour}, User: "ada", Requeue: true},
			Phase: row.JobRecalling, Epoch: 1, Site: "b", CommittedAt: 1, State: protocol.Pending, Holder: 99,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Step(peertest.Epoch, event.Tick{})
	p.Step(peertest.Epoch, event.Connected{Card: protocol.Card{
		Site: "b", Number: 2, Incarnation: 99, Protocol: protocol.ProtocolVersion, Capacity: protocol.Capacity{CPUs: 4},
	}})
	ready := p.Step(peertest.Epoch, event.MessageIn{From: "b", Body: protocol.UnknownJob{Tag: tag, InDoubt: true}})
	want := []row.FencedPlacement{{Site: "b", Epoch: 1, Holder: 99}}
	for _, rec := range ready.Records {
		if j, ok := rec.Row.(row.Job); ok && (j.Phase != row.JobInGridQueue || !slices.Equal(j.Fenced, want)) {
			t.Errorf("it is in phase %s, fenced at %+v", j.Phase, j.Fenced)
		}
	}
	if ready.Fault != nil || len(ready.Records) == 0 {
		t.Errorf("fault %v, %d records", ready.Fault, len(ready.Records))
	}
}

// TestASiteSaysThatItCannotTell is the partner's side of that.
func TestASiteSaysThatItCannotTell(t *testing.T) {
	t.Parallel()
	tag := protocol.Tag{Job: protocol.NewJobID(2, 7), Epoch: 1}
	spec := protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Hour}, Name: "one", User: "bob"}
	key := row.JobKey(tag.Job)
	p, err := peer.New(goodConfig(), 1, []row.Record{
		{Table: row.SiteTable, Key: "site", Row: row.Site{FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8}},
		{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}},
		{Table: row.GuestTable, Key: key, Row: row.Guest{Spec: spec, Origin: "b", Account: "bob", Epoch: 1, Phase: row.GuestAccepted}},
		{Table: row.RunTable, Key: key + ".1", Row: row.Run{Tag: tag, Phase: row.RunSubmitting, Since: 1, OperatorReason: "the local scheduler does not answer"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Step(peertest.Epoch, event.Tick{})
	p.Step(peertest.Epoch, event.Connected{Card: protocol.Card{
		Site: "b", Number: 2, Incarnation: 9, Protocol: protocol.ProtocolVersion, Capacity: protocol.Capacity{CPUs: 4},
	}})
	ready := p.Step(peertest.Epoch, event.MessageIn{From: "b", Body: protocol.Recall{Tag: tag, Cancel: true}})
	want := event.Outgoing{To: "b", Body: protocol.UnknownJob{Tag: tag, InDoubt: true}}
	if ready.Fault != nil || !slices.ContainsFunc(ready.Messages, func(m event.Outgoing) bool { return m == want }) {
		t.Errorf("fault %v, answers %+v", ready.Fault, ready.Messages)
	}
}
