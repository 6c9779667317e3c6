package peer_test

import (
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

// update changes a job of a, and returns the answer.
func update(w *peertest.World, id protocol.JobID, change protocol.Change, user string, admin bool) view.Reply {
	asked := w.Ask("a", func(asked event.AskID) event.Event {
		return event.Update{Asked: asked, Job: id, Change: change, User: user, Admin: admin}
	})
	w.Advance(protocol.Second)
	return w.Site("a").Answer(asked)
}

func held(job protocol.Job) protocol.Job {
	job.Conditions.Hold = protocol.HeldByUser
	return job
}

func dependency(t *testing.T, text string) *protocol.Dependency {
	t.Helper()
	d, err := protocol.ParseDependency(text)
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		d = &protocol.Dependency{}
	}
	return d
}

// TestUpdateInGridQueue: what a job in the grid queue is changed to is in its row at once, and after a restart.
func TestUpdateInGridQueue(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	other := submit(t, w, held(twoCPUs(protocol.Minute)))
	job := held(twoCPUs(protocol.Minute))
	job.Spec.MinTime = protocol.Minute
	id := submit(t, w, job)
	begin := w.Now().Add(2 * protocol.Hour)
	change := protocol.Change{
		Name: new("sum"), Comment: new("shorter"), WallTime: new(10 * protocol.Minute), MinTime: new(2 * protocol.Minute),
		Sites: []protocol.SiteName{"b"}, Nice: new(int64(7)), Account: new("chem"), Partition: new("gpu"),
		Begin: new(begin), Deadline: new(begin.Add(protocol.Hour)), Dependency: dependency(t, "afterany:"+other.String()),
	}
	if got := update(w, id, change, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	for range 2 {
		got := shown(w, id)
		if got.Name != "sum" || got.Comment != "shorter" || got.WallTime != 10*protocol.Minute || got.MinTime != 2*protocol.Minute ||
			len(got.Sites) != 1 || got.Sites[0] != "b" || got.Nice != 7 || got.Association != (protocol.Association{Account: "chem", Partition: "gpu"}) {
			t.Errorf("the job is %+v", got)
		}
		c := got.Conditions
		if c.Hold != protocol.HeldByUser || c.Begin != begin || c.Deadline != begin.Add(protocol.Hour) || !c.Dependency.WaitsFor(other) || got.Change != nil {
			t.Errorf("it waits for %+v, %v", c, got.Change)
		}
		restarted(t, w, "a")
	}
	none := protocol.Change{Anywhere: true, Begin: new(protocol.Instant(0)), Deadline: new(protocol.Instant(0)), Dependency: &protocol.Dependency{}, Account: new(""), Partition: new(""), QOS: new("")}
	if got := update(w, id, none, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	setHold(w, id, false, "ada", false)
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, id, protocol.Completed, "")
	if job, _ := w.Site("a").Archived(id); job.Name != "sum" || job.WallTime != 10*protocol.Minute {
		t.Errorf("the archive has %q with %s", job.Name, job.WallTime.Text())
	}
	wantJob(t, w, other, protocol.Pending, view.ReasonHeldByUser)
}

// TestUpdateRefused: who may change what, and what no job can be changed to. Nothing of it is changed then.
func TestUpdateRefused(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := held(twoCPUs(protocol.Minute))
	job.Spec.Nice = 10
	id := submit(t, w, job)
	runs := submit(t, w, twoCPUs(protocol.Hour))
	reads := held(twoCPUs(protocol.Minute))
	reads.Spec.CPUs, reads.Payload.Input = 1, "/home/ada/in"
	reader := submit(t, w, reads)
	lowered := submit(t, w, held(twoCPUs(protocol.Minute)))
	for name, tt := range map[string]struct {
		job    protocol.JobID
		change protocol.Change
		user   string
		admin  bool
		code   view.RefusalCode // empty: it is changed
		want   string
	}{
		"another user":           {id, protocol.Change{Name: new("x")}, "bob", false, view.Denied, "only that user and root may update it"},
		"an administrator":       {id, protocol.Change{Comment: new("x")}, "root", true, "", ""},
		"no such job":            {id + 100, protocol.Change{Name: new("x")}, "ada", false, view.NotFound, ""},
		"a job that runs":        {runs, protocol.Change{WallTime: new(protocol.Minute)}, "ada", false, view.Conflict, "RUNNING, and only pending jobs can be updated"},
		"a longer limit":         {id, protocol.Change{WallTime: new(2 * protocol.Hour)}, "ada", false, view.Denied, "raise a time limit"},
		"less nice":              {id, protocol.Change{Nice: new(int64(9))}, "ada", false, view.Denied, "lower a nice value, which is 10"},
		"a higher priority":      {id, protocol.Change{Priority: new(int64(protocol.MaxPriority))}, "ada", false, view.Denied, "raise a priority, which is 4294901750"},
		"a lower priority":       {lowered, protocol.Change{Priority: new(int64(5))}, "ada", false, "", ""},
		"the usual priority":     {reader, protocol.Change{Priority: new(int64(0))}, "ada", false, "", ""},
		"an unknown site":        {id, protocol.Change{Sites: []protocol.SiteName{"z"}}, "ada", false, view.BadRequest, `site "z"`},
		"a site that is small":   {id, protocol.Change{Sites: []protocol.SiteName{"a"}}, "ada", false, view.NoSite, "no site can run this job"},
		"a file of another site": {reader, protocol.Change{Anywhere: true}, "ada", false, view.BadRequest, "standard input is a file of a"},
		"a deadline too early":   {id, protocol.Change{Deadline: new(w.Now().Add(protocol.Minute))}, "ada", false, view.BadRequest, "deadline"},
		"no limit":               {id, protocol.Change{WallTime: new(protocol.Duration(0))}, "ada", false, view.BadRequest, "time limit"},
		"a minimum above it":     {id, protocol.Change{MinTime: new(2 * protocol.Hour)}, "ada", false, view.BadRequest, "least time limit"},
		"too nice":               {id, protocol.Change{Nice: new(int64(protocol.MaxNice + 1))}, "ada", false, view.BadRequest, "nice"},
		"a throttle":             {id, protocol.Change{Throttle: new(1)}, "ada", false, view.BadRequest, "no array"},
		"itself":                 {id, protocol.Change{Dependency: dependency(t, "afterok:"+id.String())}, "ada", false, view.BadRequest, "wait for itself"},
		"an unknown job":         {id, protocol.Change{Dependency: dependency(t, "afterok:1000000099999")}, "ada", false, view.NotFound, "1000000099999"},
	} {
		before := shown(w, tt.job)
		got := update(w, tt.job, tt.change, tt.user, tt.admin)
		refusal, refused := got.(view.Refusal)
		if refused != (tt.code != "") || refusal.Code != tt.code || !strings.Contains(refusal.Reason, tt.want) {
			t.Errorf("%s: %+v", name, got)
		}
		if after := shown(w, tt.job); refused && (after.WallTime != before.WallTime || after.Nice != before.Nice || len(after.Sites) != len(before.Sites) || after.Conditions != before.Conditions) {
			t.Errorf("%s: it was changed to %+v", name, after)
		}
	}
	raised := protocol.Change{WallTime: new(90 * protocol.Minute), Nice: new(int64(-5)), Priority: new(int64(protocol.MaxPriority))}
	if got := update(w, id, raised, "root", true); got != (view.Done{}) {
		t.Errorf("an administrator raises: %+v", got)
	}
	if got, ok := update(w, id, protocol.Change{Priority: new(int64(0))}, "ada", false).(view.Refusal); !ok || got.Code != view.Denied {
		t.Errorf("the user takes the priority back: %+v", got)
	}
}

// TestUpdateRecalls: a job that waits in the queue of a partner, or in the own one, comes back, is changed, and runs as it is
// then. What only its origin knows is changed without that.
func TestUpdateRecalls(t *testing.T) {
	t.Parallel()
	for name, cpus := range map[string]int{"at a partner": 2, "here": 1} {
		for _, crash := range []bool{false, true} {
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
				for range cpus {
					submit(t, w, one(protocol.Hour))
				}
				id := submit(t, w, one(protocol.Minute))
				placed, _ := w.Site("a").Rows().Job(id)
				if placed.Phase == row.JobInGridQueue || placed.State != protocol.Pending {
					t.Fatalf("the job is %s, %v", placed.Phase, placed.State)
				}
				update(w, id, protocol.Change{Name: new("sum"), Deadline: new(w.Now().Add(9 * protocol.Hour))}, "ada", false)
				if stored, _ := w.Site("a").Rows().Job(id); stored.Spec.Name != "sum" || stored.Epoch != placed.Epoch || stored.Phase != placed.Phase || stored.Change != nil {
					t.Errorf("renamed it is %s at epoch %d, %+v", stored.Phase, stored.Epoch, stored.Change)
				}
				asked := w.Ask("a", func(asked event.AskID) event.Event {
					return event.Update{Asked: asked, Job: id, User: "ada", Change: protocol.Change{WallTime: new(5 * protocol.Minute), Nice: new(int64(3))}}
				})
				if crash {
					w.Crash("a")
					if err := w.Restart("a"); err != nil {
						t.Fatal(err)
					}
				}
				w.Advance(protocol.Minute)
				stored, _ := w.Site("a").Rows().Job(id)
				if got := w.Site("a").Answer(asked); !crash && got != (view.Done{}) {
					t.Fatalf("%+v", got)
				}
				if stored.Spec.WallTime != 5*protocol.Minute || stored.Spec.Nice != 3 || stored.Change != nil || stored.Epoch == placed.Epoch {
					t.Errorf("it is %s at epoch %d with %s, %+v", stored.Phase, stored.Epoch, stored.Spec.WallTime.Text(), stored.Change)
				}
				w.Advance(4 * protocol.Hour)
				wantJob(t, w, id, protocol.Completed, "")
				if job, _ := w.Site("a").Archived(id); job.WallTime != 5*protocol.Minute || job.Name != "sum" {
					t.Errorf("the archive has %q with %s", job.Name, job.WallTime.Text())
				}
			})
		}
	}
}

// TestUpdateTooLate: a job that had started before it was recalled runs with the limit that it has, and is said to.
func TestUpdateTooLate(t *testing.T) {
	t.Parallel()
	w, id, deliver := startedUnheard(t)
	if got := update(w, id, protocol.Change{WallTime: new(protocol.Minute)}, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	if got := shown(w, id); got.Change == nil || got.WallTime != protocol.Hour {
		t.Errorf("on its way back it is %+v", got)
	}
	deliver("")
	wantJob(t, w, id, protocol.Running, "")
	if got := shown(w, id); got.Change != nil || got.WallTime != protocol.Hour {
		t.Errorf("it runs with %s, %+v", got.WallTime.Text(), got.Change)
	}
}

// TestUpdateWhilePlaced: a job that is changed while the policy decides about it is not placed by what was known of it before.
func TestUpdateWhilePlaced(t *testing.T) {
	t.Parallel()
	l := deciding(t, func(*rules.Config) {})
	l.submitAs("ada", 1)
	l.advance(3 * protocol.Second) // b does not answer
	id := l.first()
	l.step(event.Update{Job: id, User: "ada", Change: protocol.Change{Sites: []protocol.SiteName{"b"}}})
	for _, one := range l.rows()[row.JobTable] {
		if j, ok := one.(row.Job); !ok || len(j.Spec.Sites) != 1 {
			t.Fatalf("the job is %+v", one)
		}
	}
	l.decide()
	for _, op := range l.asked {
		if one, placed := op.(event.SubmitOp); placed {
			t.Errorf("the job that may run at b alone is submitted here: %+v", one.Job.Tag)
		}
	}
}

// TestUpdateOrder: jobs are placed by their nice values and the priorities that administrators gave them, also without fair
// share, and changes of these count at once.
func TestUpdateOrder(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]func(*rules.Config){"fair share": fair, "in order": func(cfg *rules.Config) { cfg.Partners = nil }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := deciding(t, func(cfg *rules.Config) { share(cfg); cfg.RoundJobs = 1 })
			order := func() (ids []protocol.JobID) {
				for range 4 {
					for i := range l.open {
						if op, ok := l.open[i].Op.(event.DecideOp); ok {
							ids = append(ids, op.Snapshot.Jobs[0].ID)
						}
					}
					l.decide()
				}
				return ids
			}
			l.submitAs("ada", 4) // the first of them is in a round at once
			first := l.first()
			l.step(event.Update{Job: first + 1, User: "ada", Change: protocol.Change{Nice: new(int64(100))}})
			l.step(event.Update{Job: first + 3, User: "root", Admin: true, Change: protocol.Change{Priority: new(int64(protocol.MaxPriority))}})
			want := []protocol.JobID{first, first + 3, first + 2, first + 1}
			for i, id := range order() {
				if id != want[i] {
					t.Errorf("job %d is %v, want %v", i, id, want[i])
				}
			}
		})
	}
}

// TestFavorsOfSubmissions: what only an administrator may give a job is taken from that of another user, who is told.
func TestFavorsOfSubmissions(t *testing.T) {
	t.Parallel()
	for _, admin := range []bool{false, true} {
		l := deciding(t, func(*rules.Config) {})
		s := submission(1)
		s.User, s.Admin, s.Jobs[0].Spec.Nice, s.Jobs[0].Conditions.Priority = "ada", admin, -5, 9
		l.step(s)
		submitted, ok := l.answers[len(l.answers)-1].(view.Submitted)
		if !ok || (len(submitted.Notices) == 2) == admin {
			t.Fatalf("admin %t: %+v", admin, l.answers)
		}
		for _, one := range l.rows()[row.JobTable] {
			j, _ := one.(row.Job)
			if favored := j.Spec.Nice == -5 && j.Wants().Priority == 9; favored != admin {
				t.Errorf("admin %t: nice %d, priority %d", admin, j.Spec.Nice, j.Wants().Priority)
			}
		}
	}
}

// TestUpdateLocalPriority: in a local queue that this site orders, another nice value counts at once, and the job stays there.
// A partner's job is not favored there.
func TestUpdateLocalPriority(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) {
		partners := cfg.Partners
		fair(cfg)
		cfg.Partners, cfg.Prioritize = partners, true
	}, idle(peertest.Greedy{}, atOnce))
	l.submitAs("ann", 1)
	l.advance(3 * protocol.Second) // b does not answer
	l.asked = nil
	l.step(event.Update{Job: l.first(), User: "ann", Change: protocol.Change{Nice: new(int64(400))}})
	var stated []localsched.Priority
	for _, op := range l.asked {
		switch op := op.(type) {
		case event.PrioritizeOp:
			stated = append(stated, op.Priorities...)
		case event.WithdrawOp:
			t.Error("the job is recalled")
		default:
		}
	}
	if len(stated) != 1 || stated[0].Priority != 9600 {
		t.Errorf("stated %+v", stated)
	}
	favored := guest(1, 1)
	favored.Nice = -400
	for nice, want := range map[int64]int64{-400: 10_000, 0: 10_000, 100: 9900} {
		favored.Nice, l.asked = nice, nil
		l.quote(protocol.QuoteRequest{Round: protocol.RoundID(1000 + nice), Jobs: []protocol.Spec{favored}})
		for _, op := range l.asked {
			if op, ok := op.(event.QuoteOp); ok && len(op.Query.Jobs) > 0 && op.Query.Jobs[0].Priority != want {
				t.Errorf("a partner's job with nice %d is quoted with priority %d, want %d", nice, op.Query.Jobs[0].Priority, want)
			}
		}
	}
}

// TestUpdateOfArray: a change of an array is of all its elements that have not started, and one of an element is of that alone.
func TestUpdateOfArray(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := peertest.Plan{Run: 10 * protocol.Minute}.Job(protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: protocol.Hour}, Name: "x"})
	array, err := protocol.ParseArray("0-5%1")
	if err != nil {
		t.Fatal(err)
	}
	job.Array = &array
	id := submit(t, w, job)
	element := func(i int) protocol.JobID { return protocol.Element{Array: id, Index: i}.ID() }
	wantJob(t, w, element(0), protocol.Running, "")
	if got := update(w, id, protocol.Change{WallTime: new(30 * protocol.Minute), Throttle: new(2)}, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	if got := update(w, element(4), protocol.Change{Name: new("last"), Begin: new(w.Now().Add(5 * protocol.Hour))}, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	if got, ok := update(w, element(0), protocol.Change{Name: new("y")}, "ada", false).(view.Refusal); !ok || got.Code != view.Conflict {
		t.Errorf("an element that runs: %+v", got)
	}
	if got, ok := update(w, id, protocol.Change{Dependency: dependency(t, "afterok:"+element(3).String())}, "ada", false).(view.Refusal); !ok || !strings.Contains(got.Reason, "wait for itself") {
		t.Errorf("an array that waits for an element of its own: %+v", got)
	}
	restarted(t, w, "a")
	for i, want := range map[int]protocol.Duration{0: protocol.Hour, 1: 30 * protocol.Minute, 2: 30 * protocol.Minute, 4: 30 * protocol.Minute, 5: 30 * protocol.Minute} {
		if got := shown(w, element(i)); got.WallTime != want {
			t.Errorf("element %d has the limit %s, want %s", i, got.WallTime.Text(), want.Text())
		}
	}
	wantJob(t, w, element(4), protocol.Pending, view.ReasonBeginTime)
	w.Advance(15 * protocol.Minute)
	running := 0
	for _, stored := range w.Site("a").Rows().Jobs() {
		if stored.State == protocol.Running {
			running++
		}
	}
	if running != 2 {
		t.Errorf("%d elements run, want 2", running)
	}
	w.Advance(8 * protocol.Hour)
	wantJob(t, w, id, protocol.Completed, "")
}

// TestUpdateOfDependency: a job can wait for others from now on, also for one that the archive alone knows, or for none any more;
// jobs cannot wait for each other.
func TestUpdateOfDependency(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	over := submit(t, w, twoCPUs(protocol.Minute))
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, over, protocol.Completed, "")
	first := submit(t, w, held(twoCPUs(protocol.Minute)))
	second := submit(t, w, waitsFor(t, "afterok:"+first.String(), false))
	wantJob(t, w, second, protocol.Pending, view.ReasonDependency)
	if got, ok := update(w, first, protocol.Change{Dependency: dependency(t, "afterok:"+second.String())}, "ada", false).(view.Refusal); !ok || !strings.Contains(got.Reason, "wait for itself") {
		t.Errorf("jobs that wait for each other: %+v", got)
	}
	if got := update(w, first, protocol.Change{Dependency: dependency(t, "afternotok:"+over.String())}, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	setHold(w, first, false, "ada", false)
	wantJob(t, w, first, protocol.Pending, view.ReasonDependencyNever)
	if got := update(w, first, protocol.Change{Dependency: &protocol.Dependency{}}, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	w.Advance(10 * protocol.Minute)
	wantJob(t, w, first, protocol.Completed, "")
	wantJob(t, w, second, protocol.Completed, "")
}

// TestUpdateAfterCorr: an array, with an element that is a job, and an element alone wait for the elements of another array from now
// on, also for those that the archive alone knows; a job that is no element cannot.
func TestUpdateAfterCorr(t *testing.T) {
	t.Parallel()
	const p, c, x = protocol.Pending, protocol.Completed, protocol.Cancelled
	w := twoSites(t)
	first := submit(t, w, minutes(10*protocol.Minute, "0-3%1"))
	w.CancelElements("a", protocol.JobName{Job: first, Elements: protocol.IndexesOf(2)})
	after := func(id protocol.JobID) view.Reply {
		d := dependency(t, "aftercorr:"+first.String())
		d.KillInvalid = true
		return update(w, id, protocol.Change{Dependency: d}, "ada", false)
	}
	pending := func(changes ...int) (array protocol.JobID) {
		array = submit(t, w, held(minutes(protocol.Minute, "0-4")))
		for _, index := range changes {
			if got := after(protocol.Element{Array: array, Index: index}.ID()); got != (view.Done{}) {
				t.Fatalf("%+v", got)
			}
		}
		return array
	}
	whole, some, late := pending(), pending(1, 2), pending()
	if got := update(w, protocol.Element{Array: whole, Index: 1}.ID(), protocol.Change{Nice: new(int64(5))}, "ada", false); got != (view.Done{}) { // it is a job now
		t.Fatalf("%+v", got)
	}
	if got := after(whole); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	alone := submit(t, w, held(twoCPUs(protocol.Minute)))
	for id, part := range map[protocol.JobID]string{alone: "is for job arrays", first: "wait for itself"} {
		if got, ok := after(id).(view.Refusal); !ok || !strings.Contains(got.Reason, part) {
			t.Errorf("%v: %+v, want %q", id, got, part)
		}
	}
	for _, id := range []protocol.JobID{whole, some} {
		setHold(w, id, false, "ada", false)
	}
	w.Advance(8 * protocol.Minute)
	wantElements(t, w, whole, p, p, x, p, x)
	wantElements(t, w, some, c, p, x, c, c)
	restarted(t, w, "a")
	w.Advance(50 * protocol.Minute)
	wantElements(t, w, whole, c, c, x, c, x)
	wantElements(t, w, some, c, c, x, c, c)
	if got := after(late); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	setHold(w, late, false, "ada", false)
	w.Advance(10 * protocol.Minute)
	wantElements(t, w, late, c, c, x, c, x)
}

// TestUpdateInACircle: a job cannot wait for an array of which an element waits for the job, nor the reverse.
func TestUpdateInACircle(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := held(minutes(protocol.Minute, "0-3"))
	array, single := submit(t, w, job), submit(t, w, held(twoCPUs(protocol.Minute)))
	element := protocol.Element{Array: array, Index: 1}.ID()
	change := func(id, on protocol.JobID) view.Reply {
		return update(w, id, protocol.Change{Dependency: dependency(t, "afterany:"+on.String())}, "ada", false)
	}
	if got := change(element, single); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	wantRefusal(t, change(single, array), view.BadRequest, "wait for itself")
	if got := change(single, protocol.Element{Array: array, Index: 2}.ID()); got != (view.Done{}) {
		t.Errorf("on another element: %+v", got)
	}
	wantRefusal(t, change(protocol.Element{Array: array, Index: 2}.ID(), element), view.BadRequest, "wait for itself")
}

// TestUpdateInAGroup: a job that starts together with others cannot wait for one of these, also not by way of another job.
func TestUpdateInAGroup(t *testing.T) {
	t.Parallel()
	l := holder(t, func(cfg *rules.Config) { cfg.Initiation = "" }, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.DecideOp); ok {
			return nil, errLater
		}
		return nil, nil
	})
	l.gather("b", "c", unchanged)
	first, second := l.jobs()[0].Spec.Job, l.jobs()[1].Spec.Job
	s := submission(1)
	s.User, s.Jobs[0].Conditions.Dependency = "ada", dependency(t, "afterany:"+first.String())
	l.step(s)
	submitted, ok := l.answers[len(l.answers)-1].(view.Submitted)
	if !ok {
		t.Fatalf("%+v", l.answers)
	}
	for _, on := range []protocol.JobID{first, submitted.Jobs[0]} {
		l.step(event.Update{Asked: 9, Job: second, User: "ada", Change: protocol.Change{Dependency: dependency(t, "afterany:"+on.String())}})
		wantRefusal(t, l.answers[len(l.answers)-1], view.BadRequest, "wait for itself")
	}
}

// TestDependencyWhileRecalled: a job in a local queue that is to wait for another one starts after it, although the other one ends before
// the job is back.
func TestDependencyWhileRecalled(t *testing.T) {
	t.Parallel()
	w, err := peertest.New(peertest.Options{Seed: 3, Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 1, Nodes: 1}}, {Name: "b", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	deliver := func(but string, times int) {
		for range times {
			for _, wire := range w.Wires() {
				if wire.Kind != but {
					w.Deliver(wire)
				}
			}
			w.Advance(protocol.Second)
		}
	}
	placed := func(job protocol.Job) protocol.JobID {
		asked := w.Submit("a", "ada", "", job)
		deliver("", 60)
		submitted, ok := w.Site("a").Answer(asked).(view.Submitted)
		if !ok {
			t.Fatalf("%+v", w.Site("a").Answer(asked))
		}
		return submitted.Jobs[0]
	}
	first := placed(peertest.Plan{Run: 20 * protocol.Minute}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Sites: []protocol.SiteName{"a"},
	}))
	placed(twoCPUs(protocol.Hour))
	id := placed(twoCPUs(protocol.Minute))
	if got, _ := w.Site("a").Rows().Job(id); got.Phase != row.JobHandedOff || got.State != protocol.Pending {
		t.Fatalf("it is %s, %v", got.Phase, got.State)
	}
	if got := update(w, id, protocol.Change{Dependency: dependency(t, "afterok:"+first.String())}, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	deliver(protocol.Recall{}.Kind(), 30*60)
	wantJob(t, w, first, protocol.Completed, "")
	wantJob(t, w, id, protocol.Pending, "")
	deliver("", 2*60*60)
	wantJob(t, w, id, protocol.Completed, "")
}

// TestUpdateOfName: singletons go by the names that jobs have now.
func TestUpdateOfName(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	first := submit(t, w, held(twoCPUs(protocol.Minute)))
	second := submit(t, w, waitsFor(t, "singleton", false))
	wantJob(t, w, second, protocol.Pending, view.ReasonDependency)
	if got := update(w, first, protocol.Change{Name: new("other")}, "ada", false); got != (view.Done{}) {
		t.Fatalf("%+v", got)
	}
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, second, protocol.Completed, "")
	wantJob(t, w, first, protocol.Pending, view.ReasonHeldByUser)
}
