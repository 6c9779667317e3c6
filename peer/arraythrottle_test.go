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

// oneAtATime is an array of six elements, of which one may run at a time.
func oneAtATime() *protocol.Array {
	return &protocol.Array{Indexes: protocol.IndexesOf(0, 1, 2, 3, 4, 5), Throttle: 1}
}

// TestThrottleAfterRelease: elements that were held and are released wait for each other as those that never were jobs, and
// all run in the end.
func TestThrottleAfterRelease(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := twoCPUs(10 * protocol.Minute)
	job.Array = oneAtATime()
	job.Spec.Sites = []protocol.SiteName{"b"}
	filler := twoCPUs(protocol.Hour)
	filler.Spec.CPUs = 4
	submit(t, w, filler)
	id := submit(t, w, job)
	element := func(i int) protocol.JobID { return protocol.Element{Array: id, Index: i}.ID() }
	for i := range 4 {
		setHold(w, element(i), true, "ada", false)
		w.Advance(protocol.Minute)
	}
	for i := range 4 {
		setHold(w, element(i), false, "ada", false)
	}
	w.Advance(30 * protocol.Second)
	waiting := 0
	for i := range 4 {
		if shown(w, element(i)).Reason == view.ReasonArrayThrottle {
			waiting++
		}
	}
	if waiting != 4 {
		t.Errorf("%d of the elements that were released wait for the throttle, want all 4: the fifth is placed", waiting)
	}
	restarted(t, w, "a")
	w.Advance(6 * protocol.Hour)
	for i := range 6 {
		wantJob(t, w, element(i), protocol.Completed, "")
	}
}

// TestThrottleAfterSecondHold: an element that is held again while it waits for others of its array keeps none of these waiting.
func TestThrottleAfterSecondHold(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := twoCPUs(10 * protocol.Minute)
	job.Array = oneAtATime()
	job.Spec.Sites = []protocol.SiteName{"b"}
	job.Conditions.Begin = w.Now().Add(10 * protocol.Minute)
	id := submit(t, w, job)
	element := func(i int) protocol.JobID { return protocol.Element{Array: id, Index: i}.ID() }
	for i := range 3 {
		setHold(w, element(i), true, "ada", false)
	}
	w.Advance(12 * protocol.Minute)
	wantJob(t, w, element(3), protocol.Running, "")
	for i := range 3 {
		setHold(w, element(i), false, "ada", false)
		wantJob(t, w, element(i), protocol.Pending, view.ReasonArrayThrottle)
	}
	setHold(w, element(0), true, "ada", false)
	w.Advance(3 * protocol.Hour)
	for i := 1; i < 6; i++ {
		wantJob(t, w, element(i), protocol.Completed, "")
	}
	wantJob(t, w, element(0), protocol.Pending, view.ReasonHeldByUser)
	setHold(w, element(0), false, "ada", false)
	w.Advance(protocol.Hour)
	wantJob(t, w, id, protocol.Completed, "")
}

// TestThrottleAfterRecovery: elements that have become jobs since the rows were older wait for each other, too.
func TestThrottleAfterRecovery(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) { guarded(cfg) }, idle(peertest.Greedy{}, atOnce))
	s := submission(1)
	s.Jobs[0].Spec.Sites, s.Jobs[0].Array = []protocol.SiteName{"a"}, oneAtATime()
	l.step(s)
	l.advance(10 * protocol.Second)
	lost := l.life()
	lost.Generation += 1000
	l.again()
	l.advance(10 * protocol.Second)
	l.says(protocol.Watermark{Seen: lost})
	if !l.stopped() {
		t.Fatal("it goes on")
	}
	before := count[event.SubmitOp](l)
	l.step(event.Recover{Asked: 2, User: "root", Admin: true, Requeue: true})
	for range 10 {
		l.advance(protocol.Minute)
	}
	if n := count[event.SubmitOp](l) - before; n > 1 {
		t.Errorf("%d elements are submitted at once", n)
	}
}

// TestCancelArrayInDoubt: what an older database does not know of an array is not recorded as cancelled.
func TestCancelArrayInDoubt(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	job := at("b", 1, 10*protocol.Minute)
	job.Array = oneAtATime()
	id := submit(t, w, job)
	w.Advance(5 * protocol.Minute)
	backup := w.Site("a").Rows().Copy()
	w.Advance(10 * protocol.Minute) // the second runs at b
	card := w.Site("a").Peer().Card("")
	w.Restore("a", backup)
	w.Configure("a", func(cfg *rules.Config) { cfg.Witness = card.Life() })
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
	asked := w.Ask("a", func(asked event.AskID) event.Event { return event.Cancel{Asked: asked, Job: id, User: "ada"} })
	w.Advance(5 * protocol.Second)
	if got, ok := w.Site("a").Answer(asked).(view.Refusal); !ok || !strings.Contains(got.Reason, "recover --resume") {
		t.Errorf("%+v", w.Site("a").Answer(asked))
	}
	for _, r := range w.Site("b").Rows().Runs() {
		if r.Phase != row.RunRunning {
			t.Errorf("the element at b is %s", r.Phase)
		}
	}
}
