package peer_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// submitAt submits a job or an array at a site.
func submitAt(t *testing.T, w *peertest.World, site protocol.SiteName, user string, job protocol.Job) protocol.JobID {
	t.Helper()
	asked := w.Submit(site, user, "", job)
	w.Advance(protocol.Second)
	submitted, ok := w.Site(site).Answer(asked).(view.Submitted)
	if !ok {
		t.Fatalf("%+v", w.Site(site).Answer(asked))
	}
	return submitted.Jobs[0]
}

// TestAfterCorrOfAnotherSite is [TestAfterCorr] between sites. One of them is down while an element ends for which others wait.
func TestAfterCorrOfAnotherSite(t *testing.T) {
	t.Parallel()
	const p, c, x = protocol.Pending, protocol.Completed, protocol.Cancelled
	for _, killed := range []protocol.SiteName{"a", "b"} {
		w := twoSites(t)
		first := submitAt(t, w, "b", "ada", minutes(10*protocol.Minute, "0-3%1"))
		after := fmt.Sprintf("aftercorr:%v", first)
		kills := submit(t, w, follows(t, "0-4", after, true))
		waits := submit(t, w, follows(t, "0-4", after, false))
		wantElements(t, w, kills, p, p, p, p, x)
		wantJob(t, w, waits, p, view.ReasonDependency)
		w.CancelElements("b", protocol.JobName{Job: first, Elements: protocol.IndexesOf(2)})
		w.Advance(protocol.Second)
		wantElements(t, w, kills, p, p, x, p, x)
		w.Crash(killed)
		w.Advance(14 * protocol.Minute) // the first one ends meanwhile
		restarted(t, w, killed)
		w.Advance(2 * protocol.Minute) // there is a query each 5 minutes
		wantElements(t, w, kills, c, p, x, p, x)
		between := submit(t, w, follows(t, "0-4", after, true))
		restarted(t, w, killed)
		w.Advance(40 * protocol.Minute)
		wantElements(t, w, kills, c, c, x, c, x)
		wantElements(t, w, between, c, c, x, c, x)
		wantElements(t, w, waits, c, c, p, c, p)
		wantJob(t, w, waits, p, view.ReasonDependencyNever)
		late := submit(t, w, follows(t, "0-4", after, true))
		w.Advance(10 * protocol.Minute)
		wantElements(t, w, late, c, c, x, c, x)
	}
}

// TestAfterCorrOfNoArray: an array that waits for elements of what is no array at a partner, or has left no record there, never
// starts, and says why.
func TestAfterCorrOfNoArray(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	open, ended := submitAt(t, w, "b", "ada", twoCPUs(3*protocol.Hour)), submitAt(t, w, "b", "ada", twoCPUs(protocol.Minute))
	w.Advance(10 * protocol.Minute)
	for id, why := range map[protocol.JobID]string{
		open: " is no job array", ended: " is no job array", protocol.NewJobID(2, 7): ", on which it depends",
	} {
		after := fmt.Sprintf("aftercorr:%v", id)
		waits, kills := submit(t, w, follows(t, "0-1", after, false)), submit(t, w, follows(t, "0-1", after, true))
		want := fmt.Sprintf("%s (%v%s", view.ReasonDependencyNever, id, why)
		if id == protocol.NewJobID(2, 7) {
			want = fmt.Sprintf("%s (b has no record of job %v%s", view.ReasonDependencyNever, id, why)
		}
		wantJob(t, w, waits, protocol.Pending, want)
		wantElements(t, w, kills, protocol.Cancelled, protocol.Cancelled)
	}
}

// TestElementAfterCorrOfAnotherSite: an element that is a job before it is known whether the array of a partner has one of its index
// waits for that one alone, and not for the job that has the ID which such an element would have.
func TestElementAfterCorrOfAnotherSite(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	first := submitAt(t, w, "b", "ada", minutes(10*protocol.Minute, "0-1"))
	other := submitAt(t, w, "b", "ada", twoCPUs(protocol.Minute))
	if id := (protocol.Element{Array: first, Index: 2}).ID(); id != other {
		t.Fatalf("the job is %v, want %v", other, id)
	}
	array := minutes(protocol.Minute, "0-2")
	array.Conditions.Hold = protocol.HeldByUser
	waits := submit(t, w, array)
	for index := range 3 { // each becomes a job
		w.Ask("a", func(asked event.AskID) event.Event {
			return event.Update{Asked: asked, Job: protocol.Element{Array: waits, Index: index}.ID(), User: "ada", Change: protocol.Change{
				Dependency: dependency(t, fmt.Sprintf("aftercorr:%v", first)),
			}}
		})
	}
	w.Advance(protocol.Second)
	w.Ask("a", func(asked event.AskID) event.Event { return event.SetHold{Asked: asked, Job: waits, User: "ada"} })
	restarted(t, w, "a")
	wantElements(t, w, waits, protocol.Pending, protocol.Pending, protocol.Pending)
	w.Advance(20 * protocol.Minute)
	wantElements(t, w, waits, protocol.Completed, protocol.Completed, protocol.Pending)
	wantJob(t, w, protocol.Element{Array: waits, Index: 2}.ID(), protocol.Pending, fmt.Sprintf("%s (job %v_2 has not ended as COMPLETED", view.ReasonDependencyNever, first))
}

// TestAfterCorrOfPrivateJobs: what is said of an array that another user's account has at a site whose users see only their own jobs is
// what is said of one that never was, and does no harm to the arrays of others that wait for the same one.
func TestAfterCorrOfPrivateJobs(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	w.Crash("b")
	w.Configure("b", func(cfg *rules.Config) { cfg.PrivateJobs, cfg.Accounts = true, sameNames{} })
	restarted(t, w, "b")
	for _, over := range []bool{false, true} {
		first := submitAt(t, w, "b", "ada", minutes(10*protocol.Minute, "0-1"))
		if over {
			w.Advance(20 * protocol.Minute)
		}
		after := fmt.Sprintf("aftercorr:%v", first)
		own := submitAt(t, w, "a", "ada", follows(t, "0-1", after, true))
		others := submitAt(t, w, "a", "bob", follows(t, "0-1", after, false))
		wantJob(t, w, others, protocol.Pending, fmt.Sprintf("%s (b has no record of job %v, on which it depends, or does not show it to bob)", view.ReasonDependencyNever, first))
		w.Advance(20 * protocol.Minute)
		wantElements(t, w, own, protocol.Completed, protocol.Completed)
		wantElements(t, w, others, protocol.Pending, protocol.Pending)
	}
}

// TestElementsSoonAfterRestart: what a partner asks about elements while a site that has just started may not answer does not wait for
// the next query.
func TestElementsSoonAfterRestart(t *testing.T) {
	t.Parallel()
	for _, killed := range []protocol.SiteName{"a", "b"} {
		w := guardedSites(t)
		w.Advance(10 * protocol.Second)
		first := submitAt(t, w, "b", "ada", minutes(20*protocol.Minute, "0-3"))
		next := submit(t, w, follows(t, "0-3", fmt.Sprintf("aftercorr:%v", first), false))
		w.Crash(killed)
		w.Advance(30 * protocol.Minute) // all end meanwhile
		restarted(t, w, killed)
		w.Advance(150 * protocol.Second) // four of a minute on two CPUs and more, and a query each 5 minutes
		wantElements(t, w, next, protocol.Completed, protocol.Completed, protocol.Completed, protocol.Completed)
	}
}

// TestManyElements: a partner is asked about many elements in few messages of bounded size, which name those that are not known yet; of
// an array that has ended, elements are looked up some at a time, and all are answered for.
func TestManyElements(t *testing.T) {
	t.Parallel()
	const elements = 25_000
	var archive []int // how many jobs are looked up at once
	var array protocol.JobID
	l := newLone(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		asked, ok := op.(event.ArchiveOp)
		if !ok {
			return nil, errLater
		}
		archive = append(archive, len(asked.Jobs))
		var found event.ArchiveResult
		for _, id := range asked.Jobs {
			e := event.Ended{Job: id, User: "ada", State: protocol.Completed, Started: 1, Ended: 2}
			switch index := id - array - 1; {
			case id == array:
				e.State, e.Elements, e.NeverJobs = protocol.Failed, protocol.Indexes{{First: 0, Last: elements - 1, Step: 1}}, protocol.IndexesOf(7)
			case index%5 > 1:
				e.State = protocol.Failed
			}
			found.Ended = append(found.Ended, e)
		}
		return found, nil
	})
	waits := minutes(protocol.Minute, fmt.Sprintf("0-%d", elements+1))
	theirs := protocol.NewJobID(2, 5)
	waits.Conditions.Dependency = dependency(t, fmt.Sprintf("aftercorr:%v", theirs))
	l.step(event.Submit{Asked: 1, User: "ada", Jobs: []protocol.Job{waits}})
	queries := func() (all protocol.Indexes, messages int) {
		for _, m := range l.sent {
			if q, ok := m.Body.(protocol.ElementsQuery); ok && m.To == "b" && q.Array == theirs {
				if messages++; len(q.Elements) > protocol.MaxElementRuns {
					t.Errorf("a query has %d runs", len(q.Elements))
				}
				all = all.Or(q.Elements)
			}
		}
		l.sent = nil
		return all, messages
	}
	if all, messages := queries(); messages != 1 || all.Len() != elements+2 {
		t.Fatalf("%d messages ask about %d elements", messages, all.Len())
	}

	// This site is asked the same about an array of its own that has ended.
	own := minutes(protocol.Minute, fmt.Sprintf("0-%d", elements-1))
	l.step(event.Submit{Asked: 2, User: "ada", Jobs: []protocol.Job{own}})
	array = l.answers[len(l.answers)-1].(view.Submitted).Jobs[0] //nolint:forcetypeassert // it panics
	l.step(event.Cancel{Asked: 3, Job: array, User: "ada"})
	l.sent = nil
	l.step(event.MessageIn{From: "b", Body: protocol.ElementsQuery{Array: array, User: "ada", Elements: protocol.Indexes{{First: 0, Last: elements + 1, Step: 1}}}})
	var completed, others protocol.Indexes
	for _, m := range l.sent {
		if o, ok := m.Body.(protocol.ElementsOutcome); ok {
			if len(o.Completed) > protocol.MaxElementRuns || len(o.Others) > protocol.MaxElementRuns {
				t.Errorf("an answer has %d and %d runs", len(o.Completed), len(o.Others))
			}
			completed, others = completed.Or(o.Completed), others.Or(o.Others)
		}
	}
	if completed.Len() != elements/5*2 || others.Len() != elements/5*3+2 || !completed.And(others).IsZero() || !others.Has(7) || !others.Has(elements+1) || !completed.Has(6) {
		t.Errorf("%d elements have COMPLETED, %d others", completed.Len(), others.Len())
	}
	if want := []int{1, 10_000, 10_000, 4999}; fmt.Sprint(archive) != fmt.Sprint(want) {
		t.Errorf("looked up at once: %v, want %v", archive, want)
	}

	// What it hears of the array that it waits for is not asked again.
	for _, m := range l.sent {
		if o, ok := m.Body.(protocol.ElementsOutcome); ok {
			l.step(event.MessageIn{From: "b", Body: protocol.ElementsOutcome{Array: theirs, Completed: o.Completed}})
		}
	}
	l.sent = nil
	l.advance(6 * protocol.Minute)
	if all, messages := queries(); messages != elements/5/protocol.MaxElementRuns || !all.Equal(others) {
		t.Errorf("%d messages ask about %d elements, want %d", messages, all.Len(), others.Len())
	}
}

// TestRequeuedWhileLookedUp: a job or elements that are requeued while they are looked up in the archive for a partner, which does
// not have them any more, are answered for as open ones, and reported when they end.
func TestRequeuedWhileLookedUp(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) {
		cfg.Requeueable = rules.Requeueable{For: protocol.Hour, Jobs: 10, Bytes: 1 << 20}
	}, func(event.Op) (event.Result, error) { return nil, errLater })
	ask := func(ev event.Event) view.Reply {
		l.step(ev)
		return l.answers[len(l.answers)-1]
	}
	submitted := func(job protocol.Job) protocol.JobID {
		return ask(event.Submit{Asked: 1, User: "ada", Jobs: []protocol.Job{job}}).(view.Submitted).Jobs[0] //nolint:forcetypeassert // it panics
	}
	looked := func(found ...event.Ended) (sent []protocol.Message) { // what the archive says of what was looked up last
		before := len(l.sent)
		for at := len(l.open) - 1; ; at-- {
			if _, ok := l.open[at].Op.(event.ArchiveOp); ok {
				l.step(event.CallDone{ID: l.open[at].ID, Result: event.ArchiveResult{Ended: found}})
				break
			}
		}
		for _, m := range l.sent[before:] {
			_, job := m.Body.(protocol.JobOutcome)
			if _, elements := m.Body.(protocol.ElementsOutcome); job || elements {
				sent = append(sent, m.Body)
			}
		}
		return sent
	}
	want := func(what string, sent []protocol.Message, want ...protocol.Message) {
		t.Helper()
		if !reflect.DeepEqual(sent, want) {
			t.Errorf("%s: sent are %+v, want %+v", what, sent, want)
		}
	}
	job := submitted(twoCPUs(protocol.Minute))
	array := submitted(minutes(protocol.Minute, "0-3"))
	for _, id := range []protocol.JobID{job, array} {
		ask(event.Cancel{Asked: 2, Job: id, User: "ada"})
	}
	again := func(id protocol.JobID, elements ...int) {
		t.Helper()
		if got := ask(event.Requeue{Asked: 3, Job: id, Elements: protocol.IndexesOf(elements...), User: "ada"}); got != (view.Done{}) {
			t.Fatalf("%+v", got)
		}
	}
	l.step(event.MessageIn{From: "b", Body: protocol.OutcomeQuery{Job: job, User: "ada"}})
	again(job)
	want("the job", looked(), protocol.JobOutcome{Job: job, State: protocol.Pending, Started: protocol.Never})
	l.step(event.MessageIn{From: "b", Body: protocol.ElementsQuery{Array: array, User: "ada", Elements: protocol.IndexesOf(0, 1, 2)}})
	again(array, 1)
	want("the array", looked())
	again(array, 2)
	want("elements", looked(event.Ended{Job: array + 1, State: protocol.Completed}), protocol.ElementsOutcome{Array: array, Completed: protocol.IndexesOf(0)})
	before := len(l.sent)
	ask(event.Cancel{Asked: 4, Job: array, User: "ada", Elements: protocol.IndexesOf(1, 2)})
	var ended protocol.Indexes
	for _, m := range l.sent[before:] {
		if o, ok := m.Body.(protocol.ElementsOutcome); ok {
			ended = ended.Or(o.Others)
		}
	}
	if !ended.Equal(protocol.IndexesOf(1, 2)) {
		t.Errorf("the partner hears of the ends of %v", ended)
	}

	// They may have ended again before the archive has answered, which was read in between.
	briefly := func(id protocol.JobID, elements ...int) {
		t.Helper()
		again(id, elements...)
		ask(event.Cancel{Asked: 5, Job: id, User: "ada", Elements: protocol.IndexesOf(elements...)})
	}
	ask(event.Cancel{Asked: 4, Job: job, User: "ada"})
	l.step(event.MessageIn{From: "b", Body: protocol.OutcomeQuery{Job: job, User: "ada"}})
	briefly(job)
	want("the job that has ended again, read before that", looked())
	want("the job that has ended again", looked(event.Ended{Job: job, State: protocol.Cancelled, Ended: l.now}), protocol.JobOutcome{Job: job, State: protocol.Cancelled, Started: protocol.Never})
	all := event.Ended{Job: array, State: protocol.Failed, Elements: protocol.IndexesOf(0, 1, 2, 3)}
	l.step(event.MessageIn{From: "b", Body: protocol.ElementsQuery{Array: array, User: "ada", Elements: protocol.IndexesOf(0, 1, 2)}})
	briefly(array, 1)
	want("the array that has ended again, read before that", looked())
	want("the array that has ended again", looked(all))
	briefly(array, 2)
	want("elements, one of which has ended again", looked(event.Ended{Job: array + 1, State: protocol.Completed}, event.Ended{Job: array + 2, State: protocol.Failed}),
		protocol.ElementsOutcome{Array: array, Completed: protocol.IndexesOf(0), Others: protocol.IndexesOf(1)})
	want("the array of the one", looked(all))
	want("the one", looked(event.Ended{Job: array + 3, State: protocol.Completed}), protocol.ElementsOutcome{Array: array, Completed: protocol.IndexesOf(2)})
}
