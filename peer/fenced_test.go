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

// reclaimed is a world whose job with Requeue waits in the local queue of b, from which it was
// taken since b was not heard. Only b has room for it.
func reclaimed(t *testing.T, watermark protocol.Duration) (*peertest.World, protocol.JobID) {
	t.Helper()
	w := twoSites(t)
	for _, s := range w.Sites() {
		w.Crash(s.Name)
		w.Configure(s.Name, func(cfg *rules.Config) { cfg.Watermark = watermark })
		if err := w.Restart(s.Name); err != nil {
			t.Fatal(err)
		}
	}
	busy := twoCPUs(protocol.Hour)
	busy.Spec.CPUs = 4
	w.Submit("b", "ada", "", busy)
	w.Advance(10 * protocol.Second)
	job := twoCPUs(protocol.Minute)
	job.Spec.Requeue = true
	id := submit(t, w, job)
	part(w)
	w.Advance(20 * protocol.Minute)
	if stored, _ := w.Site("a").Rows().Job(id); stored.Phase != row.JobInGridQueue || len(stored.Fenced) != 1 {
		t.Fatalf("the job is %s, taken from %v", stored.Phase, stored.Fenced)
	}
	return w, id
}

// part cuts the wires between a and b.
func part(w *peertest.World) {
	w.Cut("a", "b")
	w.Cut("b", "a")
	w.Disconnect("a", "b")
	w.Disconnect("b", "a")
}

// meet connects them again.
func meet(w *peertest.World) {
	w.Heal("a", "b")
	w.Heal("b", "a")
	w.Connect("a", "b")
}

// shown is a job as its user sees it.
func shown(w *peertest.World, id protocol.JobID) view.Job {
	asked := w.Ask("a", func(asked event.AskID) event.Event { return event.AskJob{Asked: asked, Job: id} })
	view, _ := w.Site("a").Answer(asked).(view.Job)
	return view
}

// TestCancelAfterReclaim: a job that was taken from a silent site, and is cancelled while it waits
// for another one, is CANCELLED only once that site has said that it will not start it.
func TestCancelAfterReclaim(t *testing.T) {
	t.Parallel()
	for name, watermark := range map[string]protocol.Duration{"lives": 10 * protocol.Second, "no lives": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, id := reclaimed(t, watermark)
			w.Cancel("a", id)
			w.Advance(10 * protocol.Minute)
			if view := shown(w, id); view.State != protocol.Pending || !strings.Contains(view.Reason, "Cancelling (it was reclaimed from b,") {
				t.Errorf("it is shown as %v, %q", view.State, view.Reason)
			}
			w.Crash("a")
			if err := w.Restart("a"); err != nil {
				t.Fatal(err)
			}
			w.Advance(protocol.Minute)
			meet(w)
			w.Advance(protocol.Minute)
			if view, _ := w.Site("a").Archived(id); view.State != protocol.Cancelled || view.Reason != "" {
				t.Errorf("it ended as %v, %q", view.State, view.Reason)
			}
			w.Advance(2 * protocol.Hour)
			if at, site := w.LastStart(id); at != 0 {
				t.Errorf("it started at %s", site)
			}
			if err := w.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCancelAfterReclaimRunning: the same of a job that has started meanwhile: it is ended there first.
func TestCancelAfterReclaimRunning(t *testing.T) {
	t.Parallel()
	w, id := reclaimed(t, 10*protocol.Second)
	w.Cancel("a", id)
	w.Advance(40*protocol.Minute - 15*protocol.Second)
	if at, _ := w.LastStart(id); at == 0 {
		t.Fatal("it has not started")
	}
	meet(w)
	w.Advance(protocol.Minute)
	if view, _ := w.Site("a").Archived(id); view.State != protocol.Cancelled || view.Reason != "" {
		t.Errorf("it ended as %v, %q", view.State, view.Reason)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestCancelAfterReclaimUnknown: such a job ends at once with its outcome unknown when its user
// cancels it again, when its site is no partner any more, and when the site has lost its records.
// What is left of it there is ended as soon as that site is heard.
func TestCancelAfterReclaimUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(t *testing.T, w *peertest.World, id protocol.JobID)
		want string
	}{
		"again": {func(_ *testing.T, w *peertest.World, id protocol.JobID) {
			w.Cancel("a", id)
			w.Cancel("a", id)
		}, "outcome unknown: it was reclaimed from b,"},
		"departed": {func(_ *testing.T, w *peertest.World, id protocol.JobID) {
			w.SetPartners("a", func(cfg *rules.Config) { cfg.Partners = nil })
			w.Cancel("a", id)
		}, "outcome unknown: b may still run the job, and is no longer a partner"},
		"departs": {func(t *testing.T, w *peertest.World, id protocol.JobID) {
			t.Helper()
			w.Cancel("a", id)
			w.SetPartners("a", func(cfg *rules.Config) { cfg.Partners = nil })
			if view := shown(w, id); !strings.HasPrefix(view.Reason, "NeedsOperator: b may still run the job") {
				t.Errorf("it is shown as %v, %q", view.State, view.Reason)
			}
			w.Cancel("a", id)
		}, "outcome unknown: b may still run the job, and is no longer a partner"},
		"lost": {func(t *testing.T, w *peertest.World, id protocol.JobID) {
			t.Helper()
			w.Cancel("a", id)
			w.Wipe("b")
			if err := w.Restart("b"); err != nil {
				t.Fatal(err)
			}
			meet(w)
			w.Advance(protocol.Minute)
		}, "outcome unknown: b has lost its records of this job"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, id := reclaimed(t, 10*protocol.Second)
			var partners []rules.Partner
			w.Configure("a", func(cfg *rules.Config) { partners = cfg.Partners })
			c.do(t, w, id)
			w.Advance(protocol.Second)
			if view, _ := w.Site("a").Archived(id); view.State != protocol.Cancelled || !strings.HasPrefix(view.Reason, c.want) {
				t.Errorf("it ended as %v, %q", view.State, view.Reason)
			}
			w.SetPartners("a", func(cfg *rules.Config) { cfg.Partners = partners })
			meet(w)
			w.Advance(4 * protocol.Hour)
			for _, g := range w.Site("b").Rows().Guests() {
				if g.Phase == row.GuestAccepted {
					t.Errorf("b still has it: %+v", g)
				}
			}
			if err := w.Check(); err != nil && name != "lost" { // with the records of b's own job
				t.Error(err)
			}
		})
	}
}
