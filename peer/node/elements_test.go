package node_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func indexes(t *testing.T, list string) protocol.Indexes {
	t.Helper()
	got, err := protocol.ParseIndexes(list)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// endedArray is an array 10, of whose elements 0 to 5 those in the list never became jobs.
func endedArray(t *testing.T, never string) view.Job {
	t.Helper()
	return view.Job{
		ID: 10, User: "ann", State: protocol.Cancelled, Ended: 100,
		Array: &view.Array{ID: 10, Elements: indexes(t, "0-5"), Cancelled: 1, NeverJobs: indexes(t, never)},
	}
}

// TestHistoryOfAnArray: the ID of an array is that of all its elements, whether it has ended or not, that of an element
// also is if it never became a job, and a page is as long as it was asked to be.
func TestHistoryOfAnArray(t *testing.T) {
	t.Parallel()
	memory := newMemory()
	memory.apply(archivedRows(t, view.Job{ID: 5, State: protocol.Completed, Ended: 50}, endedArray(t, "3,4"), view.Job{ID: 17, State: protocol.Completed, Ended: 55}))
	for _, array := range []protocol.JobID{10, 20} { // 20 has not ended
		for _, index := range []int{0, 1, 2, 5} {
			element := protocol.Element{Array: array, Index: index}
			memory.apply(archivedRows(t, view.Job{ID: element.ID(), Element: &element, User: "ann", State: protocol.Completed, Ended: protocol.Instant(array) + protocol.Instant(index)}))
		}
	}
	n, err := node.New(liveConfig(memory))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		filter view.HistoryFilter
		want   string
	}{
		"an array":              {view.HistoryFilter{Jobs: []protocol.JobID{10}}, "[10 16 13 12 11]"},
		"an array that runs":    {view.HistoryFilter{Jobs: []protocol.JobID{20}}, "[26 23 22 21]"},
		"both, and an element":  {view.HistoryFilter{Jobs: []protocol.JobID{20, 10, 16}}, "[10 26 23 22 21 16 13 12 11]"},
		"elements":              {view.HistoryFilter{Jobs: []protocol.JobID{13, 15, 14}}, "[15 14 13]"},
		"an element that runs":  {view.HistoryFilter{Jobs: []protocol.JobID{24}}, "[]"},
		"others":                {view.HistoryFilter{Jobs: []protocol.JobID{5, 17, 6, 18}}, "[17 5]"},
		"an array of a user":    {view.HistoryFilter{Jobs: []protocol.JobID{10}, Users: []string{"bob"}}, "[]"},
		"an array until a time": {view.HistoryFilter{Jobs: []protocol.JobID{10}, Since: 11, Until: 15}, "[13 12]"},
	} {
		for _, limit := range []int{1, 2, 100} {
			got := []protocol.JobID{}
			for after, more := "", true; more; {
				page, err := n.History(t.Context(), &c.filter, after, limit)
				if err != nil || len(page.Jobs) > limit {
					t.Fatalf("%s: %d jobs of %d, %v", name, len(page.Jobs), limit, err)
				}
				for i := range page.Jobs {
					got = append(got, page.Jobs[i].ID)
				}
				after, more = page.Next, page.Next != ""
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("%s, %d at a time: %v, want %s", name, limit, got, c.want)
			}
		}
	}
}

// TestWaitForElementsThatAreNoJobs: an element that is cancelled before its turn has ended, for who waits and for who
// asks when its array has ended, too.
func TestWaitForElementsThatAreNoJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := map[protocol.JobID]view.Job{14: {ID: 14, State: protocol.Pending}, 15: {ID: 15, State: protocol.Pending}}
		messages := 0
		core := table(jobs)
		ask := core.step
		core.step = func(now protocol.Instant, ev event.Event) event.Ready {
			if _, ok := ev.(event.MessageIn); !ok {
				return ask(now, ev)
			}
			if messages++; messages == 1 {
				jobs[14] = view.Job{ID: 14, State: protocol.Cancelled}
				array := row.Array{Asked: protocol.Array{Indexes: indexes(t, "0-5")}, Cancelled: indexes(t, "3")}
				array.Job.Spec.Job = 10
				return event.Ready{Records: []row.Record{{Table: row.ArrayTable, Key: archiveKey(10), Row: array}}}
			}
			clear(jobs)
			return event.Ready{Records: []row.Record{
				{Table: row.ArrayTable, Key: archiveKey(10)},
				{Table: row.ArchiveTable, Key: archiveKey(10), Row: row.Archived{View: endedArray(t, "3,4")}},
			}}
		}
		r := start(t, core)
		waiters := make(chan string, 2)
		for _, id := range []protocol.JobID{14, 15} {
			go func() {
				shown, err := r.WaitJob(t.Context(), id)
				waiters <- fmt.Sprint(shown.ID, shown.State, err)
			}()
		}
		for _, want := range []string{"14 CANCELLED <nil>", "15 CANCELLED <nil>"} {
			synctest.Wait()
			r.Received("there", result(1))
			synctest.Wait()
			select {
			case got := <-waiters:
				if got != want {
					t.Errorf("waiting brought %s, want %s", got, want)
				}
			default:
				t.Fatalf("%s is not seen", want)
			}
		}
		if shown, err := r.WaitJob(t.Context(), 14); err != nil || shown.State != protocol.Cancelled || shown.User != "ann" || shown.Element.String() != "10_3" {
			t.Errorf("when the array has ended: %+v, %v", shown, err)
		}
		var refused *node.RefusedError
		if _, err := r.WaitJob(t.Context(), 13); !errors.As(err, &refused) || refused.Refusal().Code != view.NotFound {
			t.Errorf("an element that has been a job and is pruned: %v", err)
		}
		_ = r.end()
	})
}
