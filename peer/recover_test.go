package peer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// guarded makes a site tell lives apart.
func guarded(cfg *peer.Config) {
	cfg.Watermark, cfg.Machine = 10*protocol.Second, "machine "+string(cfg.Site)
	cfg.Retry, cfg.RetryMax = protocol.Second, 5*protocol.Second
}

// guardedSites are a with 2 CPUs and b with 4, which tell lives apart.
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
func at(site protocol.SiteName, cpus int, run protocol.Duration) peer.NewJob {
	return peertest.Plan{Run: run}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}, Name: "x", Sites: []protocol.SiteName{site},
	})
}

// waiting submits jobs at a: one that fills its machine and some behind it, at a and at b
// likewise. It returns how many there are.
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

func recovery(w *peertest.World, site protocol.SiteName) peer.Recovery {
	asked := w.Ask(site, func(asked peer.AskID) peer.Event { return peer.AskRecovery{Asked: asked} })
	w.Advance(protocol.Second)
	view, _ := w.Site(site).Answer(asked).(peer.Recovery)
	return view
}

func resume(t *testing.T, w *peertest.World, site protocol.SiteName, ev peer.Recover) {
	t.Helper()
	ev.User, ev.Admin = "root", true
	asked := w.Ask(site, func(asked peer.AskID) peer.Event { ev.Asked = asked; return ev })
	w.Advance(protocol.Second)
	if _, ok := w.Site(site).Answer(asked).(peer.Recovery); !ok {
		t.Fatalf("answered %+v", w.Site(site).Answer(asked))
	}
}

func starts(w *peertest.World) (n int) {
	for _, end := range w.Ends() {
		n += end.Starts
	}
	return n
}

// TestAnOrdinaryRestartGoesOn: nothing is refused or lost, and nobody is named, however often
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
				w.Configure(tt.site, func(cfg *peer.Config) { cfg.Witness = last })
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
			if no, ok := w.Site(tt.site).Answer(asked).(peer.Refusal); !ok || no.Code != peer.NotNow || !strings.Contains(no.Reason, "switchyard recover") {
				t.Errorf("a submission is answered %+v", no)
			}
			w.Heal("a", "b")
			w.Heal("b", "a")
			w.Connect("a", "b")
			if name == "the originx, by its partner" {
				w.Journal = func(line string) { t.Log(line) }
			}
			resume(t, w, tt.site, peer.Recover{})
			w.Advance(10 * protocol.Minute)
			for _, job := range w.Site("a").Rows().Jobs() {
				if job.Stuck == "" {
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

// TestACopiedSiteIsNoticed: a copy that is started beside the original. On another machine it
// starts nothing by itself; on a clone of the machine the partner tells both within 5 s. No
// job starts twice, and what is decided for the original goes on there.
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
			clone, err := w.Clone(tt.site, w.Site(tt.site).Rows(), func(cfg *peer.Config) {
				if tt.machine != "" {
					cfg.Machine = tt.machine
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			w.Advance(5 * protocol.Second)
			for _, s := range []*peertest.Site{w.Site(tt.site), clone} {
				asked := w.AskOne(s, func(asked peer.AskID) peer.Event { return peer.AskRecovery{Asked: asked} })
				w.Advance(10)
				if view, _ := s.Answer(asked).(peer.Recovery); !view.Needed {
					t.Errorf("clone %t starts jobs", s == clone)
				}
			}
			other := map[protocol.SiteName]protocol.SiteName{"a": "b", "b": "a"}[tt.site]
			asked := w.Ask(other, func(asked peer.AskID) peer.Event { return peer.AskSites{Asked: asked} })
			w.Advance(10)
			sites, _ := w.Site(other).Answer(asked).(peer.Sites)
			if link := sites.Sites[1]; link.Link != "refused" || !strings.Contains(link.Why, "two peers run as "+string(tt.site)) {
				t.Errorf("the partner shows %s, %s", link.Link, link.Why)
			}
			w.Advance(5 * protocol.Minute)
			if err := w.Check(); err != nil {
				t.Fatal(err)
			}
			w.Stop(clone)
			w.Connect("a", "b")
			resume(t, w, tt.site, peer.Recover{})
			w.Advance(protocol.Minute)
			if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil {
				t.Errorf("still busy: %s; %v", busy, w.Err())
			}
			if starts(w) != n {
				t.Errorf("%d jobs, %d starts", n, starts(w))
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
	w.Configure("b", func(cfg *peer.Config) { cfg.Remember = protocol.Hour })
	if err := w.Restart("b"); err != nil {
		t.Fatal(err)
	}
	id := submit(t, w, at("b", 4, protocol.Hour)) // keeps the machine
	w.Submit("a", "ada", "", at("b", 4, protocol.Minute))
	var waiting protocol.JobID
	for range 10_000 { // until the moment after the grant, before it arrives
		w.Advance(1)
		for _, job := range w.Site("a").Rows().Jobs() {
			if job.Phase == peer.Granted && job.Spec.Job != id {
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

// TestARestoredOriginAsksForOutputThatItHadTaken: its site has dropped it. The job ends once,
// as it ended there, and its reason says why there is no output.
func TestARestoredOriginAsksForOutputThatItHadTaken(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	id := submit(t, w, at("b", 4, protocol.Minute))
	w.Cut("a", "b") // the result arrives, and its output does not
	w.Advance(90 * protocol.Second)
	backup := w.Site("a").Rows().Copy()
	if row, _ := backup.Job(id); row.Phase != peer.Collecting {
		t.Fatalf("the job is %s", row.Phase)
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
	resume(t, w, "a", peer.Recover{Cancel: true})
	w.Advance(protocol.Minute)
	view, _ := w.Site("a").Archived(id)
	if view.State != protocol.Completed || !strings.Contains(view.Reason, "an earlier life of this site's store has taken it") {
		t.Errorf("the job is %v: %s", view.State, view.Reason)
	}
	if busy := w.RunUntilQuiet(protocol.Hour); busy != "" || w.Check() != nil {
		t.Errorf("still busy: %s; %v", busy, w.Err())
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
	p, err := peer.New(cfg, 1, []peer.Record{
		{Table: peer.SiteTable, Key: "site", Row: peer.SiteRow{
			FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8, Boot: 3, Begun: 1, Machine: "there",
		}},
		{Table: peer.PayloadTable, Key: key, Row: peer.PayloadRow{Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}},
		{Table: peer.JobTable, Key: key, Row: peer.JobRow{Spec: spec, Phase: peer.AtHome, Epoch: 1, Site: "a"}},
		{Table: peer.RunTable, Key: key + ".1", Row: peer.RunRow{Tag: tag, Phase: peer.Queued, Since: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	now := peertest.Epoch
	var starts []bool
	step := func(ev peer.Event) (calls []peer.Call) {
		ready := p.Step(now, ev)
		if ready.Starts != nil {
			starts = append(starts, *ready.Starts)
		}
		return ready.Calls
	}
	answer := func(calls []peer.Call) (all []peer.Call) {
		for _, call := range calls {
			if _, find := call.Op.(peer.FindOp); find {
				all = append(all, step(peer.CallDone{ID: call.ID, Result: peer.FindResult{Presence: localsched.Present}})...)
			}
			if _, withdraw := call.Op.(peer.WithdrawOp); withdraw {
				if slices.Contains(starts, true) {
					t.Error("the local scheduler may start jobs before the copied one is taken out")
				}
				all = append(all, step(peer.CallDone{ID: call.ID, Result: peer.WithdrawResult{Withdrawal: localsched.Withdrawn}})...)
			}
		}
		return all
	}
	calls := step(peer.Tick{})
	calls = append(calls, step(peer.Recover{Asked: 1, User: "root", Admin: true})...)
	for range 10 {
		now = now.Add(protocol.Minute)
		calls = answer(append(calls, step(peer.Tick{})...))
	}
	if want := []bool{false, true}; !slices.Equal(starts, want) {
		t.Errorf("the local scheduler may start jobs: %v, want %v", starts, want)
	}
}
