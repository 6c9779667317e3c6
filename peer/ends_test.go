package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// forgetful are faults that lose each call that has a local scheduler forget a job, as a crash before the call does: it goes on
// reporting the end. To withdraw one takes a second.
type forgetful struct{ *peertest.Nemesis }

func (f forgetful) Call(site protocol.SiteName, op event.Op) peertest.CallFate {
	switch op.(type) { //nolint:gochecksumtype // the others are as usual
	case event.ForgetOp:
		return peertest.CallFate{Effect: -1, Unknown: true}
	case event.WithdrawOp:
		return peertest.CallFate{Effect: protocol.Second, Answer: protocol.Second}
	}
	return f.Nemesis.Call(site, op)
}

// restoredSites are a and b, whose local schedulers forget nothing, as guardedSites has them, and a job that runs at a.
func restoredSites(t *testing.T) (w *peertest.World, job protocol.JobID) {
	t.Helper()
	config := func(cfg *rules.Config) {
		guarded(cfg)
		cfg.Requeueable = rules.Requeueable{For: protocol.Hour, Jobs: 10, Bytes: 1 << 20}
	}
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: forgetful{gentle()}, Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}, Config: config},
		{Name: "b", Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Config: config},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
	job = submit(t, w, at("a", 1, 10*protocol.Minute))
	w.Advance(5 * protocol.Second)
	wantJob(t, w, job, protocol.Running, "")
	return w, job
}

// putBack puts rows of an earlier time back at a, whose witness file has seen more, and starts its peer.
func putBack(t *testing.T, w *peertest.World, backup peertest.Rows) {
	t.Helper()
	card := w.Site("a").Peer().Card("")
	latest := card.Life()
	w.Restore("a", backup)
	w.Configure("a", func(cfg *rules.Config) { cfg.Witness = latest })
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
}

// TestEndsOfOlderRows: rows are put back in which a job runs, and since which its run has ended. No end counts before an operator has
// said that the rows go on, and the job says what it waits for. Then the job goes on with a later run that the local scheduler has;
// it ends if that end must be its own; and it is left to an operator if it may have been placed again.
func TestEndsOfOlderRows(t *testing.T) {
	t.Parallel()
	requeue := func(t *testing.T, w *peertest.World, job protocol.JobID) {
		t.Helper()
		if got := requeued(w, event.Requeue{Job: job, User: "ada"}); got != (view.Done{}) {
			t.Fatalf("answered %+v", got)
		}
		w.Advance(10 * protocol.Second)
	}
	for name, tt := range map[string]struct {
		since  func(*testing.T, *peertest.World, protocol.JobID)
		before string // what the job says until then, after NeedsOperator
		after  protocol.State
		says   string // then; a prefix
		epoch  protocol.Epoch
		ends   protocol.State // in the end, without an operator; 0: it waits for one
		starts int
	}{
		"requeued, and running again": {
			since: requeue, before: "its run has ended as CANCELLED",
			after: protocol.Running, epoch: 2, ends: protocol.Completed, starts: 2,
		},
		"requeued, and ended again": {
			since: func(t *testing.T, w *peertest.World, job protocol.JobID) {
				t.Helper()
				requeue(t, w, job)
				w.Advance(20 * protocol.Minute)
			}, before: "its run has ended as CANCELLED", after: protocol.Completed, epoch: 2, ends: protocol.Completed, starts: 2,
		},
		"requeued, and held": {
			since: func(t *testing.T, w *peertest.World, job protocol.JobID) {
				t.Helper()
				if got := requeued(w, event.Requeue{Job: job, User: "ada", Hold: true}); got != (view.Done{}) {
					t.Fatalf("answered %+v", got)
				}
				w.Advance(10 * protocol.Second)
			}, before: "its run has ended as CANCELLED", after: protocol.Pending, says: "NeedsOperator: this database may not know", epoch: 1, starts: 1,
		},
		"cancelled": {
			since: func(_ *testing.T, w *peertest.World, job protocol.JobID) {
				w.Cancel("a", job)
				w.Advance(10 * protocol.Second)
			}, before: "its run has ended as CANCELLED", after: protocol.Pending, says: "NeedsOperator: this database may not know", epoch: 1, starts: 1,
		},
		"ended by itself": {
			since:  func(_ *testing.T, w *peertest.World, _ protocol.JobID) { w.Advance(20 * protocol.Minute) },
			before: "its run has ended as COMPLETED", after: protocol.Completed, epoch: 1, ends: protocol.Completed, starts: 1,
		},
		"ended by itself, and requeued after that": {
			since: func(t *testing.T, w *peertest.World, job protocol.JobID) {
				t.Helper()
				w.Advance(20 * protocol.Minute)
				requeue(t, w, job)
			}, before: "its run has ended as COMPLETED", after: protocol.Running, epoch: 2, ends: protocol.Completed, starts: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, job := restoredSites(t)
			backup := w.Site("a").Rows().Copy()
			tt.since(t, w, job)
			putBack(t, w, backup)
			for range 3 { // also after restarts, and however long nobody looks
				wantJob(t, w, job, protocol.Running, "NeedsOperator: "+tt.before)
				if reason := shown(w, job).Reason; !strings.Contains(reason, "until an operator has run `switchyard recover`") {
					t.Errorf("the reason says no remedy: %s", reason)
				}
				restart(t, w, "a")
				w.Advance(protocol.Minute)
			}
			resume(t, w, "a", event.Recover{})
			w.Advance(10 * protocol.Second)
			wantJob(t, w, job, tt.after, tt.says)
			got, ended := w.Site("a").Archived(job)
			if !ended {
				got = shown(w, job)
			}
			if got.Epoch != tt.epoch {
				t.Errorf("it is at epoch %d, want %d", got.Epoch, tt.epoch)
			}
			w.Advance(protocol.Hour)
			if tt.ends == 0 {
				wantJob(t, w, job, tt.after, tt.says)
				w.Cancel("a", job)
				w.Advance(protocol.Minute)
				wantJob(t, w, job, protocol.Cancelled, "outcome unknown: ")
			} else {
				wantJob(t, w, job, tt.ends, "")
			}
			wantStarts(t, w, job, tt.starts)
			if left := w.Site("a").Peer().Leftovers(); len(left) > 1 { // it can be requeued
				t.Errorf("left are %s", strings.Join(left, "; "))
			}
		})
	}
}

// TestRequeuedSinceItsEnd: rows are put back in which a job has ended, which was requeued since. Where the local scheduler has it
// again, it is open again once an operator has said that these rows go on; before that its row is kept, however old it is.
func TestRequeuedSinceItsEnd(t *testing.T) {
	t.Parallel()
	w, job := restoredSites(t)
	w.Advance(20 * protocol.Minute)
	wantJob(t, w, job, protocol.Completed, "")
	backup := w.Site("a").Rows().Copy()
	if got := requeued(w, event.Requeue{Job: job, User: "ada"}); got != (view.Done{}) {
		t.Fatalf("answered %+v", got)
	}
	w.Advance(10 * protocol.Second)
	putBack(t, w, backup)
	wantJob(t, w, job, protocol.Completed, "")
	if aside := recovery(w, "a").Aside; len(aside) != 1 || aside[0].Tag != (protocol.Tag{Job: job, Epoch: 2}) {
		t.Errorf("listed is %+v", aside)
	}
	w.Advance(2 * protocol.Hour) // for which nothing is kept that has ended
	resume(t, w, "a", event.Recover{})
	w.Advance(protocol.Minute)
	wantJob(t, w, job, protocol.Completed, "")
	got, _ := w.Site("a").Archived(job)
	if got.Epoch != 2 {
		t.Errorf("it has ended at epoch %d", got.Epoch)
	}
	wantStarts(t, w, job, 2)
}

// TestAReturnOfOlderRows: rows are put back in which a job of the local queue is being cancelled. That it has been taken out is no end
// before an operator has said that the rows go on. It had been requeued after that, so it goes on, unless it is cancelled once more.
func TestAReturnOfOlderRows(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		testReturn(t, again)
	}
}

func testReturn(t *testing.T, again bool) {
	t.Helper()
	w, _ := restoredSites(t)
	submit(t, w, at("a", 1, 10*protocol.Minute))
	waits := submit(t, w, at("a", 2, protocol.Minute))
	w.Advance(5 * protocol.Second)
	w.Cancel("a", waits)
	backup := w.Site("a").Rows().Copy()
	if stored, _ := backup.Job(waits); !stored.Cancelling || stored.Phase != row.JobCommittedLocal {
		t.Fatalf("the job is %s, cancelling %v", stored.Phase, stored.Cancelling)
	}
	w.Advance(10 * protocol.Second)
	wantJob(t, w, waits, protocol.Cancelled, "")
	if got := requeued(w, event.Requeue{Job: waits, User: "ada"}); got != (view.Done{}) {
		t.Fatalf("answered %+v", got)
	}
	w.Advance(10 * protocol.Second)
	putBack(t, w, backup)
	w.Advance(10 * protocol.Minute)
	wantJob(t, w, waits, protocol.Pending, "NeedsOperator: ")
	ends, says := protocol.Completed, ""
	if again {
		ends, says = protocol.Cancelled, "killed"
		w.Cancel("a", waits)
	}
	resume(t, w, "a", event.Recover{})
	w.Advance(2 * protocol.Hour)
	wantJob(t, w, waits, ends, says)
	wantStarts(t, w, waits, 1)
}

// TestCancelledWhileRowsAreOlder: rows are put back in which a job runs that has been requeued since, and it is cancelled before an
// operator has said that they go on. The run that they do not know ends, too.
func TestCancelledWhileRowsAreOlder(t *testing.T) {
	t.Parallel()
	w, job := restoredSites(t)
	backup := w.Site("a").Rows().Copy()
	if got := requeued(w, event.Requeue{Job: job, User: "ada"}); got != (view.Done{}) {
		t.Fatalf("answered %+v", got)
	}
	w.Advance(10 * protocol.Second)
	putBack(t, w, backup)
	w.Cancel("a", job)
	w.Advance(10 * protocol.Second)
	wantJob(t, w, job, protocol.Running, "NeedsOperator: ")
	restart(t, w, "a")
	w.Advance(10 * protocol.Second)
	resume(t, w, "a", event.Recover{})
	w.Advance(protocol.Minute)
	got, _ := w.Site("a").Archived(job)
	if got.State != protocol.Cancelled || got.Epoch != 2 || strings.Contains(got.Reason, "unknown") || got.Restarts != 1 {
		t.Errorf("the job is %v at epoch %d after %d restarts: %s", got.State, got.Epoch, got.Restarts, got.Reason)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestEndsOfOlderRowsAtAPartner: rows are put back in which a job runs at a partner. Since then it was requeued, so that its partner has
// ended it; what acknowledges that was lost. The end counts for the run alone: the job goes on with the one that the local scheduler
// has, or an operator decides.
func TestEndsOfOlderRowsAtAPartner(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hold   bool // the job waits in the grid queue then; else it runs here
		cancel bool // then, while its site cannot be reached
		comes  bool // by these rows its output comes home in order that it is placed again; else it runs
		after  protocol.State
		says   string
		ends   protocol.State
		starts int
	}{
		"running here":                           {after: protocol.Running, ends: protocol.Completed, starts: 2},
		"running here, and cancelled":            {cancel: true, after: protocol.Cancelled, ends: protocol.Cancelled, says: "killed", starts: 2},
		"running here, and its output came home": {comes: true, after: protocol.Running, ends: protocol.Completed, starts: 2},
		"held, and its output came home": {
			comes: true, hold: true, after: protocol.Pending, says: "NeedsOperator: this database may not know", ends: protocol.Cancelled, starts: 1,
		},
		"held": {hold: true, after: protocol.Running, says: "NeedsOperator: this database may not know", ends: protocol.Cancelled, starts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := restoredSites(t)
			submit(t, w, at("a", 1, protocol.Minute))
			w.Advance(5 * protocol.Second)
			job := submit(t, w, peertest.Plan{Run: 20 * protocol.Minute}.Job(protocol.Spec{
				Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "x",
			}))
			w.Advance(2 * protocol.Minute)
			wantAt(t, w, job, "b", protocol.Running)
			backup := w.Site("a").Rows().Copy()
			w.Ask("a", func(asked event.AskID) event.Event {
				return event.Requeue{Asked: asked, Job: job, User: "ada", Hold: tt.hold}
			})
			stored, _ := w.Site("a").Rows().Job(job)
			for range 60_000 {
				if stored.Spec.Restarts == 1 {
					break
				}
				if tt.comes && w.Site("b").Rows().Guests()[0].Recalled && stored.Phase != row.JobStagingOut {
					w.Cut("a", "b") // so that it does not come yet
				}
				w.Advance(1)
				if stored, _ = w.Site("a").Rows().Job(job); tt.comes && stored.Phase == row.JobStagingOut {
					backup = w.Site("a").Rows().Copy()
					w.Heal("a", "b")
				}
			}
			w.Cut("a", "b") // with the acknowledgement on its way
			w.Advance(20 * protocol.Second)
			if guests := w.Site("b").Rows().Guests(); stored.Spec.Restarts != 1 || guests[0].Phase != row.GuestAccepted {
				t.Fatalf("the job is %s after %d restarts, and %s at b", stored.Phase, stored.Spec.Restarts, guests[0].Phase)
			}
			putBack(t, w, backup)
			w.Heal("a", "b")
			w.Connect("a", "b")
			w.Advance(protocol.Minute)
			if got := shown(w, job); got.State != protocol.Running {
				t.Fatalf("the job is %v: %s", got.State, got.Reason)
			}
			if tt.cancel {
				w.Cut("a", "b") // so that the job is not taken for the one that runs here yet
			}
			resume(t, w, "a", event.Recover{})
			if tt.cancel {
				w.Advance(10 * protocol.Second)
				w.Cancel("a", job)
				w.Advance(10 * protocol.Second)
				w.Heal("a", "b")
				w.Connect("a", "b")
			}
			w.Advance(2 * protocol.Minute)
			wantJob(t, w, job, tt.after, tt.says)
			w.Advance(protocol.Hour)
			if tt.ends == protocol.Cancelled && !tt.cancel {
				wantJob(t, w, job, tt.after, tt.says)
				w.Cancel("a", job)
				w.Advance(protocol.Minute)
				tt.says = "outcome unknown: "
			}
			wantJob(t, w, job, tt.ends, tt.says)
			wantStarts(t, w, job, tt.starts)
		})
	}
}
