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
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// missing has a pair of components start together at a and b, of which b is down at the instant:
// it has room for its own, and the grant does not come.
func missing(t *testing.T, requeue bool, options func(*protocol.Application), down protocol.Duration) (*peertest.World, *peertest.Site) {
	t.Helper()
	jobs := pair(2, []protocol.SiteName{"a"}, []protocol.SiteName{"b"})
	for i := range jobs {
		jobs[i].Payload = peertest.Plan{Run: 3 * protocol.Minute}.Payload()
		jobs[i].Spec.WallTime = 4 * protocol.Minute
		jobs[i].Spec.Requeue = requeue
	}
	return lastMissing(t, jobs, options, down)
}

// lastMissing does so with other components, the last of which runs at b.
func lastMissing(t *testing.T, jobs []protocol.Job, options func(*protocol.Application), down protocol.Duration) (*peertest.World, *peertest.Site) {
	t.Helper()
	w, last := holders(t, "abc"), len(jobs)-1
	app := wanting()
	options(app)
	w.Ask("a", func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: app}
	})
	s := w.Site("a")
	for range 10_000 {
		rows := s.Rows().Jobs()
		if len(rows) == len(jobs) && rows[last].ReservedAt != 0 {
			break
		}
		w.Advance(1)
	}
	w.Crash("b")
	w.Disconnect("a", "b")
	if s.Rows().Jobs()[last].ReservedAt == 0 {
		t.Fatal("b holds no room")
	}
	w.Advance(down)
	if err := w.Restart("b"); err != nil {
		t.Fatal(err)
	}
	return w, s
}

// A component whose site is down at the instant does not start alone when that is back: the other
// one, which has started, is ended, and both start together, later.
func TestMissedStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	w, s := missing(t, true, func(*protocol.Application) {}, protocol.Minute)
	quiet(t, w)
	starts, sites := startsOf(t, w, s)
	if len(starts) != 2 || starts[0] != starts[1] {
		t.Errorf("they started at %v, at %v", starts, sites)
	}
}

// Within the tolerance it starts, however late.
func TestStartWithinTheTolerance(t *testing.T) {
	t.Parallel()
	w, s := missing(t, false, func(a *protocol.Application) { a.StartTolerance = 10 * protocol.Minute }, protocol.Minute)
	quiet(t, w)
	starts, sites := startsOf(t, w, s)
	if len(starts) != 2 || starts[1] <= starts[0] {
		t.Errorf("they started at %v, at %v", starts, sites)
	}
}

// Where the other one may not start twice, or the user wants it, the group ends, and each says why.
func TestMissedStartEndsTheGroup(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		requeue bool
		missed  string
		down    protocol.Duration
		states  []protocol.State
		want    string
	}{
		"run once":      {false, "", protocol.Minute, []protocol.State{protocol.Cancelled, protocol.Cancelled}, "may not start twice; submitted with --requeue"},
		"as wanted":     {true, protocol.FailMissed, protocol.Minute, []protocol.State{protocol.Cancelled, protocol.Cancelled}, "which its user wants to end then"},
		"ended without": {true, "", 5 * protocol.Minute, []protocol.State{protocol.Completed, protocol.Cancelled}, "which has ended without it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := missing(t, tt.requeue, func(a *protocol.Application) { a.StartMissed = tt.missed }, tt.down)
			quiet(t, w)
			all := s.Finished()
			if len(all) != 2 {
				t.Fatalf("%d jobs have ended", len(all))
			}
			for i, view := range all {
				if view.State != tt.states[i] || (view.State == protocol.Cancelled && !strings.Contains(view.Reason, tt.want)) {
					t.Errorf("job %v is %v: %s", view.ID, view.State, view.Reason)
				}
			}
			if at, site := w.LastStart(all[1].ID); site != "" {
				t.Errorf("the one that missed the start started at %v, at %s", at, site)
			}
		})
	}
}

// A component that has missed the start of its group ends if one of the others has run to its end
// meanwhile, and one that still runs is ended: they could never start together again.
func TestNoStartAfterOneHasRun(t *testing.T) {
	t.Parallel()
	jobs := pair(1, []protocol.SiteName{"a"}, []protocol.SiteName{"b"})
	long := jobs[0]
	long.Payload, long.Spec.WallTime = peertest.Plan{Run: 10 * protocol.Minute}.Payload(), protocol.Hour
	jobs = []protocol.Job{jobs[0], long, jobs[1]}
	for i := range jobs {
		jobs[i].Spec.Requeue = true
	}
	w, s := lastMissing(t, jobs, func(*protocol.Application) {}, 3*protocol.Minute)
	quiet(t, w)
	all := s.Finished()
	if len(all) != 3 {
		t.Fatalf("%d jobs have ended", len(all))
	}
	for i, want := range []protocol.State{protocol.Completed, protocol.Cancelled, protocol.Cancelled} {
		if view := all[i]; view.State != want || view.Epoch != all[0].Epoch || (i > 0 && !strings.Contains(view.Reason, "has run to its end")) {
			t.Errorf("job %v is %v in epoch %d: %s", view.ID, view.State, view.Epoch, view.Reason)
		}
	}
	if at, site := w.LastStart(all[2].ID); site != "" {
		t.Errorf("the one that missed the start started at %v, at %s", at, site)
	}
}

// Whether one component runs to its end just before it is to be ended, since the other one has missed
// the start, or while its output is fetched, or after that: they run together or only the first does.
func TestStartMissedAsTheOtherEnds(t *testing.T) {
	t.Parallel()
	together, alone := 0, 0
	for i := range 80 {
		jobs := pair(1, []protocol.SiteName{"c"}, []protocol.SiteName{"b"})
		for k := range jobs {
			jobs[k].Spec.Requeue = true
		}
		w, s := lastMissing(t, jobs, func(*protocol.Application) {}, 69_800*protocol.Millisecond+protocol.Duration(5*i)*protocol.Millisecond)
		quiet(t, w)
		all := s.Finished()
		if len(all) != 2 || all[0].State != protocol.Completed {
			t.Fatalf("got %+v", all)
		}
		first, _ := w.LastStart(all[0].ID)
		second, site := w.LastStart(all[1].ID)
		switch {
		case site == "" && all[1].State == protocol.Cancelled && all[1].Reason != "":
			alone++
		case first == second:
			together++
		default:
			t.Errorf("%d: they started at %v and %v; the second is %v: %s", i, first, second, all[1].State, all[1].Reason)
		}
	}
	if together == 0 || alone == 0 {
		t.Errorf("%d started together, %d alone", together, alone)
	}
}

// A component whose site is silent may still start there: its end is reported only when the site says that
// it has not, even if it may run twice.
func TestNoEndWhileTheSiteIsSilent(t *testing.T) {
	t.Parallel()
	const down = 2 * protocol.Hour
	w, s := missing(t, true, func(a *protocol.Application) { a.StartMissed = protocol.FailMissed }, down)
	quiet(t, w)
	all := s.Finished()
	if len(all) != 2 || all[1].State != protocol.Cancelled {
		t.Fatalf("ended have %+v", all)
	}
	if back := peertest.Epoch.Add(down); all[1].Ended < back {
		t.Errorf("it ended at %v, and its site was back at %v", all[1].Ended, back)
	}
}

// What users say of starts is checked.
func TestStartOptionsAreChecked(t *testing.T) {
	t.Parallel()
	w := holders(t, "ab")
	for want, change := range map[string]func(*protocol.Application){
		"the tolerance of starts": func(a *protocol.Application) { a.StartTolerance = 2 * protocol.Day },
		`"sulk"`:                  func(a *protocol.Application) { a.StartMissed = "sulk" },
	} {
		if reason := refused(t, w, pair(2, nil, nil), change); !strings.Contains(reason, want) {
			t.Errorf("refused with %q, want %q", reason, want)
		}
	}
}

// begun is a pair that was granted at a and b, the sites of which have reported both as running.
func begun(t *testing.T) (l *lone, here, there protocol.Tag) {
	t.Helper()
	l = holder(t, func(*rules.Config) {}, nothingElse)
	l.gather("a", "b", func(one *protocol.Job) { one.Spec.Requeue = true })
	there = l.prepare("b", 0)
	row := l.jobs()[0]
	here = protocol.Tag{Job: row.Spec.Job, Epoch: row.Epoch}
	l.advance(row.ReservedAt.Sub(l.now))
	l.step(event.MessageIn{From: "b", Body: protocol.Accept{Tag: there}})
	l.step(event.MessageIn{From: "b", Body: protocol.Status{Tag: there, Seq: 1, State: protocol.Running}})
	l.heard(localsched.Change{Tag: here, State: protocol.Running, Started: l.now}, 1)
	for _, row := range l.jobs() {
		if row.State != protocol.Running || row.Started == 0 {
			t.Fatalf("got %+v", row)
		}
	}
	l.advance(protocol.Minute)
	return l, here, there
}

// A component that seemed to run and never began, as it was too late for that, has missed the start of
// its group: the other one is ended.
func TestNeverBegan(t *testing.T) {
	t.Parallel()
	l, here, there := begun(t)
	l.heard(localsched.Change{Tag: here, State: protocol.Cancelled, Outcome: protocol.Outcome{State: protocol.Cancelled}}, 0)
	if recall, ok := l.last().(protocol.Recall); !ok || recall.Tag != there || !recall.Cancel || !l.reported(event.LogStartMissed) {
		t.Errorf("b is sent %+v", l.last())
	}
	if got := l.phases(); got != "[grid-queue recalling]" {
		t.Errorf("phases %s", got)
	}
}

// The same at a partner, which gives back what it has reported as running.
func TestNeverBeganAtAPartner(t *testing.T) {
	t.Parallel()
	l, here, there := begun(t)
	l.step(event.MessageIn{From: "b", Body: protocol.Recalled{Tag: there}})
	killed := slices.ContainsFunc(l.asked, func(op event.Op) bool {
		kill, ok := op.(event.KillOp)
		return ok && kill.Tag == here
	})
	if !killed || !l.reported(event.LogStartMissed) {
		t.Errorf("asked: %+v", l.asked)
	}
	if got := l.phases(); got != "[committed-local grid-queue]" {
		t.Errorf("phases %s", got)
	}
}

// A guest that seemed to run and never began is given back.
func TestGuestNeverBegan(t *testing.T) {
	t.Parallel()
	l := holder(t, func(*rules.Config) {}, nothingElse)
	offer := protocol.Offer{
		Spec: guest(1, 1), Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload(), Start: l.now.Add(protocol.Minute), Tolerance: protocol.Second,
	}
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	l.step(event.MessageIn{From: "b", Body: offer})
	l.step(event.MessageIn{From: "b", Body: protocol.Grant{Tag: tag}})
	l.advance(protocol.Minute)
	l.heard(localsched.Change{Tag: tag, State: protocol.Running, Started: l.now}, 1)
	l.advance(protocol.Minute)
	l.heard(localsched.Change{Tag: tag, State: protocol.Cancelled, Outcome: protocol.Outcome{State: protocol.Cancelled}}, 0)
	if recalled, ok := l.last().(protocol.Recalled); !ok || recalled.Tag != tag {
		t.Errorf("b is sent %+v", l.last())
	}
}

// What holds of a start together is shown of each job, at its origin and its site, also once it has
// ended and where its user has said nothing.
func TestStartOptionsAreShown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ said, want view.Start }{
		"said":    {view.Start{Tolerance: protocol.Minute, Missed: protocol.FailMissed}, view.Start{Tolerance: protocol.Minute, Missed: protocol.FailMissed}},
		"default": {view.Start{}, view.Start{Tolerance: 30 * protocol.Second, Missed: protocol.RetryMissed}},
	} {
		w := holders(t, "ab")
		app := wanting()
		app.StartTolerance, app.StartMissed = tt.said.Tolerance, tt.said.Missed
		w.Ask("a", func(asked event.AskID) event.Event {
			return event.Submit{Asked: asked, User: "ada", Jobs: pair(2, []protocol.SiteName{"a"}, []protocol.SiteName{"b"}), Application: app}
		})
		check := func(when string, got *view.Start, want view.Start) {
			if got == nil || *got != want {
				t.Errorf("%s, %s: got %+v, want %+v", name, when, got, want)
			}
		}
		id := w.Site("a").Rows().Jobs()[1].Spec.Job
		check("submitted", viewOf(t, w, "a", id).Together, tt.want)
		for range 10_000 {
			if guests := w.Site("b").Rows().Guests(); len(guests) == 1 && guests[0].Phase == row.GuestAccepted {
				break
			}
			w.Advance(1)
		}
		check("at its site", viewOf(t, w, "b", id).Together, view.Start{Tolerance: tt.want.Tolerance})
		quiet(t, w)
		for _, view := range w.Site("a").Finished() {
			check("ended", view.Together, tt.want)
		}
	}
}

// What is wanted of a start together means nothing to jobs that do not start together.
func TestStartOptionsNeedAGroup(t *testing.T) {
	t.Parallel()
	w := holders(t, "ab")
	apart := pair(2, nil, nil)
	apart[0].Component.Together, apart[1].Component.Together = 0, 0
	for name, change := range map[string]func(*protocol.Application){
		"tolerance": func(a *protocol.Application) { a.StartTolerance = protocol.Minute },
		"missed":    func(a *protocol.Application) { a.StartMissed = protocol.FailMissed },
	} {
		for _, jobs := range [][]protocol.Job{apart, apart[:1]} {
			if reason := refused(t, w, jobs, change); !strings.Contains(reason, "no components start together; leave them out") {
				t.Errorf("%s of %d: refused with %q", name, len(jobs), reason)
			}
		}
	}
}

// refused is why a submission with such options is refused; empty: it is not.
func refused(t *testing.T, w *peertest.World, jobs []protocol.Job, change func(*protocol.Application)) string {
	t.Helper()
	app := wanting()
	change(app)
	asked := w.Ask("a", func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: app}
	})
	refusal, _ := w.Site("a").Answer(asked).(view.Refusal)
	if refusal.Reason != "" && refusal.Code != view.BadRequest {
		t.Errorf("the code of %q is %v", refusal.Reason, refusal.Code)
	}
	return refusal.Reason
}

// A peer that starts nothing, since its store may be old, ends no component in the grid queue with its
// group: it may have been placed since, and run.
func TestNoGroupEndsWhileTheStoreIsInDoubt(t *testing.T) {
	t.Parallel()
	for _, doubted := range []bool{false, true} {
		l, here, there := begun(t)
		l.step(event.MessageIn{From: "b", Body: protocol.Recalled{Tag: there}})
		rows := row.Rows{}
		for _, rec := range l.records {
			rows.Commit(rec)
		}
		if doubted {
			site := rows[row.SiteTable]["site"].(row.Site) //nolint:forcetypeassert // its table
			site.Recovery = "the database is older than it was"
			rows.Commit(row.Record{Table: row.SiteTable, Key: "site", Row: site})
		}
		records, err := rows.Records()
		if err != nil {
			t.Fatal(err)
		}
		cfg := goodConfig()
		cfg.Policy, cfg.Reserves, cfg.Partners = policy.Describe(peertest.Greedy{ApplicationAware: true}), true, []rules.Partner{{Site: "b", MaxJobs: 9}, {Site: "c", MaxJobs: 9}}
		if l.peer, err = peer.New(cfg, 2, records); err != nil {
			t.Fatal(err)
		}
		l.step(event.Tick{})
		l.connect()
		l.heard(localsched.Change{Tag: here, State: protocol.Completed, Started: l.now.Add(-protocol.Minute), Outcome: protocol.Outcome{State: protocol.Completed, Ran: protocol.Minute}}, 0)
		if got := strings.Contains(l.phases(), "grid-queue"); got != doubted {
			t.Errorf("in doubt: %v, phases %s", doubted, l.phases())
		}
	}
}
