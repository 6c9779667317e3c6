package peer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// drain has a site drain another one, or itself; with an empty scope it is resumed.
func drain(t *testing.T, w *peertest.World, at, of protocol.SiteName, scope view.DrainScope) {
	t.Helper()
	asked := w.Ask(at, func(asked event.AskID) event.Event {
		return event.SetDrain{Asked: asked, Site: of, Scope: scope, Reason: "new disks", User: "root", Admin: true}
	})
	w.Advance(protocol.Second)
	if got := w.Site(at).Answer(asked); got != (view.Done{}) {
		t.Fatalf("%s drains %s: %+v", at, of, got)
	}
}

// showsB is b as a site shows it.
func showsB(t *testing.T, w *peertest.World, at protocol.SiteName) view.Site {
	t.Helper()
	asked := w.Ask(at, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} })
	sites, _ := w.Site(at).Answer(asked).(view.Sites)
	for _, one := range sites.Sites {
		if one.Site == "b" {
			return one
		}
	}
	t.Fatalf("%s shows no site b", at)
	return view.Site{}
}

// wantAt checks where a job of a is, and in which state.
func wantAt(t *testing.T, w *peertest.World, id protocol.JobID, site protocol.SiteName, state protocol.State) {
	t.Helper()
	stored, ok := w.Site("a").Rows().Job(id)
	if !ok || stored.Site != site || stored.State != state {
		t.Fatalf("the job is %v at %q (%s, %s), want %v at %q", stored.State, stored.Site, stored.Phase, stored.Reason, state, site)
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

// TestDrainedSiteTakesNoGuests: a drained site quotes no partner and takes no offer, says why, also after a restart, and runs
// what it has. Resumed, it takes jobs again.
func TestDrainedSiteTakesNoGuests(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	runs := submit(t, w, twoCPUs(protocol.Hour))
	wantAt(t, w, runs, "b", protocol.Running)
	drain(t, w, "b", "b", view.DrainGuests)
	if said := showsB(t, w, "a").Draining; said != "draining: new disks" {
		t.Errorf("a shows that b says %q", said)
	}
	id := submit(t, w, twoCPUs(protocol.Minute))
	for range 2 {
		w.Advance(10 * protocol.Minute)
		wantAt(t, w, id, "", protocol.Pending)
		if job := shown(w, id); !strings.HasPrefix(job.Reason, view.ReasonAllDeclined) || !strings.Contains(job.Reason, "b: draining: new disks") {
			t.Errorf("the job waits because of %q", job.Reason)
		}
		if own := showsB(t, w, "b").Drain; own == nil || own.Scope != view.DrainGuests || own.Reason != "new disks" || own.By != "root" {
			t.Errorf("b shows %+v of itself", own)
		}
		restarted(t, w, "b")
	}
	wantAt(t, w, runs, "b", protocol.Running)
	drain(t, w, "b", "b", "")
	if said := showsB(t, w, "a").Draining; said != "" {
		t.Errorf("a shows that the resumed b says %q", said)
	}
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, id, protocol.Completed, "")
}

// TestSiteThatStartsNothing: jobs that wait in the local queue of a site that starts none go back to their origins, and on to
// partners. Those that run go on.
func TestSiteThatStartsNothing(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	one := func(run protocol.Duration) protocol.Job {
		return peertest.Plan{Run: run}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: 2 * protocol.Hour}, Sites: []protocol.SiteName{"a"}})
	}
	runs, waits := submit(t, w, one(protocol.Hour)), submit(t, w, one(protocol.Minute))
	wantAt(t, w, waits, "a", protocol.Pending)
	drain(t, w, "a", "a", view.DrainStarts)
	later := submit(t, w, one(protocol.Minute))
	anywhere := one(protocol.Minute)
	anywhere.Spec.Sites = nil
	away := submit(t, w, anywhere)
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, away, protocol.Completed, "")
	w.Advance(3 * protocol.Hour)
	wantJob(t, w, runs, protocol.Completed, "")
	for _, id := range []protocol.JobID{waits, later} {
		wantAt(t, w, id, "", protocol.Pending)
		if job := shown(w, id); !strings.Contains(job.Reason, "draining: new disks") {
			t.Errorf("the job waits because of %q", job.Reason)
		}
	}
	restarted(t, w, "a")
	w.Advance(protocol.Hour)
	wantAt(t, w, waits, "", protocol.Pending)
	drain(t, w, "a", "a", "")
	w.Advance(protocol.Hour)
	wantJob(t, w, waits, protocol.Completed, "")
	wantJob(t, w, later, protocol.Completed, "")
}

// TestSiteReturnsGuests: guests that wait at a site which starts no jobs go back to their origin, which places them elsewhere
// once it can.
func TestSiteReturnsGuests(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	first, second := submit(t, w, twoCPUs(protocol.Hour)), submit(t, w, twoCPUs(protocol.Hour))
	waits := submit(t, w, twoCPUs(protocol.Minute))
	wantAt(t, w, waits, "b", protocol.Pending)
	drain(t, w, "b", "b", view.DrainStarts)
	w.Advance(protocol.Minute)
	wantAt(t, w, waits, "", protocol.Pending)
	wantAt(t, w, first, "b", protocol.Running)
	wantAt(t, w, second, "b", protocol.Running)
	drain(t, w, "b", "b", "")
	w.Advance(2 * protocol.Hour)
	wantJob(t, w, waits, protocol.Completed, "")
}

// TestDrainedPartner: a partner that is drained in one direction or both is sent no jobs, or its jobs are not taken; those
// that are there go on.
func TestDrainedPartner(t *testing.T) {
	t.Parallel()
	for scope, want := range map[view.DrainScope]struct{ sent, taken bool }{
		view.DrainSending: {false, true}, view.DrainReceiving: {true, false}, view.DrainBoth: {false, false}, view.DrainIsolated: {false, false},
	} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			runs := submit(t, w, twoCPUs(protocol.Hour))
			wantAt(t, w, runs, "b", protocol.Running)
			drain(t, w, "a", "b", scope)
			restarted(t, w, "a")
			sent := submit(t, w, twoCPUs(protocol.Minute))
			w.Advance(5 * protocol.Minute)
			if _, ended := w.Site("a").Archived(sent); ended != want.sent {
				t.Errorf("a job was sent: %v, want %v", ended, want.sent)
			}
			if job := shown(w, sent); !want.sent && !strings.Contains(job.Reason, "b: "+showsB(t, w, "a").Drain.String()) {
				t.Errorf("the job waits because of %q", job.Reason)
			}
			quote := w.Ask("b", func(asked event.AskID) event.Event {
				return event.TestSubmit{Asked: asked, User: "ada", Jobs: []protocol.Job{{Spec: protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}}}}}
			})
			w.Advance(10 * protocol.Second)
			tried, _ := w.Site("b").Answer(quote).(view.TestSubmitResult)
			for _, q := range tried.Jobs[0] {
				declined := map[bool]string{false: "takes no jobs of b"}[want.taken]
				if q.Site == "a" && (q.Declined == "") != want.taken || q.Site == "a" && !strings.HasPrefix(q.Declined, declined) {
					t.Errorf("a quotes b %+v", q)
				}
				if scope == view.DrainIsolated && strings.Contains(q.Declined, "new disks") {
					t.Errorf("an isolated partner hears why: %q", q.Declined)
				}
			}
			wantAt(t, w, runs, "b", protocol.Running)
			w.Advance(2 * protocol.Hour)
			wantJob(t, w, runs, protocol.Completed, "")
			drain(t, w, "a", "b", "")
			w.Advance(protocol.Hour)
			wantJob(t, w, sent, protocol.Completed, "")
		})
	}
}

// TestIsolatedPartnerGivesBack: what waits at a partner that is isolated comes back once that answers, and what runs there ends
// there. Its messages that no hand-off needs have no effect.
func TestIsolatedPartnerGivesBack(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	first, second := submit(t, w, twoCPUs(protocol.Hour)), submit(t, w, twoCPUs(protocol.Hour))
	waits := submit(t, w, twoCPUs(protocol.Minute))
	wantAt(t, w, waits, "b", protocol.Pending)
	w.Cut("a", "b")
	drain(t, w, "a", "b", view.DrainIsolated)
	w.Advance(10 * protocol.Minute)
	if stored, _ := w.Site("a").Rows().Job(waits); stored.Phase != row.JobRecalling {
		t.Fatalf("the job is %s while its site cannot be reached", stored.Phase)
	}
	w.Heal("a", "b")
	restarted(t, w, "a")
	w.Advance(10 * protocol.Minute)
	wantAt(t, w, waits, "", protocol.Pending)
	w.Advance(2 * protocol.Hour)
	for _, id := range []protocol.JobID{first, second} {
		wantJob(t, w, id, protocol.Completed, "")
	}
	wantAt(t, w, waits, "", protocol.Pending)
	drain(t, w, "a", "b", "")
	w.Advance(protocol.Hour)
	wantJob(t, w, waits, protocol.Completed, "")
}

// TestDrainRefused: who may not drain a site, or asks for what makes no sense of it, changes nothing.
func TestDrainRefused(t *testing.T) {
	t.Parallel()
	good := event.SetDrain{Asked: 1, Site: "a", Scope: view.DrainGuests, Reason: "new disks", User: "ada", Admin: true}
	for want, change := range map[string]func(*event.SetDrain){
		"denied: only root":                       func(ev *event.SetDrain) { ev.Admin = false },
		`not-found: site "x" is neither`:          func(ev *event.SetDrain) { ev.Site = "x" },
		`bad-request: a cannot be drained`:        func(ev *event.SetDrain) { ev.Scope = view.DrainIsolated },
		`bad-request: b cannot be drained`:        func(ev *event.SetDrain) { ev.Site = "b" },
		"bad-request: no reason":                  func(ev *event.SetDrain) { ev.Reason = "" },
		"bad-request: the reason has 600 bytes":   func(ev *event.SetDrain) { ev.Reason = strings.Repeat("x", 600) },
		"bad-request: reason: the character U+00": func(ev *event.SetDrain) { ev.Reason = "a\nb" },
	} {
		l, ev := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce)), good
		change(&ev)
		l.records, l.answers = nil, nil
		l.step(ev)
		refusal, ok := l.answers[0].(view.Refusal)
		if got := string(refusal.Code) + ": " + refusal.Reason; !ok || !strings.HasPrefix(strings.ReplaceAll(got, "_", "-"), want) || len(l.records) > 0 {
			t.Errorf("%+v and %d rows, want %q", l.answers[0], len(l.records), want)
		}
	}
}

// TestIsolationIsNotWeakened: an isolated partner is drained otherwise only after it was resumed.
func TestIsolationIsNotWeakened(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	drain(t, w, "a", "b", view.DrainBoth)
	drain(t, w, "a", "b", view.DrainIsolated)
	asked := w.Ask("a", func(asked event.AskID) event.Event {
		return event.SetDrain{Asked: asked, Site: "b", Scope: view.DrainBoth, Reason: "less", User: "root", Admin: true}
	})
	if refusal, ok := w.Site("a").Answer(asked).(view.Refusal); !ok || !strings.Contains(refusal.Reason, "is isolated") {
		t.Errorf("answered %+v", w.Site("a").Answer(asked))
	}
	drain(t, w, "a", "b", "")
	drain(t, w, "a", "b", view.DrainBoth)
}

// TestReasonOfReturn: why a job came back from the local queue of a site that starts none is what its operator said, also if the batch system
// had something to say meanwhile, or could not be asked at first.
func TestReasonOfReturn(t *testing.T) {
	t.Parallel()
	withdrawals := 0
	answers := idle(peertest.Greedy{}, atOnce)
	l := newLone(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		if _, withdraw := op.(event.WithdrawOp); withdraw {
			withdrawals++
			return event.WithdrawResult{Withdrawal: localsched.Withdrawn}, map[bool]error{true: errors.New("no answer"), false: nil}[withdrawals == 1]
		}
		return answers(op)
	})
	l.step(submission(1))
	submitted, _ := l.answers[len(l.answers)-1].(view.Submitted)
	id := submitted.Jobs[0]
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{Round: 1, Quotes: []protocol.Quote{{Job: id, Declined: "busy"}}}})
	l.step(event.SetDrain{Asked: 3, Site: "a", Scope: view.DrainStarts, Reason: "disks", User: "root", Admin: true})
	l.step(event.CallDone{ID: l.watching, Result: event.WatchResult{Watched: localsched.Watched{Cursor: "1", Changes: []localsched.Change{
		{Tag: protocol.Tag{Job: id, Epoch: 1}, State: protocol.Pending, Reason: "Resources"},
	}}}})
	l.advance(protocol.Hour)
	var said []string
	for _, f := range l.facts {
		if f.Kind == event.LogJobRequeued {
			said = append(said, f.Text)
		}
	}
	if withdrawals != 2 || !slices.Equal(said, []string{"draining: disks"}) {
		t.Errorf("%d withdrawals; it came back because of %q", withdrawals, said)
	}
}

// TestDrainOfWhatIsNotKnown: of a job that may be in the local queue or not when no more are to start, it is
// found out first; then it goes back into the grid queue.
func TestDrainOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	id := protocol.NewJobID(1, 7)
	tag := protocol.Tag{Job: id, Epoch: 1}
	for found, want := range map[localsched.Presence]string{localsched.Absent: "in the grid queue", localsched.Present: "withdrawn"} {
		rows := row.Rows{}
		for _, rec := range []row.Record{
			{Table: row.SiteTable, Key: "site", Row: row.Site{FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8}},
			{Table: row.PayloadTable, Key: row.JobKey(id), Row: row.Payload{Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}},
			{Table: row.JobTable, Key: row.JobKey(id), Row: row.Job{
				Spec:  protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1, WallTime: protocol.Hour}, Name: "one", User: "ada"},
				Phase: row.JobCommittedLocal, Epoch: 1, Site: "a", CommittedAt: 1, State: protocol.Pending,
			}},
			{Table: row.RunTable, Key: row.RunKey(tag), Row: row.Run{Tag: tag, Phase: row.RunSubmitting, Account: "ada", Since: 1, OperatorReason: "it cannot tell"}},
		} {
			rows.Commit(rec)
		}
		c := newCardsOf(t, goodConfig(), rows)
		c.ask(event.SetDrain{Asked: 1, Site: "a", Scope: view.DrainStarts, Reason: "new disks", User: "root", Admin: true})
		got := ""
		c.now = c.now.Add(protocol.Hour)
		for _, call := range c.step(event.Tick{}).Calls {
			if _, lookup := call.Op.(event.LookupOp); !lookup {
				continue
			}
			for _, then := range c.step(event.CallDone{ID: call.ID, Result: event.LookupResult{Presence: found}}).Calls {
				switch then.Op.(type) { //nolint:gochecksumtype // the others do not matter here
				case event.SubmitOp:
					got += "submitted"
				case event.WithdrawOp:
					got += "withdrawn"
				}
			}
		}
		if job, is := c.rows[row.JobTable][row.JobKey(id)].(row.Job); is && job.Phase == row.JobInGridQueue {
			got += "in the grid queue"
		}
		if got != want {
			t.Errorf("%v: %q, want %q", found, got, want)
		}
	}
}

// TestIsolatedPartnerGetsNoLoad: an isolated partner hears that its jobs are not taken, without a load, and else nothing that no hand-off
// needs: no report of use, and neither questions nor answers about jobs on which others depend. They come once it is resumed.
func TestIsolatedPartnerGetsNoLoad(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) { exchanging(cfg); cfg.CheckInterval = protocol.Minute }, idle(peertest.Greedy{}, atOnce))
	l.step(event.Submit{Asked: 1, User: "ada", Jobs: []protocol.Job{waitsFor(t, "", false)}})
	submitted, _ := l.answers[len(l.answers)-1].(view.Submitted)
	l.step(event.MessageIn{From: "b", Body: protocol.OutcomeQuery{Job: submitted.Jobs[0], User: "ada"}})
	l.step(event.Submit{Asked: 2, User: "ada", Jobs: []protocol.Job{waitsFor(t, "afterany:2000000000007", false)}})
	kinds := func() (loaded, bare, queries, outcomes, uses int) {
		for _, m := range l.sent {
			switch m := m.Body.(type) { //nolint:gochecksumtype // the others are of no interest
			case protocol.QuoteReply:
				if m.Load != (protocol.Load{}) || m.Free != 0 {
					loaded++
				} else if m.Draining != "" {
					bare++
				}
			case protocol.OutcomeQuery:
				queries++
			case protocol.JobOutcome:
				outcomes++
			case protocol.UseReport:
				uses++
			}
		}
		l.sent = nil
		return loaded, bare, queries, outcomes, uses
	}
	l.advance(3 * protocol.Minute)
	if _, _, queries, outcomes, uses := kinds(); queries == 0 || outcomes == 0 || uses == 0 {
		t.Fatalf("before: %d queries, %d outcomes and %d reports of use", queries, outcomes, uses)
	}
	set := func(scope view.DrainScope) {
		l.step(event.SetDrain{Asked: 3, Site: "b", Scope: scope, Reason: "disks", User: "root", Admin: true})
	}
	set(view.DrainIsolated)
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteRequest{Round: 1, Deadline: protocol.Minute, Jobs: []protocol.Spec{guest(1, 1)}}})
	l.advance(3 * protocol.Minute)
	l.step(event.Cancel{Asked: 4, Job: submitted.Jobs[0], User: "ada"})
	if loaded, bare, queries, outcomes, uses := kinds(); loaded != 0 || bare != 1 || queries+outcomes+uses != 0 {
		t.Errorf("isolated: %d replies with a load, %d without, %d queries, %d outcomes and %d reports of use", loaded, bare, queries, outcomes, uses)
	}
	set("")
	l.advance(3 * protocol.Minute)
	if loaded, _, queries, _, uses := kinds(); loaded == 0 || queries == 0 || uses == 0 {
		t.Errorf("resumed: %d replies with a load, %d queries and %d reports of use", loaded, queries, uses)
	}
}

// TestLoadOfIsolator: a partner that says no load, as one does that has isolated this site, keeps the load that is known of it.
func TestLoadOfIsolator(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	for _, load := range []protocol.Load{{CPUs: 8, Busy: 3}, {}} {
		l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{Load: load}})
	}
	l.step(event.AskSites{Asked: 1})
	sites, _ := l.answers[len(l.answers)-1].(view.Sites)
	if b := sites.Sites[1]; b.CPUs != 8 || b.Busy != 3 {
		t.Errorf("the load of b is %+v", b)
	}
}

// A job that names a site which cannot be reached says which and why it waits.
func TestNamedSiteThatIsDown(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	w.Advance(protocol.Minute)
	w.Crash("b")
	w.Disconnect("a", "b")
	w.Advance(protocol.Minute)
	named := twoCPUs(protocol.Hour)
	named.Spec.Sites = []protocol.SiteName{"b"}
	id := submit(t, w, named)
	w.Advance(protocol.Minute)
	wantAt(t, w, id, "", protocol.Pending)
	if why := shown(w, id).Reason; !strings.HasPrefix(why, view.ReasonAllDeclined) || !strings.Contains(why, "b: it cannot be reached") {
		t.Errorf("the job waits because of %q", why)
	}
	if err := w.Restart("b"); err != nil {
		t.Fatal(err)
	}
	w.Advance(30 * protocol.Second)
	wantAt(t, w, id, "b", protocol.Running)
}
