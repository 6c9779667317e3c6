package peer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// waitsFor is a job of a minute that depends on others.
func waitsFor(t *testing.T, dependency string, kill bool) protocol.Job {
	t.Helper()
	d, err := protocol.ParseDependency(dependency)
	if err != nil {
		t.Fatal(err)
	}
	if d != nil {
		d.KillInvalid = kill
	}
	job := twoCPUs(protocol.Minute)
	job.Conditions.Dependency = d
	return job
}

// fails is a job that ends with exit code 3 after a while.
func fails(run protocol.Duration) protocol.Job {
	return peertest.Plan{Run: run, Exit: 3}.Job(protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: protocol.Hour}, Name: "fails"})
}

// TestDependencies: what becomes of a job that waits for another one of its origin, whether that still runs, or has ended
// and is in the archive alone; and over a restart.
func TestDependencies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind   string
		failed bool
		kill   bool
		state  protocol.State // once the first job has ended
		reason string
	}{
		{kind: "afterok", state: protocol.Completed},
		{kind: "afterok", failed: true, state: protocol.Pending, reason: view.ReasonDependencyNever + " (job "},
		{kind: "afterok", failed: true, kill: true, state: protocol.Cancelled, reason: view.ReasonDependencyNever + " (job "},
		{kind: "afternotok", failed: true, state: protocol.Completed},
		{kind: "afternotok", state: protocol.Pending, reason: view.ReasonDependencyNever},
		{kind: "afterany", failed: true, state: protocol.Completed},
		{kind: "after", state: protocol.Completed},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s failed %t kill %t late %t", tt.kind, tt.failed, tt.kill, late), func(t *testing.T) {
				t.Parallel()
				w := twoSites(t)
				first := twoCPUs(10 * protocol.Minute)
				if tt.failed {
					first = fails(10 * protocol.Minute)
				}
				id := submit(t, w, first)
				if late {
					w.Advance(protocol.Hour)
				}
				next := submit(t, w, waitsFor(t, fmt.Sprintf("%s:%v", tt.kind, id), tt.kill))
				if !late && tt.kind != "after" {
					wantJob(t, w, next, protocol.Pending, view.ReasonDependency)
					restarted(t, w, "a")
					wantJob(t, w, next, protocol.Pending, view.ReasonDependency)
				}
				w.Advance(protocol.Hour)
				restarted(t, w, "a")
				wantJob(t, w, next, tt.state, tt.reason)
				if tt.state == protocol.Completed && tt.kind != "after" && !late {
					ended, _ := w.Site("a").Archived(id)
					if at, _ := w.LastStart(next); at < ended.Ended {
						t.Errorf("it started at %s, and the first one ended at %s", at.Text(), ended.Ended.Text())
					}
				}
			})
		}
	}
}

// TestAfterMinutes: a job starts some minutes after the start of another one.
func TestAfterMinutes(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	id := submit(t, w, twoCPUs(50*protocol.Minute))
	at, _ := w.LastStart(id)
	next := submit(t, w, waitsFor(t, fmt.Sprintf("after:%v+30", id), false))
	restarted(t, w, "a")
	w.Advance(29 * protocol.Minute)
	wantJob(t, w, next, protocol.Pending, view.ReasonDependency)
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, next, protocol.Completed, "")
	if got, _ := w.LastStart(next); got < at.Add(30*protocol.Minute) {
		t.Errorf("it started after %v", got.Sub(at))
	}
}

// TestAnyDependency: one of several is enough, and a job dies only when none can come.
func TestAnyDependency(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	bad, good := submit(t, w, fails(protocol.Minute)), submit(t, w, twoCPUs(10*protocol.Minute))
	one := submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v?afterok:%v", bad, good), true))
	both := submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v,afterok:%v", bad, good), true))
	none := submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v?afternotok:%v", bad, good), true))
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, one, protocol.Pending, view.ReasonDependency)
	wantJob(t, w, both, protocol.Cancelled, view.ReasonDependencyNever)
	wantJob(t, w, none, protocol.Pending, view.ReasonDependency)
	w.Advance(10 * protocol.Minute)
	wantJob(t, w, one, protocol.Completed, "")
	wantJob(t, w, none, protocol.Cancelled, view.ReasonDependencyNever)
}

// TestSingleton: of the jobs of one user and name one at a time runs, in the order of their submission.
func TestSingleton(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	ids := []protocol.JobID{submit(t, w, twoCPUs(10*protocol.Minute))}
	for range 3 {
		ids = append(ids, submit(t, w, waitsFor(t, "singleton", false)))
	}
	other := waitsFor(t, "singleton", false)
	other.Spec.Name = "another"
	free := submit(t, w, other)
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, free, protocol.Completed, "")
	wantJob(t, w, ids[1], protocol.Pending, view.ReasonDependency)
	w.Cancel("a", ids[2])
	restarted(t, w, "a")
	w.Advance(protocol.Hour)
	wantJob(t, w, ids[1], protocol.Completed, "")
	wantJob(t, w, ids[3], protocol.Completed, "")
	before, _ := w.Site("a").Archived(ids[1])
	if at, _ := w.LastStart(ids[3]); at < before.Ended {
		t.Errorf("it started at %s, before %s", at.Text(), before.Ended.Text())
	}
}

// TestSingletonArray: when an array is the oldest of its name, its elements start, those that have become jobs meanwhile too: by a
// hold, or by an update of the whole array.
func TestSingletonArray(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		w := twoSites(t)
		named := func(job protocol.Job) protocol.Job {
			job.Spec.Name = "x"
			return job
		}
		first := submit(t, w, named(twoCPUs(10*protocol.Minute)))
		id := submit(t, w, named(follows(t, "0-2", "singleton", false)))
		element := protocol.Element{Array: id, Index: 1}.ID()
		setHold(w, element, true, "ada", false)
		setHold(w, element, false, "ada", false)
		updated := named(minutes(protocol.Minute, "0-2"))
		updated.Spec.Sites, updated.Conditions.Begin = []protocol.SiteName{"b"}, w.Now().Add(protocol.Minute)
		other := submit(t, w, updated)
		drawn := protocol.Element{Array: other, Index: 1}.ID()
		setHold(w, drawn, true, "ada", false)
		setHold(w, drawn, false, "ada", false)
		if got := update(w, other, protocol.Change{Dependency: dependency(t, "singleton")}, "ada", false); got != (view.Done{}) {
			t.Fatalf("%+v", got)
		}
		w.Advance(5 * protocol.Minute)
		for _, one := range []protocol.JobID{element, drawn} {
			wantJob(t, w, one, protocol.Pending, view.ReasonDependency)
		}
		if restart {
			restarted(t, w, "a")
		}
		w.Advance(protocol.Hour)
		for _, one := range []protocol.JobID{first, element, id, drawn, other} {
			wantJob(t, w, one, protocol.Completed, "")
		}
		before, _ := w.Site("a").Archived(id)
		if at, _ := w.LastStart(drawn); at < before.Ended {
			t.Errorf("an element of the second array started at %s, before %s", at.Text(), before.Ended.Text())
		}
	}
}

// TestUnknownDependency: a job that was never there is refused, by its ID.
func TestUnknownDependency(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	id := submit(t, w, twoCPUs(protocol.Minute))
	for _, unknown := range []protocol.JobID{id + 1, 9_000_000_000_001, 1} {
		job := twoCPUs(protocol.Minute)
		job.Conditions.Dependency = &protocol.Dependency{Terms: []protocol.DependencyTerm{{Kind: protocol.AfterOK, Job: unknown}}}
		asked := w.Submit("a", "ada", "", job)
		w.Advance(protocol.Second)
		got, ok := w.Site("a").Answer(asked).(view.Refusal)
		if !ok || unknown != 1 && got.Code != view.NotFound || !strings.Contains(got.Reason, unknown.String()) {
			t.Errorf("%v: %+v", unknown, w.Site("a").Answer(asked))
		}
	}
}

// TestChain: each job of a long chain waits for the one before; if the first one fails, all end in one step.
func TestChain(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	ids := []protocol.JobID{submit(t, w, fails(10*protocol.Minute))}
	for range 50 {
		ids = append(ids, submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v", ids[len(ids)-1]), true)))
	}
	w.Advance(30 * protocol.Minute)
	for _, id := range ids[1:] {
		wantJob(t, w, id, protocol.Cancelled, view.ReasonDependencyNever)
	}
	if jobs := w.Site("a").Rows().Jobs(); len(jobs) != 0 {
		t.Errorf("%d jobs are left in phase %v", len(jobs), jobs[0].Phase)
	}
}

// TestDependenciesOfArrays: arrays wait for jobs, and jobs for arrays and for elements, whether these have become jobs or not.
func TestDependenciesOfArrays(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	first := submit(t, w, twoCPUs(10*protocol.Minute))
	array := waitsFor(t, fmt.Sprintf("afterok:%v", first), true)
	indexes, err := protocol.ParseArray("0-3")
	if err != nil {
		t.Fatal(err)
	}
	array.Array, array.Spec.Name = &indexes, "array"
	id := submit(t, w, array)
	all := submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v", id), true))
	element := submit(t, w, waitsFor(t, fmt.Sprintf("afterany:%v_3", id), true))
	single := waitsFor(t, "singleton", true)
	single.Spec.Name = "array"
	alone := submit(t, w, single)
	restarted(t, w, "a")
	for _, id := range []protocol.JobID{all, element, alone} {
		wantJob(t, w, id, protocol.Pending, view.ReasonDependency)
	}
	w.Advance(8 * protocol.Minute)
	wantJob(t, w, all, protocol.Pending, view.ReasonDependency)
	w.Advance(30 * protocol.Minute)
	for _, id := range []protocol.JobID{all, element, alone} {
		wantJob(t, w, id, protocol.Completed, "")
	}
	ended, _ := w.Site("a").Archived(id)
	for _, id := range []protocol.JobID{all, alone} {
		if at, _ := w.LastStart(id); at < ended.Ended {
			t.Errorf("it started at %s, and the array ended at %s", at.Text(), ended.Ended.Text())
		}
	}

	bad := submit(t, w, fails(protocol.Minute))
	array.Conditions = waitsFor(t, fmt.Sprintf("afterok:%v", bad), true).Conditions
	dies := submit(t, w, array)
	after := submit(t, w, waitsFor(t, fmt.Sprintf("afternotok:%v_2", dies), false))
	w.Advance(10 * protocol.Minute)
	wantJob(t, w, dies, protocol.Cancelled, "")
	wantJob(t, w, after, protocol.Completed, "")
}

// TestDependencyOnAnotherSite: a job waits for one that was submitted at another site, whichever of them restarts; what its
// origin does not know is never satisfied.
func TestDependencyOnAnotherSite(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	at := func(site protocol.SiteName, job protocol.Job) protocol.JobID {
		asked := w.Submit(site, "ada", "", job)
		w.Advance(10 * protocol.Second)
		submitted, ok := w.Site(site).Answer(asked).(view.Submitted)
		if !ok {
			t.Fatalf("%+v", w.Site(site).Answer(asked))
		}
		return submitted.Jobs[0]
	}
	first := at("b", twoCPUs(20*protocol.Minute))
	next := submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v", first), false))
	never := submit(t, w, waitsFor(t, fmt.Sprintf("afternotok:%v", first), true))
	begun := submit(t, w, waitsFor(t, fmt.Sprintf("after:%v+5", first), true))
	unknown := submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v", first+9), false))
	wantJob(t, w, next, protocol.Pending, view.ReasonDependency)
	w.Advance(5 * protocol.Minute)
	wantJob(t, w, unknown, protocol.Pending, view.ReasonDependencyNever+" (b has no record")
	for _, site := range []protocol.SiteName{"b", "a"} {
		restarted(t, w, site)
		w.Advance(5 * protocol.Minute)
		wantJob(t, w, next, protocol.Pending, view.ReasonDependency)
	}
	wantJob(t, w, begun, protocol.Completed, "")
	w.Crash("a")
	w.Advance(30 * protocol.Minute) // it ends meanwhile
	restarted(t, w, "b")
	restarted(t, w, "a")
	w.Advance(10 * protocol.Minute)
	wantJob(t, w, next, protocol.Completed, "")
	wantJob(t, w, never, protocol.Cancelled, view.ReasonDependencyNever)
}

// TestOutcomesSoonAfterRestart: what a partner asks while a site that has just started may not answer, and what it answers while the
// site takes no answers, does not wait for the next query.
func TestOutcomesSoonAfterRestart(t *testing.T) {
	t.Parallel()
	for _, killed := range []protocol.SiteName{"a", "b"} {
		w := guardedSites(t)
		asked := w.Submit("b", "ada", "", twoCPUs(20*protocol.Minute))
		w.Advance(10 * protocol.Second)
		first := w.Site("b").Answer(asked).(view.Submitted).Jobs[0] //nolint:forcetypeassert // it panics
		next := submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v", first), false))
		w.Crash(killed)
		w.Advance(30 * protocol.Minute) // it ends meanwhile
		if killed == "b" {
			wantJob(t, w, next, protocol.Pending, view.ReasonDependency)
		}
		restarted(t, w, killed)
		w.Advance(90 * protocol.Second) // the second one runs for a minute, and there is a query each 5 minutes
		wantJob(t, w, next, protocol.Completed, "")
	}
}

// TestChainOverSites: each job of a chain is of another site, and depends on the one before. Whichever site is killed, and
// whenever, all run, one after the other.
func TestChainOverSites(t *testing.T) {
	t.Parallel()
	names := []protocol.SiteName{"a", "b", "c"}
	for _, killed := range names {
		for at := protocol.Duration(0); at < 8*protocol.Minute; at += 17 * protocol.Second {
			w, err := peertest.New(peertest.Options{Seed: uint64(at) + 1, Faults: gentle(), Sites: []peertest.SiteOptions{
				{Name: "a", Capacity: protocol.Capacity{CPUs: 2, Nodes: 1}},
				{Name: "b", Capacity: protocol.Capacity{CPUs: 2, Nodes: 1}},
				{Name: "c", Capacity: protocol.Capacity{CPUs: 2, Nodes: 1}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			var ids []protocol.JobID
			for i := range 6 {
				dependency := ""
				if i > 0 {
					dependency = fmt.Sprintf("afterok:%v", ids[i-1])
				}
				site := names[i%3]
				asked := w.Submit(site, "ada", "", waitsFor(t, dependency, false))
				w.Advance(protocol.Second)
				submitted, ok := w.Site(site).Answer(asked).(view.Submitted)
				if !ok {
					t.Fatalf("%+v", w.Site(site).Answer(asked))
				}
				ids = append(ids, submitted.Jobs[0])
			}
			w.Advance(at)
			w.Crash(killed)
			w.Advance(20 * protocol.Second)
			if err := w.Restart(killed); err != nil {
				t.Fatal(err)
			}
			w.Advance(30 * protocol.Minute)
			before := protocol.Instant(0)
			for i, id := range ids {
				done, ended := w.Site(names[i%3]).Archived(id)
				start, _ := w.LastStart(id)
				if !ended || done.State != protocol.Completed || start < before {
					t.Fatalf("%s killed after %v: job %d of the chain is %v, started at %s, the one before ended at %s", killed, at, i, done.State, start.Text(), before.Text())
				}
				before = done.Ended
			}
			if err := w.Check(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPrivateDependency: who may see only their own jobs can depend on these, and is told of all others, whether they wait, run
// or have ended, what is told of a job that never was.
func TestPrivateDependency(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	array := twoCPUs(10 * protocol.Minute)
	array.Array = &protocol.Array{Indexes: protocol.IndexesOf(0, 1, 2)}
	array.Conditions.Hold = protocol.HeldByUser
	ended, elements := submit(t, w, twoCPUs(protocol.Minute)), submit(t, w, array)
	w.Advance(10 * protocol.Minute)
	pending := submit(t, w, waitsFor(t, fmt.Sprintf("afterok:%v", elements), false))
	cancelled := protocol.Element{Array: elements, Index: 1}.ID()
	w.Cancel("a", cancelled)
	w.Advance(protocol.Second)
	ask := func(user string, own bool, id protocol.JobID) view.Reply {
		asked := w.Ask("a", func(asked event.AskID) event.Event {
			job := waitsFor(t, fmt.Sprintf("afterany:%v", id), false)
			return event.Submit{Asked: asked, User: user, OwnOnly: own, Jobs: []protocol.Job{job}}
		})
		w.Advance(protocol.Second)
		return w.Site("a").Answer(asked)
	}
	const never = protocol.JobID(1_900_000_000_000)
	for name, id := range map[string]protocol.JobID{
		"ended": ended, "pending": pending, "array": elements, "element": elements + 1, "cancelled element": cancelled, "none": never,
	} {
		want := view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("dependency afterany: job %v, on which it depends, is not known here; it never was, or its record has been deleted", id)}
		if got, _ := ask("bob", true, id).(view.Refusal); got.Code != want.Code || got.Reason != want.Reason {
			t.Errorf("%s, of another user: %+v", name, got)
		}
		for user, own := range map[string]bool{"ada": true, "bob": false} {
			if _, ok := ask(user, own, id).(view.Submitted); ok != (id != never) {
				t.Errorf("%s, of %s, own only %v: %v", name, user, own, ok)
			}
		}
	}
}
