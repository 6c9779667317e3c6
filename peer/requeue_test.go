package peer_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/accounting"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestReclaimAfter: a job with Requeue is taken from a site that is lost as long after that as
// is configured, whenever since the hand-off that is.
func TestReclaimAfter(t *testing.T) {
	t.Parallel()
	const reclaim = 10 * protocol.Minute
	for _, lost := range []protocol.Duration{
		protocol.Second, protocol.Minute, 9 * protocol.Minute, 10*protocol.Minute + protocol.Second, 25 * protocol.Minute, 39 * protocol.Minute,
	} {
		t.Run(fmt.Sprint(lost), func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			for _, s := range w.Sites() {
				w.Crash(s.Name)
				w.Configure(s.Name, func(cfg *rules.Config) { cfg.ReclaimAfter = reclaim })
				if err := w.Restart(s.Name); err != nil {
					t.Fatal(err)
				}
			}
			job := twoCPUs(protocol.Hour)
			job.Spec.Requeue = true
			id := submit(t, w, job)
			if stored, _ := w.Site("a").Rows().Job(id); stored.Phase != row.JobHandedOff {
				t.Fatalf("the job is %s", stored.Phase)
			}
			w.Advance(lost)
			w.Crash("b")
			w.Disconnect("a", "b")
			at := w.Now()
			var requeued protocol.Instant
			w.Journal = func(line string) {
				if strings.Contains(line, "event reclaimed") {
					requeued = w.Now()
				}
			}
			w.Advance(2 * reclaim)
			if took := requeued.Sub(at); took != reclaim {
				t.Errorf("it is taken back after %v, want %v", took, reclaim)
			}
		})
	}
}

// TestRefusedOffersAreNoReruns: a job with Requeue whose offers have been refused more often
// than a job is run again is run again all the same when its node fails, and no more often.
func TestRefusedOffersAreNoReruns(t *testing.T) {
	t.Parallel()
	const reruns = 10
	j := newJudged(t, map[protocol.SiteName]manner{"b": {refuse: "not today"}})
	ev := submission(1)
	ev.Jobs[0].Spec.CPUs, ev.Jobs[0].Spec.Requeue = 2, true
	j.step(ev)
	j.pass(3 * protocol.Hour)
	rows := peertest.Rows{Rows: j.rows}
	if jobs := rows.Jobs(); len(jobs) != 1 || jobs[0].Epoch <= reruns+5 || jobs[0].Reruns != 0 {
		t.Fatalf("too few offers were refused: %+v", jobs)
	}
	j.manners["b"] = manner{starts: 1, runs: protocol.Minute, state: protocol.NodeFail}
	j.pass(protocol.Day)
	if j.given["b"] != 1+reruns {
		t.Errorf("the job was given to its site %d times, want %d", j.given["b"], 1+reruns)
	}
}

// requeued has a job of a start again, and returns the answer.
func requeued(w *peertest.World, ev event.Requeue) view.Reply {
	asked := w.Ask("a", func(asked event.AskID) event.Event {
		ev.Asked = asked
		return ev
	})
	w.Advance(protocol.Second)
	return w.Site("a").Answer(asked)
}

// wantRefusal looks for a refusal by its code and a part of its reason.
func wantRefusal(t *testing.T, got view.Reply, code view.RefusalCode, part string) {
	t.Helper()
	if refusal, ok := got.(view.Refusal); !ok || refusal.Code != code || !strings.Contains(refusal.Reason, part) {
		t.Errorf("answered %+v, want %v with %q", got, code, part)
	}
}

// wantStarts compares how often a job was started.
func wantStarts(t *testing.T, w *peertest.World, id protocol.JobID, want int) {
	t.Helper()
	for _, end := range w.Ends() {
		if end.Job == id && end.Starts != want {
			t.Errorf("job %v was started %d times, want %d", id, end.Starts, want)
		}
	}
}

// sever cuts the sites a and b off from each other, and rejoin joins them again.
func sever(w *peertest.World) {
	for _, one := range [][2]protocol.SiteName{{"a", "b"}, {"b", "a"}} {
		w.Cut(one[0], one[1])
		w.Disconnect(one[0], one[1])
	}
}

func rejoin(w *peertest.World) {
	w.Heal("a", "b")
	w.Heal("b", "a")
	w.Connect("a", "b")
}

// TestRequeueRunning: a job that runs, at a partner or here, is ended, and starts again under its ID as one that was restarted.
// Its end is not reported.
func TestRequeueRunning(t *testing.T) {
	t.Parallel()
	for name, cpus := range map[string]int{"at a partner": 2, "here": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			job := peertest.Plan{Run: 10 * protocol.Minute}.Job(protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}})
			if cpus == 1 {
				job.Spec.Sites = []protocol.SiteName{"a"}
			}
			id := submit(t, w, job)
			wantJob(t, w, id, protocol.Running, "")
			w.Advance(5 * protocol.Minute)
			if got := requeued(w, event.Requeue{Job: id, User: "ada"}); got != (view.Done{}) {
				t.Fatalf("%+v", got)
			}
			restarted(t, w, "a")
			w.Advance(protocol.Minute)
			wantJob(t, w, id, protocol.Running, "")
			if now := shown(w, id); now.Restarts != 1 || len(w.Site("a").Finished()) != 0 {
				t.Errorf("%d restarts, %d jobs have ended", now.Restarts, len(w.Site("a").Finished()))
			}
			w.Advance(15 * protocol.Minute)
			wantJob(t, w, id, protocol.Completed, "")
			wantStarts(t, w, id, 2)
			if ended, _ := w.Site("a").Archived(id); ended.Restarts != 1 || ended.Ran < 9*protocol.Minute {
				t.Errorf("it ended after %d restarts and ran for %v", ended.Restarts, ended.Ran)
			}
		})
	}
}

// TestRequeueHeld: a job that is to be held is so when it comes back, and starts again once it is released. An administrator's
// hold is not released by its user.
func TestRequeueHeld(t *testing.T) {
	t.Parallel()
	for user, reason := range map[string]string{"ada": view.ReasonHeldByUser, "root": view.ReasonHeldByAdmin} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			id := submit(t, w, twoCPUs(10*protocol.Minute))
			requeued(w, event.Requeue{Job: id, Hold: true, User: user, Admin: user == "root"})
			w.Advance(protocol.Hour)
			wantJob(t, w, id, protocol.Pending, reason)
			restarted(t, w, "a")
			if user == "root" {
				wantRefusal(t, setHold(w, id, false, "ada", false), view.Denied, "administrator")
			}
			setHold(w, id, false, user, user == "root")
			w.Advance(protocol.Hour)
			wantJob(t, w, id, protocol.Completed, "")
			wantStarts(t, w, id, 2)
		})
	}
}

// TestRequeueRefused: what is not requeued, and why.
func TestRequeueRefused(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	once := twoCPUs(50 * protocol.Minute)
	once.NoRequeue = true
	first := submit(t, w, once)
	runs := submit(t, w, twoCPUs(50*protocol.Minute))
	waits := submit(t, w, twoCPUs(protocol.Minute))
	ask := func(id protocol.JobID, user string) view.Reply {
		return requeued(w, event.Requeue{Job: id, User: user})
	}
	wantRefusal(t, ask(first, "ada"), view.Conflict, "--no-requeue")
	wantRefusal(t, ask(waits, "ada"), view.Conflict, "it is PENDING")
	wantRefusal(t, ask(runs, "bob"), view.Denied, "ada")
	wantRefusal(t, ask(runs+1000, "ada"), view.NotFound, "")
	sever(w)
	if got := ask(runs, "ada"); got != (view.Done{}) {
		t.Errorf("%+v", got)
	}
	wantRefusal(t, ask(runs, "ada"), view.Conflict, "being requeued")
	w.Cancel("a", runs)
	wantRefusal(t, ask(runs, "ada"), view.Conflict, "being cancelled")
}

// TestRequeueOfUnreachable: a job at a site that is not reached does not start elsewhere before that site has ended it, and
// can be cancelled meanwhile.
func TestRequeueOfUnreachable(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]bool{"requeued": false, "cancelled": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			job := peertest.Plan{Run: 50 * protocol.Minute}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "x"})
			submit(t, w, at("a", 1, 20*protocol.Minute)) // all that a has, for a while
			id := submit(t, w, job)
			if stored, _ := w.Site("a").Rows().Job(id); stored.Site != "b" || stored.State != protocol.Running {
				t.Fatalf("it is %v at %q", stored.State, stored.Site)
			}
			sever(w)
			requeued(w, event.Requeue{Job: id, User: "ada"})
			w.Advance(25 * protocol.Minute)
			wantJob(t, w, id, protocol.Running, view.ReasonUnreachable)
			wantStarts(t, w, id, 1)
			if cancel {
				w.Cancel("a", id)
			}
			rejoin(w)
			w.Advance(2 * protocol.Hour)
			if cancel {
				wantJob(t, w, id, protocol.Cancelled, "killed")
				wantStarts(t, w, id, 1)
				return
			}
			wantJob(t, w, id, protocol.Completed, "")
			wantStarts(t, w, id, 2)
		})
	}
}

// TestRequeueElements: elements of an array that run start again, by name or all together; elements that wait do not.
func TestRequeueElements(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := peertest.Plan{Run: 10 * protocol.Minute}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}})
	job.Array = &protocol.Array{Indexes: protocol.IndexesOf(0, 1, 2, 3), Throttle: 2}
	array := submit(t, w, job)
	restarts := func() (counts [4]int) {
		for i := range counts {
			counts[i] = shown(w, protocol.Element{Array: array, Index: i}.ID()).Restarts
		}
		return counts
	}
	wantRefusal(t, requeued(w, event.Requeue{Job: array, Elements: protocol.IndexesOf(9), User: "ada"}), view.NotFound, "no elements 9")
	wantRefusal(t, requeued(w, event.Requeue{Job: array, Elements: protocol.IndexesOf(3), User: "ada"}), view.Conflict, "PENDING")
	wantRefusal(t, requeued(w, event.Requeue{Job: array, User: "bob"}), view.Denied, "ada")
	for _, tt := range []struct {
		ask  event.Requeue
		want [4]int
	}{
		{event.Requeue{Job: protocol.Element{Array: array, Index: 1}.ID()}, [4]int{0, 1}},
		{event.Requeue{Job: array, Elements: protocol.IndexesOf(0, 3)}, [4]int{1, 1}},
		{event.Requeue{Job: array}, [4]int{2, 2}},
	} {
		tt.ask.User = "ada"
		if got := requeued(w, tt.ask); got != (view.Done{}) {
			t.Fatalf("%+v: %+v", tt.ask, got)
		}
		w.Advance(protocol.Minute)
		if got := restarts(); got != tt.want {
			t.Errorf("%+v: restarts %v, want %v", tt.ask, got, tt.want)
		}
	}
	w.Advance(2 * protocol.Hour)
	if ended, ok := w.Site("a").Archived(array); !ok || ended.Array.Completed != 4 {
		t.Errorf("the array: %+v", ended.Array)
	}
	wantStarts(t, w, protocol.Element{Array: array, Index: 0}.ID(), 3)
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestRunsOfRequeuedJobsAreKept: a run after which its job is placed again is in the archives of the site that ran it and of its
// origin, with what it used, drew and cost, and their statements and sums agree.
func TestRunsOfRequeuedJobsAreKept(t *testing.T) {
	t.Parallel()
	type run struct {
		site  protocol.SiteName
		state protocol.State
		ran   protocol.Duration
	}
	for name, c := range map[string]struct {
		sites []protocol.SiteName
		plan  peertest.Plan
		again bool // requeued by its user once it has run for five minutes
		want  []run
	}{
		"at home":                     {[]protocol.SiteName{"a"}, peertest.Plan{Run: 10 * protocol.Minute}, true, []run{{"a", protocol.Cancelled, 5 * protocol.Minute}, {"a", protocol.Completed, 10 * protocol.Minute}}},
		"at a partner":                {[]protocol.SiteName{"b"}, peertest.Plan{Run: 10 * protocol.Minute}, true, []run{{"b", protocol.Cancelled, 5 * protocol.Minute}, {"b", protocol.Completed, 10 * protocol.Minute}}},
		"when its node fails there":   {[]protocol.SiteName{"b"}, peertest.Plan{Run: 10 * protocol.Minute, NodeFail: true}, false, slices.Repeat([]run{{"b", protocol.NodeFail, 10 * protocol.Minute}}, 11)},
		"when its node fails at home": {[]protocol.SiteName{"a"}, peertest.Plan{Run: 10 * protocol.Minute, NodeFail: true}, false, slices.Repeat([]run{{"a", protocol.NodeFail, 10 * protocol.Minute}}, 11)},
		"once, without a requeue":     {[]protocol.SiteName{"b"}, peertest.Plan{Run: 10 * protocol.Minute}, false, []run{{"b", protocol.Completed, 10 * protocol.Minute}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			priced := func(cfg *rules.Config) {
				cfg.Area, cfg.Power = "zone", 1_000
				cfg.Tariff = localsched.Tariff{CPUHour: 6 * protocol.Unit, Currency: "EUR"}
			}
			var sites []peertest.SiteOptions
			for _, name := range []protocol.SiteName{"a", "b"} {
				free := peertest.HourlyPrices("EUR", make([]int64, 60)...) // with a price for energy the power is part of the tariff
				sites = append(sites, peertest.SiteOptions{Name: name, Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Prices: free, Config: priced})
			}
			w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: sites})
			if err != nil {
				t.Fatal(err)
			}
			job := c.plan.Job(protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: protocol.Hour}, Sites: c.sites})
			job.Spec.Requeue = c.plan.NodeFail
			id := submit(t, w, job)
			if c.again {
				started := shown(w, id).Started
				w.Advance(started.Add(5 * protocol.Minute).Sub(w.Now()))
				requeued(w, event.Requeue{Job: id, User: "ada"})
				restarted(t, w, "a")
				restarted(t, w, "b")
			}
			if busy := w.RunUntilQuiet(protocol.Day); busy != "" || w.Err() != nil {
				t.Fatal(busy, w.Err())
			}
			home, there := w.Site("a").Runs(), w.Site("b").Runs()
			slices.SortFunc(home, func(x, y view.Job) int { return cmp.Compare(x.Epoch, y.Epoch) })
			var got []run
			for i := range home {
				one := &home[i]
				got = append(got, run{one.Site, one.State, one.Ran})
				if last := i == len(home)-1; one.Earlier == last || one.ID != id || one.Started == 0 || one.Ended < one.Started {
					t.Errorf("run %d of %d: %+v", i, len(home), one)
				}
				cost, currency := one.Billed()
				if want := int64(one.Ran) * 2 * 6 * int64(protocol.Unit) / int64(protocol.Hour); currency != "EUR" || int64(cost)-want > 1 || want > int64(cost) { // it is rounded up
					t.Errorf("run %d of %v is billed %v", i, one.Ran, cost.TextIn(currency))
				}
				if one.UsedEnergy() != int64(one.Ran)*2 {
					t.Errorf("run %d of %v drew %d mJ", i, one.Ran, one.UsedEnergy())
				}
			}
			for i := range got {
				if late := got[i].ran - c.want[min(i, len(c.want)-1)].ran; late > 0 && late < 10*protocol.Second { // until the request comes
					got[i].ran -= late
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the runs are\n%v, want\n%v", got, c.want)
			}
			month := accounting.MonthOf(w.Now())
			statement := accounting.NewStatement("b", "a", month, w.Now(), there)
			if disputes := statement.Compare(home); len(disputes) > 0 {
				t.Errorf("the statement of b is disputed: %+v", disputes)
			}
			theirs := accounting.NewStatement("a", "b", month, w.Now(), home)
			if fmt.Sprint(theirs.Totals()) != fmt.Sprint(statement.Totals()) || c.sites[0] == "b" && len(statement.Lines) != len(c.want) {
				t.Errorf("the totals are %+v and %+v", theirs.Totals(), statement.Totals())
			}
			if c.sites[0] == "b" && !slices.Equal(usageOf(t, home), usageOf(t, there)) {
				t.Errorf("usage is %+v and %+v", usageOf(t, home), usageOf(t, there))
			}
		})
	}
}

// usageOf adds up runs by the site that ran them and their states.
func usageOf(t *testing.T, runs []view.Job) []view.UsageLine {
	t.Helper()
	sums, err := accounting.NewSums([]string{"site", "state", "user"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		sums.Add(&runs[i])
	}
	return sums.Usage().Lines
}

// keepsEnded are two sites where jobs can be requeued for five minutes after their ends.
func keepsEnded(t *testing.T) *peertest.World {
	t.Helper()
	var sites []peertest.SiteOptions
	for _, name := range []protocol.SiteName{"a", "b"} {
		sites = append(sites, peertest.SiteOptions{
			Name: name, Capacity: protocol.Capacity{CPUs: 4, Nodes: 4},
			Config: func(cfg *rules.Config) {
				cfg.Requeueable = rules.Requeueable{For: 5 * protocol.Minute, Jobs: 3, Bytes: 1 << 20}
			},
		})
	}
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: sites})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestRequeueEnded: a job that has failed, here or at a partner, starts again under its ID as one that was restarted, also after
// the peer has died; a job that has started because of its end goes on. Both runs are kept, and later it cannot be requeued.
func TestRequeueEnded(t *testing.T) {
	t.Parallel()
	for _, site := range []protocol.SiteName{"a", "b"} {
		t.Run(string(site), func(t *testing.T) {
			t.Parallel()
			w := keepsEnded(t)
			spec := protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Sites: []protocol.SiteName{site}}
			id := submit(t, w, peertest.Plan{Run: protocol.Minute, Exit: 3}.Job(spec))
			after := peertest.Plan{Run: 30 * protocol.Minute}.Job(spec)
			after.Conditions = protocol.Conditions{Dependency: &protocol.Dependency{Terms: []protocol.DependencyTerm{{Kind: protocol.AfterNotOK, Job: id}}}}
			dependent := submit(t, w, after)
			w.Advance(2 * protocol.Minute)
			wantJob(t, w, id, protocol.Failed, "")
			restarted(t, w, "a")
			wantRefusal(t, requeued(w, event.Requeue{Job: id, User: "bob"}), view.Denied, "ada")
			if got := requeued(w, event.Requeue{Job: id, User: "ada"}); got != (view.Done{}) {
				t.Fatalf("%+v", got)
			}
			restarted(t, w, "a")
			wantJob(t, w, id, protocol.Running, "")
			wantJob(t, w, dependent, protocol.Running, "")
			if now := shown(w, id); now.Restarts != 1 || now.Site != site {
				t.Errorf("%d restarts at %s", now.Restarts, now.Site)
			}
			w.Advance(2 * protocol.Minute)
			wantJob(t, w, id, protocol.Failed, "")
			wantStarts(t, w, id, 2)
			if runs := runsOf(w, "a", id); len(runs) != 2 || !runs[0].Earlier || runs[0].Epoch >= runs[1].Epoch || runs[0].ExitCode != 3 {
				t.Errorf("%d runs: %+v", len(runs), runs)
			}
			w.Advance(6 * protocol.Minute)
			wantRefusal(t, requeued(w, event.Requeue{Job: id, User: "ada"}), view.NotFound, "0:05:00 after its end")
			if err := w.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// runsOf are the runs of a job in the archive of a site, the first one first.
func runsOf(w *peertest.World, site protocol.SiteName, id protocol.JobID) (runs []view.Job) {
	for _, run := range w.Site(site).Runs() {
		if run.ID == id {
			runs = append(runs, run)
		}
	}
	return runs
}

// TestRequeueCancelled: a job that was cancelled before it started is requeued, held or not, and its site takes it again though it
// has closed it.
func TestRequeueCancelled(t *testing.T) {
	t.Parallel()
	w := keepsEnded(t)
	spec := protocol.Spec{Request: protocol.Request{CPUs: 4, WallTime: protocol.Hour}, Sites: []protocol.SiteName{"b"}}
	submit(t, w, peertest.Plan{Run: 2 * protocol.Minute}.Job(spec))
	id := submit(t, w, peertest.Plan{Run: protocol.Minute}.Job(spec))
	w.CancelThere("b", id, "ada")
	w.Advance(protocol.Second)
	wantJob(t, w, id, protocol.Cancelled, "cancelled at b")
	requeued(w, event.Requeue{Job: id, Hold: true, User: "ada"})
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, id, protocol.Pending, view.ReasonHeldByUser)
	setHold(w, id, false, "ada", false)
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, id, protocol.Completed, "")
	wantStarts(t, w, id, 1)
	if ended, _ := w.Site("a").Archived(id); ended.Restarts != 1 || ended.CancelledBy != "" {
		t.Errorf("%d restarts, cancelled by %q", ended.Restarts, ended.CancelledBy)
	}
}

// TestRequeueEndedElements: elements of an array are requeued while it goes on and once it has ended, and it ends with them again.
func TestRequeueEndedElements(t *testing.T) {
	t.Parallel()
	w := keepsEnded(t)
	job := peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Sites: []protocol.SiteName{"a"}})
	job.Array = &protocol.Array{Indexes: protocol.IndexesOf(0, 1, 2), Throttle: 2}
	array := submit(t, w, job)
	element := func(i int) protocol.JobID { return protocol.Element{Array: array, Index: i}.ID() }
	w.Advance(90 * protocol.Second) // 2 runs
	again := func(ev event.Requeue) {
		t.Helper()
		ev.User = "ada"
		if got := requeued(w, ev); got != (view.Done{}) {
			t.Fatalf("%+v: %+v", ev, got)
		}
		restarted(t, w, "a")
	}
	again(event.Requeue{Job: element(0)})
	wantJob(t, w, element(0), protocol.Running, "")
	w.Advance(2 * protocol.Minute)
	if ended, ok := w.Site("a").Archived(array); !ok || ended.Array.Completed != 3 {
		t.Fatalf("the array: %v, %+v", ok, ended.Array)
	}
	again(event.Requeue{Job: array, Elements: protocol.IndexesOf(1)})
	if _, ended := w.Site("a").Archived(array); ended || shown(w, element(1)).State != protocol.Running {
		t.Errorf("the array has ended: %v; its element is %v", ended, shown(w, element(1)).State)
	}
	w.Advance(2 * protocol.Minute)
	again(event.Requeue{Job: array})
	w.Advance(3 * protocol.Minute)
	for i, starts := range []int{3, 3, 2} {
		wantStarts(t, w, element(i), starts)
	}
	if ended, ok := w.Site("a").Archived(array); !ok || ended.Array.Completed != 3 {
		t.Errorf("the array: %v, %+v", ok, ended.Array)
	}
	w.Advance(6 * protocol.Minute)
	if rows := w.Site("a").Rows().Rows; len(rows[row.RequeueableTable])+len(rows[row.PayloadTable]) > 0 {
		t.Errorf("left are %v and %v", rows[row.RequeueableTable], rows[row.PayloadTable])
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestRequeueEndedRefused: what cannot be requeued after its end, and why; of too many jobs those that ended first cannot be.
func TestRequeueEndedRefused(t *testing.T) {
	t.Parallel()
	w := keepsEnded(t)
	spec := protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Sites: []protocol.SiteName{"a"}}
	short := peertest.Plan{Run: protocol.Second}.Job(spec)
	once, waits := short, short
	once.NoRequeue = true
	waits.Conditions = protocol.Conditions{Dependency: &protocol.Dependency{Terms: []protocol.DependencyTerm{{Kind: protocol.AfterNotOK, Job: submit(t, w, short)}}}}
	never := submit(t, w, waits)
	w.Cancel("a", never)
	ended := []protocol.JobID{submit(t, w, once), never}
	var last protocol.JobID
	for range 4 {
		last = submit(t, w, short)
		w.Advance(protocol.Minute)
		ended = append(ended, last)
	}
	for _, id := range ended[:3] {
		wantRefusal(t, requeued(w, event.Requeue{Job: id, User: "ada"}), view.NotFound, "[retention] requeueable")
	}
	w.Configure("a", func(cfg *rules.Config) { cfg.MaxGridJobs = 1 })
	restarted(t, w, "a")
	busy := submit(t, w, peertest.Plan{Run: protocol.Hour}.Job(spec))
	wantRefusal(t, requeued(w, event.Requeue{Job: last, User: "ada"}), view.Unavailable, "max_active_jobs")
	w.Cancel("a", busy)
	w.Advance(protocol.Second)
	if got := requeued(w, event.Requeue{Job: last, User: "ada"}); got != (view.Done{}) {
		t.Errorf("%+v", got)
	}
}

// TestRequeueableBytes: of jobs that run more than is kept for those that have ended, those that ended first cannot be requeued,
// also after a restart.
func TestRequeueableBytes(t *testing.T) {
	t.Parallel()
	w := keepsEnded(t)
	w.Configure("a", func(cfg *rules.Config) { cfg.Requeueable.Bytes = 2500 })
	restarted(t, w, "a")
	var ids []protocol.JobID
	for range 3 {
		job := peertest.Plan{Run: protocol.Second}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Sites: []protocol.SiteName{"a"}})
		job.Payload.Args = []string{strings.Repeat("x", 1000)}
		ids = append(ids, submit(t, w, job))
		w.Advance(10 * protocol.Second)
	}
	restarted(t, w, "a")
	wantRefusal(t, requeued(w, event.Requeue{Job: ids[0], User: "ada"}), view.NotFound, "[retention] requeueable")
	for _, id := range ids[1:] {
		if got := requeued(w, event.Requeue{Job: id, User: "ada"}); got != (view.Done{}) {
			t.Errorf("%+v", got)
		}
	}
	w.Advance(protocol.Minute)
	wantStarts(t, w, ids[2], 2)
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestRequeueHeldByAdmin: a job that an administrator holds, and its user cancels and requeues, stays held, with or without a hold of
// the user; an administrator who requeues it lifts the hold.
func TestRequeueHeldByAdmin(t *testing.T) {
	t.Parallel()
	w := keepsEnded(t)
	job := peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Sites: []protocol.SiteName{"a"}})
	job.Conditions.Hold = protocol.HeldByUser
	id := submit(t, w, job)
	setHold(w, id, true, "root", true)
	for _, hold := range []bool{false, true} {
		w.Cancel("a", id)
		w.Advance(protocol.Second)
		requeued(w, event.Requeue{Job: id, User: "ada", Hold: hold})
		wantJob(t, w, id, protocol.Pending, view.ReasonHeldByAdmin)
	}
	w.Cancel("a", id)
	w.Advance(protocol.Second)
	requeued(w, event.Requeue{Job: id, User: "root", Admin: true})
	wantJob(t, w, id, protocol.Running, "")
}

// TestRequeueManyElements: the answer says of how many elements that have ended a requeue of their array leaves, and none is requeued
// where the limits of their user do not allow all. The run before keeps the reason why it ended.
func TestRequeueManyElements(t *testing.T) {
	t.Parallel()
	w := keepsEnded(t)
	w.Configure("a", func(cfg *rules.Config) { cfg.Limits.User = rules.Limit{Submit: 5} })
	restarted(t, w, "a")
	job := peertest.Plan{Run: 2 * protocol.Hour}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Sites: []protocol.SiteName{"a"}})
	job.Array = &protocol.Array{Indexes: protocol.IndexesOf(0, 1, 2, 3, 4)}
	array := submit(t, w, job)
	w.Advance(150 * protocol.Second) // two rounds of elements
	before, _ := w.Site("a").Archived(array + 5)
	if before.State != protocol.Timeout || before.Reason == "" {
		t.Fatalf("%v (%s)", before.State, before.Reason)
	}
	long := job
	long.Array, long.Spec.WallTime = nil, protocol.Hour
	busy := []protocol.JobID{submit(t, w, long), submit(t, w, long), submit(t, w, long)}
	wantRefusal(t, requeued(w, event.Requeue{Job: array, User: "ada"}), view.Unavailable, "3 elements of array")
	if _, over := w.Site("a").Archived(array); !over {
		t.Error("the array goes on")
	}
	w.Cancel("a", busy[0])
	w.Advance(protocol.Second) // which drops the first one of the elements that are kept
	got, ok := requeued(w, event.Requeue{Job: array, User: "ada"}).(view.Done)
	if !ok || !strings.HasPrefix(got.Notice, "3 elements of array") || !strings.Contains(got.Notice, "max_requeueable_bytes") {
		t.Errorf("%+v", got)
	}
	if runs := runsOf(w, "a", array+5); len(runs) != 1 || !runs[0].Earlier || runs[0].Reason != before.Reason {
		t.Errorf("%+v", runs)
	}
}

// TestRequeueOverLimits: a job that has ended, or elements of an array, are requeued only if their user and their account may have so many
// jobs, and then count among those of both.
func TestRequeueOverLimits(t *testing.T) {
	t.Parallel()
	for reason, limits := range map[string]rules.Limits{
		"AssocMaxSubmitJobLimit: user ada":            {User: rules.Limit{Submit: 3}},
		"AssocGrpSubmitJobsLimit: account physics":    {Account: rules.Limit{Submit: 3}},
		"AssocGrpSubmitJobsLimit: account physics h":  {Account: rules.Limit{Submit: 9}, Accounts: map[string]rules.Limit{"physics": {Submit: 3}}},
		"AssocMaxSubmitJobLimit: user ada has 2 jobs": {User: rules.Limit{Submit: 9}, Users: map[string]rules.Limit{"ada": {Submit: 3}}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := keepsEnded(t)
			w.Configure("a", func(cfg *rules.Config) {
				cfg.Limits, cfg.Requeueable.Jobs = limits, 10
			})
			restarted(t, w, "a")
			job := func(run protocol.Duration) protocol.Job {
				return peertest.Plan{Run: run}.Job(protocol.Spec{
					Request: protocol.Request{CPUs: 1, WallTime: 2 * protocol.Hour}, Association: protocol.Association{Account: "physics"}, Sites: []protocol.SiteName{"a"},
				})
			}
			array := job(protocol.Second)
			array.Array = &protocol.Array{Indexes: protocol.IndexesOf(0, 1)}
			one, all := submit(t, w, job(protocol.Second)), submit(t, w, array)
			w.Advance(protocol.Minute)
			busy := []protocol.JobID{submit(t, w, job(protocol.Hour)), submit(t, w, job(protocol.Hour))}
			wantRefusal(t, requeued(w, event.Requeue{Job: all, User: "ada"}), view.Unavailable, reason)
			if got := requeued(w, event.Requeue{Job: one, User: "ada", Hold: true}); got != (view.Done{}) {
				t.Fatalf("%+v", got)
			}
			wantRefusal(t, requeued(w, event.Requeue{Job: all, User: "ada", Elements: protocol.IndexesOf(1)}), view.Unavailable, "has 3 jobs")
			w.Cancel("a", busy[0])
			w.Advance(protocol.Second)
			if got := requeued(w, event.Requeue{Job: all, User: "ada", Elements: protocol.IndexesOf(1)}); got != (view.Done{}) {
				t.Errorf("%+v", got)
			}
		})
	}
}
