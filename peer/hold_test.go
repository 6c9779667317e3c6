package peer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// setHold holds a job of a, or releases it, and returns the answer.
func setHold(w *peertest.World, id protocol.JobID, hold bool, user string, admin bool) view.Reply {
	asked := w.Ask("a", func(asked event.AskID) event.Event {
		return event.SetHold{Asked: asked, Job: id, Hold: hold, User: user, Admin: admin}
	})
	w.Advance(protocol.Second)
	return w.Site("a").Answer(asked)
}

func restarted(t *testing.T, w *peertest.World, site protocol.SiteName) {
	t.Helper()
	w.Crash(site)
	if err := w.Restart(site); err != nil {
		t.Fatal(err)
	}
	w.Advance(10 * protocol.Second)
}

// wantJob compares a job's state and the beginning of its reason.
func wantJob(t *testing.T, w *peertest.World, id protocol.JobID, state protocol.State, reason string) {
	t.Helper()
	job, ended := w.Site("a").Archived(id)
	if !ended {
		job = shown(w, id)
	}
	if job.State != state || !strings.HasPrefix(job.Reason, reason) || reason == "" && job.Reason != "" {
		t.Fatalf("the job is %v (%s) at %q, want %v (%s)", job.State, job.Reason, job.Site, state, reason)
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

// TestHeldFromTheBeginning: a job that is submitted held waits in the grid queue, also after a restart, until its user
// releases it.
func TestHeldFromTheBeginning(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := twoCPUs(protocol.Minute)
	job.Conditions.Hold = protocol.HeldByUser
	id := submit(t, w, job)
	for range 2 {
		w.Advance(protocol.Hour)
		wantJob(t, w, id, protocol.Pending, view.ReasonHeldByUser)
		if stored, _ := w.Site("a").Rows().Job(id); stored.Phase != row.JobInGridQueue || stored.Epoch != 0 {
			t.Fatalf("the job is %s at epoch %d", stored.Phase, stored.Epoch)
		}
		restarted(t, w, "a")
	}
	if got, ok := setHold(w, id, false, "bob", false).(view.Refusal); !ok || got.Code != view.Denied {
		t.Errorf("another user releases it: %+v", got)
	}
	if got := setHold(w, id, false, "ada", false); got != (view.Done{}) {
		t.Errorf("its user releases it: %+v", got)
	}
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, id, protocol.Completed, "")
}

// TestHoldRecalls: a job that waits in the queue of a partner, or in the own one, comes back, and is held in the grid
// queue. Released, it runs.
func TestHoldRecalls(t *testing.T) {
	t.Parallel()
	for name, cpus := range map[string]int{"at a partner": 2, "here": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			one := func(run protocol.Duration) protocol.Job {
				job := peertest.Plan{Run: run}.Job(protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}})
				if cpus == 1 {
					job.Spec.Sites = []protocol.SiteName{"a"}
				}
				return job
			}
			for range cpus { // a has 1 CPU, b has 4: all that there are
				submit(t, w, one(protocol.Hour))
			}
			id := submit(t, w, one(protocol.Minute))
			if stored, _ := w.Site("a").Rows().Job(id); stored.Phase == row.JobInGridQueue || stored.State != protocol.Pending {
				t.Fatalf("the job is %s, %v", stored.Phase, stored.State)
			}
			setHold(w, id, true, "ada", false)
			w.Advance(3 * protocol.Hour)
			wantJob(t, w, id, protocol.Pending, view.ReasonHeldByUser)
			if stored, _ := w.Site("a").Rows().Job(id); stored.Phase != row.JobInGridQueue {
				t.Fatalf("the job is %s", stored.Phase)
			}
			setHold(w, id, false, "ada", false)
			w.Advance(protocol.Hour)
			wantJob(t, w, id, protocol.Completed, "")
		})
	}
}

// TestHoldOfStarted: a job that runs cannot be held.
func TestHoldOfStarted(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	id := submit(t, w, twoCPUs(protocol.Hour))
	if got, ok := setHold(w, id, true, "ada", false).(view.Refusal); !ok || got.Code != view.Conflict || !strings.Contains(got.Reason, "RUNNING") {
		t.Errorf("%+v", got)
	}
	wantJob(t, w, id, protocol.Running, "")
}

// startedUnheard is a job that runs at b, which its origin a does not know yet. All messages are delivered by hand.
func startedUnheard(t *testing.T) (w *peertest.World, id protocol.JobID, deliver func(but string)) {
	t.Helper()
	w, err := peertest.New(peertest.Options{Seed: 3, Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 1, Nodes: 1}}, {Name: "b", Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	asked := w.Submit("a", "ada", "", twoCPUs(protocol.Hour))
	w.Advance(protocol.Second)
	submitted, ok := w.Site("a").Answer(asked).(view.Submitted)
	if !ok {
		t.Fatalf("%+v", w.Site("a").Answer(asked))
	}
	id = submitted.Jobs[0]
	deliver = func(but string) {
		for range 100 {
			for _, wire := range w.Wires() {
				if wire.Kind != but {
					w.Deliver(wire)
				}
			}
			w.Advance(100)
		}
	}
	deliver(protocol.Status{}.Kind())
	if at, _ := w.LastStart(id); at == 0 {
		t.Fatal("it has not started")
	}
	return w, id, deliver
}

// tooLate is a job that runs at b and was held before its origin a knew that: the hold has no effect.
func tooLate(t *testing.T) (w *peertest.World, id protocol.JobID, deliver func(but string)) {
	t.Helper()
	w, id, deliver = startedUnheard(t)
	if got := setHold(w, id, true, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	deliver("")
	wantJob(t, w, id, protocol.Running, "")
	return w, id, deliver
}

// TestHoldTooLate: a job that had started before the hold reached its site runs on there, and is not held, also where it
// is run again since its node failed.
func TestHoldTooLate(t *testing.T) {
	t.Parallel()
	w, id, _ := tooLate(t)
	stored, _ := w.Site("a").Rows().Job(id)
	if now := shown(w, id); stored.Phase != row.JobHandedOff || now.Conditions.Hold != "" {
		t.Errorf("the job is %s, %+v", stored.Phase, now.Conditions)
	}
	if stored.Rerun(); stored.Conditions != nil {
		t.Errorf("run again it is held: %+v", stored.Conditions)
	}
}

// TestRequeueAfterHoldTooLate: a hold that came too late for a run has no effect on the next one, which a user wants; one that
// comes with the requeue has.
func TestRequeueAfterHoldTooLate(t *testing.T) {
	t.Parallel()
	for _, hold := range []bool{false, true} {
		w, id, deliver := tooLate(t)
		if got := requeued(w, event.Requeue{Job: id, Hold: hold, User: "ada"}); got != (view.Done{}) {
			t.Fatalf("%+v", got)
		}
		deliver("")
		if hold {
			wantJob(t, w, id, protocol.Pending, view.ReasonHeldByUser)
			continue
		}
		wantJob(t, w, id, protocol.Running, "")
		wantStarts(t, w, id, 2)
	}
}

// TestHoldOfWhatNeverBegan: a job that its site reports as running while a hold is on its way there, and then gives back as
// never begun, is held.
func TestHoldOfWhatNeverBegan(t *testing.T) {
	t.Parallel()
	l, _ := atPartner(t, 1)
	offer := l.expensive()
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	say := func(m protocol.Message) { l.step(event.MessageIn{From: "b", Body: m}) }
	say(protocol.Prepared{Tag: tag})
	say(protocol.Accept{Tag: tag})
	l.step(event.SetHold{Job: tag.Job, User: "ada", Hold: true})
	if recall, ok := l.last().(protocol.Recall); !ok || recall.Cancel {
		t.Fatalf("b is sent %+v", l.last())
	}
	say(protocol.Status{Tag: tag, Seq: 1, State: protocol.Running})
	say(protocol.Recalled{Tag: tag})
	if now := l.view(tag.Job); now.State != protocol.Pending || now.Reason != view.ReasonHeldByUser {
		t.Errorf("it is %v (%s)", now.State, now.Reason)
	}
}

// TestHeldByAdmin: what an administrator holds its user cannot release, whether or not he has held it before.
func TestHeldByAdmin(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := twoCPUs(protocol.Minute)
	job.Conditions.Hold = protocol.HeldByUser
	id := submit(t, w, job)
	setHold(w, id, true, "root", true)
	setHold(w, id, true, "ada", false)
	wantJob(t, w, id, protocol.Pending, view.ReasonHeldByAdmin)
	if got, ok := setHold(w, id, false, "ada", false).(view.Refusal); !ok || got.Code != view.Denied {
		t.Errorf("%+v", got)
	}
	restarted(t, w, "a")
	wantJob(t, w, id, protocol.Pending, view.ReasonHeldByAdmin)
	setHold(w, id, false, "root", true)
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, id, protocol.Completed, "")
}

// TestBegin: a job waits for the instant of --begin by the clock of its origin, also over a restart, and when that clock
// is set.
func TestBegin(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := twoCPUs(protocol.Minute)
	begin := w.Now().Add(protocol.Hour)
	job.Conditions.Begin = begin
	id := submit(t, w, job)
	w.Advance(50 * protocol.Minute)
	wantJob(t, w, id, protocol.Pending, view.ReasonBeginTime)
	restarted(t, w, "a")
	wantJob(t, w, id, protocol.Pending, view.ReasonBeginTime)
	w.Advance(begin.Sub(w.Now()) - protocol.Second)
	wantJob(t, w, id, protocol.Pending, view.ReasonBeginTime)
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, id, protocol.Completed, "")
	if at, _ := w.LastStart(id); at < begin || at > begin.Add(protocol.Minute) {
		t.Errorf("it started at %s, to begin at %s", at.Text(), begin.Text())
	}
}

// TestDeadline: a job that can no longer end by its deadline ends, wherever it waits; one that has started goes on.
func TestDeadline(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	deadline := w.Now().Add(2 * protocol.Hour)
	until := func(job protocol.Job) protocol.Job {
		job.Conditions.Deadline = deadline
		return job
	}
	runs := submit(t, w, until(twoCPUs(50*protocol.Minute)))
	submit(t, w, twoCPUs(2*protocol.Hour)) // both are cut off after an hour
	submit(t, w, twoCPUs(2*protocol.Hour))
	waits := submit(t, w, until(twoCPUs(protocol.Minute)))
	held := until(twoCPUs(protocol.Minute))
	held.Conditions.Hold = protocol.HeldByUser
	id := submit(t, w, held)
	w.Advance(49 * protocol.Minute)
	for _, id := range []protocol.JobID{waits, id} {
		if job, ended := w.Site("a").Archived(id); ended {
			t.Fatalf("it ended early: %+v", job)
		}
	}
	w.Advance(3 * protocol.Hour)
	wantJob(t, w, runs, protocol.Completed, "")
	wantJob(t, w, id, protocol.Cancelled, view.ReasonDeadline)
	wantJob(t, w, waits, protocol.Cancelled, view.ReasonDeadline)
	late := twoCPUs(protocol.Minute)
	late.Conditions.Deadline = w.Now().Add(59 * protocol.Minute)
	asked := w.Submit("a", "ada", "", late)
	w.Advance(protocol.Second)
	if got, ok := w.Site("a").Answer(asked).(view.Refusal); !ok || got.Code != view.BadRequest || !strings.Contains(got.Reason, "deadline") {
		t.Errorf("a deadline that cannot be met: %+v", w.Site("a").Answer(asked))
	}
}

// TestReleaseInDoubt: a job that may have run, by what an older database does not know, is not run by its release.
func TestReleaseInDoubt(t *testing.T) {
	t.Parallel()
	w := guardedSites(t)
	job := at("a", 1, 10*protocol.Minute)
	job.Conditions.Hold = protocol.HeldByUser
	id := submit(t, w, job)
	backup := w.Site("a").Rows().Copy()
	setHold(w, id, false, "ada", false)
	card := w.Site("a").Peer().Card("")
	w.Advance(15 * protocol.Minute)
	if starts(w) != 1 || len(w.Site("a").Finished()) != 1 {
		t.Fatalf("%d starts", starts(w))
	}
	w.Restore("a", backup)
	w.Configure("a", func(cfg *rules.Config) { cfg.Witness = card.Life() })
	if err := w.Restart("a"); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * protocol.Second)
	resume(t, w, "a", event.Recover{})
	w.Advance(10 * protocol.Minute)
	setHold(w, id, false, "ada", false)
	w.Advance(20 * protocol.Minute)
	if stored, _ := w.Site("a").Rows().Job(id); stored.Phase != row.JobInGridQueue || stored.OperatorReason == "" || starts(w) != 1 {
		t.Errorf("the job is %s (%s), with %d starts", stored.Phase, stored.OperatorReason, starts(w))
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestBeginWhenTheClockIsSet: a job and an array whose begin has passed at one blow go on at once, and no sooner than
// it.
func TestBeginWhenTheClockIsSet(t *testing.T) {
	t.Parallel()
	for name, elements := range map[string]*protocol.Array{"a job": nil, "an array": {Indexes: protocol.IndexesOf(0, 1)}} {
		for _, jump := range []protocol.Duration{30 * protocol.Minute, 3 * protocol.Hour} {
			t.Run(name+", "+jump.Text(), func(t *testing.T) {
				t.Parallel()
				l := newLone(t, func(cfg *rules.Config) { cfg.Partners = nil }, idle(peertest.Greedy{}, atOnce))
				s, began := submission(1), l.now.Add(protocol.Hour)
				s.Jobs[0].Conditions.Begin, s.Jobs[0].Array = began, elements
				l.step(s)
				l.now = l.now.Add(jump)
				want := max(began, l.now)
				l.step(event.ClockSet{By: jump})
				if wait := want.Sub(l.now); wait > 0 {
					if l.advance(wait - 1); count[event.SubmitOp](l) != 0 {
						t.Fatal("it is submitted before its begin")
					}
				}
				l.advance(2)
				if count[event.SubmitOp](l) == 0 {
					t.Errorf("it waits at %s, to begin at %s", l.now.Text(), began.Text())
				}
			})
		}
	}
}

// TestOrderWhenTheClockIsSet: jobs that end at one instant do so in the same order each time.
func TestOrderWhenTheClockIsSet(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) { cfg.Partners = nil }, idle(peertest.Greedy{}, atOnce))
	s := submission(20)
	for i := range s.Jobs {
		s.Jobs[i].Conditions = protocol.Conditions{Hold: protocol.HeldByUser, Deadline: l.now.Add(5 * protocol.Hour)}
	}
	l.step(s)
	l.now = l.now.Add(protocol.Hour)
	l.step(event.ClockSet{By: protocol.Hour})
	l.advance(10 * protocol.Hour)
	var ended []string
	for _, r := range l.records {
		if r.Table == row.ArchiveTable {
			ended = append(ended, r.Key)
		}
	}
	if len(ended) != 20 || !slices.IsSorted(ended) {
		t.Errorf("ended: %v", ended)
	}
}

// TestHeldMemberKeepsItsGroup: a member of a group that is held while the policy decides keeps the others from being
// placed.
func TestHeldMemberKeepsItsGroup(t *testing.T) {
	t.Parallel()
	l := holder(t, func(cfg *rules.Config) { cfg.Initiation = "" }, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.DecideOp); ok {
			return nil, errLater
		}
		return nil, nil
	})
	l.gather("b", "c", unchanged)
	i := slices.IndexFunc(l.open, func(c event.Call) bool { _, ok := c.Op.(event.DecideOp); return ok })
	if i < 0 {
		t.Fatalf("no decision: %+v", l.open)
	}
	l.step(event.SetHold{Job: l.jobs()[1].Spec.Job, User: "ada", Hold: true})
	op, _ := l.open[i].Op.(event.DecideOp)
	decisions, hint, err := peertest.Greedy{ApplicationAware: true}.Decide(t.Context(), op.Snapshot)
	l.step(event.CallDone{ID: l.open[i].ID, Result: event.DecideResult{Decisions: decisions, Hint: hint}, Err: err})
	for _, j := range l.jobs() {
		if j.Phase != row.JobInGridQueue {
			t.Errorf("job %v is %s", j.Spec.Job, j.Phase)
		}
	}
	if why := l.jobs()[0].Reason; !strings.Contains(why, "is held") {
		t.Errorf("the other waits with %q", why)
	}
}
