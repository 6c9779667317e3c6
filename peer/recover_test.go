package peer_test

import (
	"fmt"
	"maps"
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

// guarded makes a site distinguish lives.
func guarded(cfg *rules.Config) {
	cfg.Watermark, cfg.Machine = 10*protocol.Second, "machine "+string(cfg.Site)
	cfg.RetryInitial, cfg.RetryMax = protocol.Second, 5*protocol.Second
}

// guardedSites are a with 2 CPUs and b with 4, which distinguish lives.
func guardedSites(t *testing.T) *peertest.World {
	t.Helper()
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}, Config: guarded},
		{Name: "b", Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Config: guarded},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// at is a job that may run at one site only.
func at(site protocol.SiteName, cpus int, run protocol.Duration) protocol.Job {
	return peertest.Plan{Run: run}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}, Name: "x", Sites: []protocol.SiteName{site},
	})
}

// waiting submits jobs at a: one that fills its machine and some behind it, at a and at b
// also. It returns how many there are.
func fill(t *testing.T, w *peertest.World) int {
	t.Helper()
	n := 0
	for range 3 {
		submit(t, w, at("a", 2, protocol.Minute))
		submit(t, w, at("b", 4, protocol.Minute))
		n += 2
	}
	return n
}

func restart(t *testing.T, w *peertest.World, site protocol.SiteName) {
	t.Helper()
	w.Crash(site)
	for _, s := range w.Sites() {
		w.Disconnect(s.Name, site)
	}
	w.Advance(protocol.Second)
	if err := w.Restart(site); err != nil {
		t.Fatal(err)
	}
}

func recovery(w *peertest.World, site protocol.SiteName) view.Recovery {
	asked := w.Ask(site, func(asked event.AskID) event.Event { return event.AskRecovery{Asked: asked} })
	w.Advance(protocol.Second)
	view, _ := w.Site(site).Answer(asked).(view.Recovery)
	return view
}

func resume(t *testing.T, w *peertest.World, site protocol.SiteName, ev event.Recover) {
	t.Helper()
	ev.User, ev.Admin = "root", true
	asked := w.Ask(site, func(asked event.AskID) event.Event { ev.Asked = asked; return ev })
	w.Advance(protocol.Second)
	if _, ok := w.Site(site).Answer(asked).(view.Recovery); !ok {
		t.Fatalf("answered %+v", w.Site(site).Answer(asked))
	}
}

func starts(w *peertest.World) (n int) {
	for _, end := range w.Ends() {
		n += end.Starts
	}
	return n
}

// TestAnOrdinaryRestartGoesOn: nothing is refused or lost, and no site is named, however often
// peers are killed.
func TestAnOrdinaryRestartGoesOn(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	var loud []string
	w.Journal = func(line string) {
		if strings.Contains(line, "recovery-needed") || strings.Contains(line, "two-peers") {
			loud = append(loud, line)
		}
	}
	n := fill(t, w)
	for i := range 10 {
		restart(t, w, []protocol.SiteName{"a", "b"}[i%2])
		w.Advance(7 * protocol.Second)
		if i%3 == 0 {
			w.Crash("a") // b does not notice
			if err := w.Restart("a"); err != nil {
				t.Fatal(err)
			}
			w.Advance(7 * protocol.Second)
		}
	}
	if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil {
		t.Errorf("still busy: %s; %v", busy, w.Err())
	}
	if len(loud) > 0 || starts(w) != n {
		t.Errorf("%d jobs have started %d times\n%s", n, starts(w), strings.Join(loud, "\n"))
	}
}

// TestARestoredStoreStartsNothing: with partners and without any witness file, of an origin
// and of a target; with the file and without partners.
func TestARestoredStoreStartsNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		site    protocol.SiteName
		witness bool
		cut     bool // from its partner
	}{
		"the origin, by its partner": {"a", false, false}, "the target, by its partner": {"b", false, false},
		"the origin, by the file": {"a", true, true}, "the target, by the file": {"b", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := guardedSites(t)
			n := fill(t, w)
			backup := w.Site(tt.site).Rows().Copy()
			w.Advance(150 * protocol.Second) // most have run since
			before := starts(w)
			card := w.Site(tt.site).Peer().Card("")
			last := card.Life()
			if tt.cut {
				w.Cut("a", "b")
				w.Cut("b", "a")
			}
			w.Restore(tt.site, backup)
			if tt.witness {
				w.Configure(tt.site, func(cfg *rules.Config) { cfg.Witness = last })
			}
			w.Advance(protocol.Minute)
			if err := w.Restart(tt.site); err != nil {
				t.Fatal(err)
			}
			w.Advance(5 * protocol.Second)
			if view := recovery(w, tt.site); !view.Needed || len(view.Reasons) == 0 {
				t.Fatalf("nobody notices: %+v", view)
			}
			w.Advance(10 * protocol.Minute)
			if err := w.Check(); err != nil {
				t.Fatal(err)
			}
			asked := w.Submit(tt.site, "ada", "", at("a", 1, 1))
			w.Advance(protocol.Second)
			if no, ok := w.Site(tt.site).Answer(asked).(view.Refusal); !ok || no.Code != view.Unavailable || !strings.Contains(no.Reason, "switchyard recover") {
				t.Errorf("a submission is answered %+v", no)
			}
			w.Heal("a", "b")
			w.Heal("b", "a")
			w.Connect("a", "b")
			resume(t, w, tt.site, event.Recover{})
			w.Advance(10 * protocol.Minute)
			for _, job := range w.Site("a").Rows().Jobs() {
				if job.OperatorReason == "" {
					t.Errorf("job %v is %s at %q, %v, and needs nobody", job.Spec.Job, job.Phase, job.Site, job.State)
				}
				w.Cancel("a", job.Spec.Job)
			}
			if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil {
				t.Errorf("still busy: %s; %v", busy, w.Err())
			}
			if after := starts(w); after > n || after < before {
				t.Errorf("%d jobs: %d starts before, %d after", n, before, after)
			}
		})
	}
}

// cancelDoubted has an operator cancel every job that needs one.
func cancelDoubted(w *peertest.World) {
	for _, s := range w.Sites() {
		for _, job := range s.Rows().Jobs() {
			if job.OperatorReason != "" {
				w.Cancel(s.Name, job.Spec.Job)
			}
		}
	}
}

// TestTheLocalQueueIsAsOldAsItsDirectory: of three jobs of a site the first has ended, the
// second runs and the third waits when rows of 50 s ago, with or without the local queue of
// that time, come back. An operator has the site go on. What waits in a queue that came back,
// or may have, needs an operator, since it may have started; a queue that did not is believed.
func TestTheLocalQueueIsAsOldAsItsDirectory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		site    protocol.SiteName
		whole   bool   // the directory came back, else only the rows
		witness bool   // the witness file stayed
		apart   bool   // the local queue is elsewhere
		machine string // another one
		cut     bool   // it is not known what the partner knows
		again   bool   // the peer starts once more before the operator says so
		doubted bool
	}{
		"the directory, of an origin":                      {site: "a", whole: true, doubted: true},
		"the directory, of a target":                       {site: "b", whole: true, doubted: true},
		"the directory, decided later":                     {site: "a", whole: true, again: true, doubted: true},
		"the directory, on another machine":                {site: "a", whole: true, machine: "another", cut: true, doubted: true},
		"the rows, of an origin":                           {site: "a", witness: true},
		"the rows, of a target":                            {site: "b", witness: true},
		"the rows, decided later":                          {site: "a", witness: true, again: true},
		"the rows, by the file alone":                      {site: "a", witness: true, cut: true},
		"the rows, and the file is lost":                   {site: "a", doubted: true},
		"the rows, and the queue is elsewhere":             {site: "a", apart: true},
		"the directory, moved, and the queue is elsewhere": {site: "a", apart: true, machine: "another", cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := guardedSites(t)
			var third protocol.JobID
			for range 3 {
				third = submit(t, w, at(tt.site, map[protocol.SiteName]int{"a": 2, "b": 4}[tt.site], protocol.Minute))
			}
			w.Advance(10 * protocol.Second)
			rows, directory := w.Site(tt.site).Rows().Copy(), w.Site(tt.site).Directory()
			w.Advance(50 * protocol.Second)
			if starts(w) != 2 {
				t.Fatalf("%d starts, want 2", starts(w))
			}
			latest := w.Site(tt.site).Rows().Life()
			if tt.cut {
				w.Cut("a", "b")
			}
			w.Configure(tt.site, func(cfg *rules.Config) {
				cfg.QueueApart = tt.apart
				if tt.machine != "" {
					cfg.Machine = tt.machine
				}
			})
			if tt.whole {
				w.RollBack(tt.site, directory)
			} else {
				w.Restore(tt.site, rows)
			}
			if tt.witness {
				w.Configure(tt.site, func(cfg *rules.Config) { cfg.Witness = latest })
			}
			if err := w.Restart(tt.site); err != nil {
				t.Fatal(err)
			}
			w.Advance(5 * protocol.Second)
			if tt.again {
				w.Configure(tt.site, func(cfg *rules.Config) { cfg.Witness = w.Site(tt.site).Rows().Life() }) // it has been written again
				restart(t, w, tt.site)
				w.Advance(5 * protocol.Second)
			}
			view := recovery(w, tt.site)
			if !view.Needed {
				t.Fatal("nobody notices")
			}
			if view.QueueCopied != tt.doubted {
				t.Errorf("the local queue is in doubt: %t, want %t", view.QueueCopied, tt.doubted)
			}
			w.Heal("a", "b")
			w.Connect("a", "b")
			resume(t, w, tt.site, event.Recover{})
			w.Advance(protocol.Minute)
			row, open := w.Site("a").Rows().Job(third)
			if doubted := open && row.OperatorReason != ""; doubted != tt.doubted {
				t.Errorf("the job that waited is %s at %q, and needs an operator: %t, want %t", row.Phase, row.Site, doubted, tt.doubted)
			}
			cancelDoubted(w)
			if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil {
				t.Errorf("still busy: %s; %v", busy, w.Err())
			}
		})
	}
}

// TestACopiedSiteIsNoticed: a copy that is started beside the original, with its queue. On
// another machine it starts nothing by itself; on a clone of the machine the partner's word
// stops both within 5 s. The original goes on without what the copy may have run, and no job
// starts twice.
func TestACopiedSiteIsNoticed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		site    protocol.SiteName
		machine string
	}{
		"origin, another machine": {"a", "another"}, "target, another machine": {"b", "another"},
		"origin, the same machine": {"a", ""}, "target, the same machine": {"b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := guardedSites(t)
			n := fill(t, w)
			w.Advance(10 * protocol.Second)
			clone, err := w.Clone(tt.site, w.Site(tt.site).Directory(), func(cfg *rules.Config) {
				if tt.machine != "" {
					cfg.Machine = tt.machine
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			w.Advance(5 * protocol.Second)
			for _, s := range []*peertest.Site{w.Site(tt.site), clone} {
				asked := w.AskOne(s, func(asked event.AskID) event.Event { return event.AskRecovery{Asked: asked} })
				w.Advance(10)
				if view, _ := s.Answer(asked).(view.Recovery); !view.Needed {
					t.Errorf("clone %t starts jobs", s == clone)
				}
			}
			other := map[protocol.SiteName]protocol.SiteName{"a": "b", "b": "a"}[tt.site]
			asked := w.Ask(other, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} })
			w.Advance(10)
			sites, _ := w.Site(other).Answer(asked).(view.Sites)
			if link := sites.Sites[1]; link.Link != "refused" || !strings.Contains(link.Reason, "two peers run as "+string(tt.site)) {
				t.Errorf("the partner shows %s, %s", link.Link, link.Reason)
			}
			w.Advance(5 * protocol.Minute)
			if err := w.Check(); err != nil {
				t.Fatal(err)
			}
			w.Stop(clone)
			w.Connect("a", "b")
			resume(t, w, tt.site, event.Recover{})
			w.Advance(protocol.Minute)
			cancelDoubted(w)
			if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil {
				t.Errorf("still busy: %s; %v", busy, w.Err())
			}
			if starts(w) > n {
				t.Errorf("%d jobs, %d starts", n, starts(w))
			}
		})
	}
}

// TestWhatTheOtherPeerMayHaveRun: half a second after a copy of a site began, on a machine of
// the same name, the original starts the first of two jobs that wait in both queues. Then both
// are stopped, and the original is shut down. The copy, whose database is as it was, starts
// nothing, also after another start; and when an operator lets it go on, both jobs, and the one
// that ran when the copy was made, need one.
func TestWhatTheOtherPeerMayHaveRun(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"at once": false, "after another start": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := guardedSites(t)
			first := submit(t, w, at("a", 2, protocol.Minute))
			submit(t, w, at("a", 2, protocol.Minute))
			submit(t, w, at("a", 2, protocol.Minute))
			began, _ := w.LastStart(first)
			w.Advance(began.Add(protocol.Minute - 500).Sub(w.Now()))
			original := w.Site("a")
			clone, err := w.Clone("a", original.Directory(), nil)
			if err != nil {
				t.Fatal(err)
			}
			w.Advance(5 * protocol.Second)
			if starts(w) != 2 {
				t.Fatalf("%d starts, want 2", starts(w))
			}
			w.Stop(original)
			w.Connect("a", "b")
			if again {
				restart(t, w, "a")
			}
			w.Advance(protocol.Minute)
			view := recovery(w, "a")
			if !view.Needed || !view.QueueCopied || view.Known.Boot != 0 {
				t.Fatalf("an operator is asked: %t, with the queue in doubt: %t, for what a partner has seen: %v", view.Needed, view.QueueCopied, view.Known)
			}
			resume(t, w, "a", event.Recover{})
			w.Advance(protocol.Minute)
			if view = recovery(w, "a"); len(view.InDoubt) != 3 {
				t.Errorf("the jobs %v need an operator, want all three", view.InDoubt)
			}
			cancelDoubted(w)
			if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil || w.Site("a") != clone {
				t.Errorf("still busy: %s; %v", busy, w.Err())
			}
		})
	}
}

// TestARoomGivenUpLongAgo: the origin is down longer than tombstones are remembered. Its grant
// is then for a job that its partner does not know any more, whose store is the one that held
// room for it: the job never started, and goes on.
func TestARoomGivenUpLongAgo(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	w.Crash("b")
	w.Configure("b", func(cfg *rules.Config) { cfg.TombstoneTTL = protocol.Hour })
	if err := w.Restart("b"); err != nil {
		t.Fatal(err)
	}
	id := submit(t, w, at("b", 4, protocol.Hour)) // keeps the machine
	w.Submit("a", "ada", "", at("b", 4, protocol.Minute))
	var waiting protocol.JobID
	for range 10_000 { // until the moment after the grant, before it arrives
		w.Advance(1)
		for _, job := range w.Site("a").Rows().Jobs() {
			if job.Phase == row.JobGranted && job.Spec.Job != id {
				waiting = job.Spec.Job
			}
		}
		if waiting != 0 {
			break
		}
	}
	w.Cut("a", "b")
	w.Crash("a")
	w.Disconnect("b", "a")
	w.Advance(3 * protocol.Day)
	if guests := w.Site("b").Rows().Guests(); len(guests) != 1 {
		t.Fatalf("%d guests are remembered, want the one that has ended", len(guests))
	}
	w.Heal("a", "b")
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	if busy := w.RunUntilQuiet(5 * protocol.Hour); busy != "" || w.Check() != nil {
		t.Errorf("still busy: %s; %v", busy, w.Err())
	}
	for _, end := range w.Ends() {
		if end.State != protocol.Completed || end.Starts != 1 {
			t.Errorf("job %v is %v after %d starts", end.Job, end.State, end.Starts)
		}
	}
}

// TestALostLifesEpochsAreNotUsedAgain: the nodes of a job with Requeue fail again and again. By
// rows of its first run it is run again with a tag that no run of the lost life had.
func TestALostLifesEpochsAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	job := peertest.Plan{Run: 20 * protocol.Second, NodeFail: true}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "x", Requeue: true, Sites: []protocol.SiteName{"a"},
	})
	id := submit(t, w, job)
	backup := w.Site("a").Rows().Copy()
	if row, _ := backup.Job(id); row.Epoch != 1 || row.State != protocol.Running {
		t.Fatalf("it is at epoch %d, %v", row.Epoch, row.State)
	}
	w.Advance(60 * protocol.Second)
	latest := w.Site("a").Rows().Life()
	if row, _ := w.Site("a").Rows().Job(id); row.Epoch < 3 {
		t.Fatalf("it has come to epoch %d only", row.Epoch)
	}
	w.Restore("a", backup)
	w.Configure("a", func(cfg *rules.Config) { cfg.Witness = latest })
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
	resume(t, w, "a", event.Recover{Requeue: true})
	w.Advance(20 * protocol.Second)
	if row, open := w.Site("a").Rows().Job(id); !open || row.Epoch <= 1000 {
		t.Errorf("it is at epoch %d", row.Epoch)
	}
	if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil {
		t.Errorf("still busy: %s; %v", busy, w.Err())
	}
}

// TestARestoredOriginAsksForOutputThatItHadTaken: its site has dropped it. The job ends once,
// as it ended there, and its reason says why there is no output.
func TestARestoredOriginAsksForOutputThatItHadTaken(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	id := submit(t, w, at("b", 4, protocol.Minute))
	w.Cut("a", "b") // the result arrives, and its output does not
	w.Advance(90 * protocol.Second)
	backup := w.Site("a").Rows().Copy()
	if stored, _ := backup.Job(id); stored.Phase != row.JobStagingOut {
		t.Fatalf("the job is %s", stored.Phase)
	}
	w.Heal("a", "b")
	w.Advance(protocol.Minute)
	if _, ended := w.Site("a").Archived(id); !ended {
		t.Fatal("the job has not ended")
	}
	w.Restore("a", backup)
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
	resume(t, w, "a", event.Recover{Cancel: true})
	w.Advance(protocol.Minute)
	view, _ := w.Site("a").Archived(id)
	if view.State != protocol.Completed || !strings.Contains(view.Reason, "an earlier life of this site's store has taken it") {
		t.Errorf("the job is %v: %s", view.State, view.Reason)
	}
	if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil {
		t.Errorf("still busy: %s; %v", busy, w.Err())
	}
}

// TestWhatOnlyACopiedQueueHas: a state directory was copied while its peer ran, the database
// first. The job that the local queue alone has is listed, and taken out before anything may
// start, also when the peer ends in between.
func TestWhatOnlyACopiedQueueHas(t *testing.T) {
	t.Parallel()
	rows := row.Rows{}
	rows.Commit(row.Record{Table: row.SiteTable, Key: "site", Row: row.Site{
		FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8, Boot: 3, Begun: 1, Machine: "there",
	}})
	cfg := goodConfig()
	cfg.Partners, cfg.Watermark, cfg.Machine = nil, 10*protocol.Second, "here"
	tag := protocol.Tag{Job: protocol.NewJobID(1, 9), Epoch: 1}
	var c *cards
	allowed := false
	after := func(ready event.Ready) event.Ready {
		allowed = ready.Starts != nil && *ready.Starts || allowed && ready.Starts == nil
		return ready
	}
	watched := func() {
		c = newCardsOf(t, cfg, rows)
		for _, call := range after(c.first).Calls {
			if _, watch := call.Op.(event.WatchOp); watch {
				after(c.step(event.CallDone{ID: call.ID, Result: event.WatchResult{Watched: localsched.Watched{
					Changes: []localsched.Change{{Tag: tag, State: protocol.Pending}}, Cursor: "1",
				}}}))
			}
		}
	}
	withdraws := func() (found []event.Call) {
		for range 10 {
			c.now = c.now.Add(protocol.Second)
			for _, call := range after(c.step(event.Tick{})).Calls {
				if _, withdraw := call.Op.(event.WithdrawOp); withdraw {
					found = append(found, call)
				}
			}
		}
		return found
	}
	watched()
	if view, _ := c.ask(event.AskRecovery{Asked: 1}).(view.Recovery); len(view.Aside) != 1 || !view.QueueCopied {
		t.Fatalf("it is not listed: %+v", view)
	}
	after(c.step(event.Recover{Asked: 2, User: "root", Admin: true}))
	if calls := withdraws(); len(calls) == 0 || allowed {
		t.Fatalf("%d calls take it out, and jobs may start: %t", len(calls), allowed)
	}
	watched() // the peer has ended before the answer
	calls := withdraws()
	if len(calls) == 0 || allowed {
		t.Fatalf("after another start %d calls take it out, and jobs may start: %t", len(calls), allowed)
	}
	after(c.step(event.CallDone{ID: calls[0].ID, Result: event.WithdrawResult{Withdrawal: localsched.Withdrawn}}))
	if !allowed {
		t.Error("it is out, and nothing may start")
	}
	watched() // as if it had come again, now that the queue is this peer's own
	if calls = withdraws(); len(calls) != 0 || !allowed {
		t.Errorf("later %d calls take it out, and jobs may start: %t", len(calls), allowed)
	}
}

// TestACopiedQueueIsTakenOutFirst: an operator lets a copied site go on. The jobs that wait in
// the copied local queue may have run where the copy was made: the local scheduler may start
// jobs only after they have been taken out.
func TestACopiedQueueIsTakenOutFirst(t *testing.T) {
	t.Parallel()
	cfg := goodConfig()
	cfg.Partners, cfg.Watermark, cfg.Machine = nil, 10*protocol.Second, "here"
	tag := protocol.Tag{Job: protocol.NewJobID(1, 7), Epoch: 1}
	spec := protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Minute}, User: "ann"}
	key := fmt.Sprintf("%016d", uint64(tag.Job))
	p, err := peer.New(cfg, 1, []row.Record{
		{Table: row.SiteTable, Key: "site", Row: row.Site{
			FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8, Boot: 3, Begun: 1, Machine: "there",
		}},
		{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}},
		{Table: row.JobTable, Key: key, Row: row.Job{Spec: spec, Phase: row.JobCommittedLocal, Epoch: 1, Site: "a", CommittedAt: 1, State: protocol.Pending}},
		{Table: row.RunTable, Key: key + ".1", Row: row.Run{Tag: tag, Phase: row.RunQueued, Since: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	now := peertest.Epoch
	var starts []bool
	step := func(ev event.Event) (calls []event.Call) {
		ready := p.Step(now, ev)
		if ready.Starts != nil {
			starts = append(starts, *ready.Starts)
		}
		return ready.Calls
	}
	answer := func(calls []event.Call) (all []event.Call) {
		for _, call := range calls {
			if _, find := call.Op.(event.LookupOp); find {
				all = append(all, step(event.CallDone{ID: call.ID, Result: event.LookupResult{Presence: localsched.Present}})...)
			}
			if _, withdraw := call.Op.(event.WithdrawOp); withdraw {
				if slices.Contains(starts, true) {
					t.Error("the local scheduler may start jobs before the copied one is taken out")
				}
				all = append(all, step(event.CallDone{ID: call.ID, Result: event.WithdrawResult{Withdrawal: localsched.Withdrawn}})...)
			}
		}
		return all
	}
	calls := step(event.Tick{})
	calls = append(calls, step(event.Recover{Asked: 1, User: "root", Admin: true})...)
	for range 10 {
		now = now.Add(protocol.Minute)
		calls = answer(append(calls, step(event.Tick{})...))
	}
	if want := []bool{false, true}; !slices.Equal(starts, want) {
		t.Errorf("the local scheduler may start jobs: %v, want %v", starts, want)
	}
}

// TestLostStoreGivesNoIDAgain: arrays are refused that would take the job IDs of the time to come, so that the store that
// replaces a lost one gives out none of its IDs.
func TestLostStoreGivesNoIDAgain(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	job := at("a", 1, 20*protocol.Minute)
	job.Array = &protocol.Array{Indexes: protocol.IndexesOf(99_999)}
	var last protocol.JobID
	refused := false
	for range 100 {
		asked := w.Submit("a", "ada", "", job)
		w.Advance(100)
		if got, ok := w.Site("a").Answer(asked).(view.Submitted); ok {
			last = protocol.Element{Array: got.Jobs[0], Index: 99_999}.ID()
		} else if got, ok := w.Site("a").Answer(asked).(view.Refusal); ok {
			refused = got.Code == view.Unavailable && strings.Contains(got.Reason, "takes 100001 job IDs")
		}
	}
	if last == 0 || !refused {
		t.Fatalf("10 million IDs are taken at once; the last one is %v", last)
	}
	w.Advance(2 * protocol.Hour)
	w.Crash("a")
	w.Wipe("a")
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	w.Advance(protocol.Minute)
	if id := submit(t, w, at("a", 1, protocol.Minute)); id <= last {
		t.Errorf("the new store gives out %v, and the old one had come to %v", id, last)
	}
}

// TestWhatHadEndedIsNotRequeued: by rows of an earlier time that go on nothing is requeued that had ended by then, since it may have been
// requeued and run, also if the peer ends before it has dropped that. What ends from then on can be.
func TestWhatHadEndedIsNotRequeued(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	w.Configure("a", func(cfg *rules.Config) {
		cfg.Requeueable = rules.Requeueable{For: protocol.Hour, Jobs: 10, Bytes: 1 << 20}
	})
	restart(t, w, "a")
	w.Advance(5 * protocol.Second)
	job := submit(t, w, at("a", 1, protocol.Second))
	w.Advance(10 * protocol.Second)
	backup := w.Site("a").Rows().Copy()
	if len(backup.Requeueable()) != 1 {
		t.Fatalf("%d jobs can be requeued", len(backup.Requeueable()))
	}
	submit(t, w, at("a", 1, protocol.Second)) // rows of which are lost
	w.Advance(protocol.Minute)
	latest := w.Site("a").Rows().Life()
	w.Restore("a", backup)
	w.Configure("a", func(cfg *rules.Config) { cfg.Witness = latest })
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
	resume(t, w, "a", event.Recover{})
	wantRefusal(t, requeued(w, event.Requeue{Job: job, User: "ada"}), view.NotFound, "")
	after := w.Site("a").Rows().Copy()
	if len(after.Requeueable()) > 0 {
		t.Errorf("left are %+v", after.Requeueable())
	}
	for _, table := range []row.Table{row.RequeueableTable, row.PayloadTable} { // as if they had not been dropped yet
		if after.Rows[table] == nil {
			after.Rows[table] = map[string]row.Row{}
		}
		maps.Copy(after.Rows[table], backup.Rows[table])
	}
	w.Restore("a", after)
	w.Configure("a", func(cfg *rules.Config) { cfg.Witness = protocol.Life{} })
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
	wantRefusal(t, requeued(w, event.Requeue{Job: job, User: "ada"}), view.NotFound, "")
	if left := w.Site("a").Rows().Requeueable(); len(left) > 0 {
		t.Errorf("left are %+v", left)
	}
	job = submit(t, w, at("a", 1, protocol.Second))
	w.Advance(10 * protocol.Second)
	if got := requeued(w, event.Requeue{Job: job, User: "ada"}); got != (view.Done{}) {
		t.Errorf("%+v", got)
	}
}

// TestAJobGivenBackSince: a job that waits at a partner comes back, and then the partner has older rows put back, by which it still waits
// there. That its local queue no longer has it is no proof that it has run: it may come there again.
func TestAJobGivenBackSince(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	submit(t, w, at("b", 4, protocol.Hour))
	waits := submit(t, w, at("b", 4, protocol.Minute))
	wantAt(t, w, waits, "b", protocol.Pending)
	backup := w.Site("b").Rows().Copy()
	drain(t, w, "a", "b", view.DrainIsolated)
	w.Advance(protocol.Minute)
	wantAt(t, w, waits, "", protocol.Pending)
	latest := w.Site("b").Rows().Life()
	w.Restore("b", backup)
	w.Configure("b", func(cfg *rules.Config) { cfg.Witness = latest })
	if err := w.Restart("b"); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
	resume(t, w, "b", event.Recover{})
	w.Advance(protocol.Minute)
	drain(t, w, "a", "b", "")
	w.Advance(2 * protocol.Hour)
	wantJob(t, w, waits, protocol.Completed, "")
	wantStarts(t, w, waits, 1)
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}
