package peer_test

import (
	"fmt"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// minutes is an array whose elements run that long, some at a time.
func minutes(run protocol.Duration, elements string) protocol.Job {
	job := peertest.Plan{Run: run}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}})
	array, err := protocol.ParseArray(elements)
	if err != nil {
		panic(err)
	}
	job.Array = &array
	return job
}

// follows is an array that waits for others.
func follows(t *testing.T, elements, dependency string, kill bool) protocol.Job {
	t.Helper()
	job := minutes(protocol.Minute, elements)
	job.Conditions.Dependency = waitsFor(t, dependency, kill).Conditions.Dependency
	return job
}

// wantElements compares the states of elements from 0 on.
func wantElements(t *testing.T, w *peertest.World, array protocol.JobID, want ...protocol.State) {
	t.Helper()
	for i, state := range want {
		id := protocol.Element{Array: array, Index: i}.ID()
		now, ended := w.Site("a").Archived(id)
		if whole, over := w.Site("a").Archived(array); over && !ended {
			now, ended = whole.AsElement(i)
		}
		if !ended {
			now = shown(w, id)
		}
		if now.State != state {
			t.Errorf("element %d of %v is %v (%s), want %v", i, array, now.State, now.Reason, state)
		}
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestAfterCorr: each element of an array starts when the one of the same index of another array has COMPLETED. One whose
// counterpart was cancelled, or never was, never starts.
func TestAfterCorr(t *testing.T) {
	t.Parallel()
	const p, c, x = protocol.Pending, protocol.Completed, protocol.Cancelled
	w := twoSites(t)
	first := submit(t, w, minutes(10*protocol.Minute, "0-3%1"))
	kills := submit(t, w, follows(t, "0-4", fmt.Sprintf("aftercorr:%v", first), true))
	waits := submit(t, w, follows(t, "0-4", fmt.Sprintf("aftercorr:%v", first), false))
	wantElements(t, w, kills, p, p, p, p, x)
	wantJob(t, w, waits, p, view.ReasonDependency)
	w.CancelElements("a", protocol.JobName{Job: first, Elements: protocol.IndexesOf(2)})
	w.Advance(protocol.Second)
	wantElements(t, w, kills, p, p, x, p, x)
	restarted(t, w, "a")
	w.Advance(14 * protocol.Minute) // the first has run, and the next one runs
	wantElements(t, w, kills, c, p, x, p, x)
	between := submit(t, w, follows(t, "0-4", fmt.Sprintf("aftercorr:%v", first), true))
	restarted(t, w, "a")
	w.Advance(40 * protocol.Minute)
	wantElements(t, w, kills, c, c, x, c, x)
	wantElements(t, w, between, c, c, x, c, x)
	wantElements(t, w, waits, c, c, p, c, p)
	wantJob(t, w, waits, p, view.ReasonDependencyNever)
	late := submit(t, w, follows(t, "0-4", fmt.Sprintf("aftercorr:%v", first), true))
	w.Advance(10 * protocol.Minute)
	wantElements(t, w, late, c, c, x, c, x)
}

// TestAfterCorrRefused: aftercorr names arrays, of this site or a partner.
func TestAfterCorrRefused(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	job := submit(t, w, twoCPUs(protocol.Minute))
	for _, tt := range []struct {
		name protocol.JobID
		part string
	}{{job, "no job array"}, {job + 1000, "not known"}, {protocol.NewJobID(9, 7), "not a partner"}} {
		asked := w.Submit("a", "ada", "", follows(t, "0-1", fmt.Sprintf("aftercorr:%v", tt.name), false))
		w.Advance(protocol.Second)
		wantRefusal(t, w.Site("a").Answer(asked), view.NotFound, tt.part)
	}
	w.Advance(10 * protocol.Minute)
	asked := w.Submit("a", "ada", "", follows(t, "0-1", fmt.Sprintf("aftercorr:%v", job), false))
	w.Advance(protocol.Second)
	wantRefusal(t, w.Site("a").Answer(asked), view.NotFound, "no job array")
}

// TestAfterElementThatNeverWas: an element that was cancelled before its turn counts as a job that was cancelled, also once its
// array has ended, and at another site.
func TestAfterElementThatNeverWas(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	first := submit(t, w, minutes(protocol.Minute, "0-3%1"))
	w.CancelElements("a", protocol.JobName{Job: first, Elements: protocol.IndexesOf(3)})
	w.Advance(20 * protocol.Minute)
	if _, ended := w.Site("a").Archived(first); !ended {
		t.Fatal("the array has not ended")
	}
	for _, site := range []protocol.SiteName{"a", "b"} {
		for kind, state := range map[string]protocol.State{"afterok": protocol.Cancelled, "afternotok": protocol.Completed, "afterany": protocol.Completed} {
			asked := w.Submit(site, "ada", "", waitsFor(t, fmt.Sprintf("%s:%v_3", kind, first), true))
			w.Advance(10 * protocol.Minute)
			submitted, ok := w.Site(site).Answer(asked).(view.Submitted)
			if !ok {
				t.Errorf("%s at %s: %+v", kind, site, w.Site(site).Answer(asked))
				continue
			}
			if ended, _ := w.Site(site).Archived(submitted.Jobs[0]); ended.State != state {
				t.Errorf("%s at %s: %v (%s), want %v", kind, site, ended.State, ended.Reason, state)
			}
		}
	}
}
