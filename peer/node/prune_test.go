package node_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// finishedJob are the rows of a job that ended at an instant: itself, and five facts.
func finishedJob(t *testing.T, id protocol.JobID, ended protocol.Instant) []node.Put {
	t.Helper()
	puts := rowsOf(t, row.Record{
		Table: row.ArchiveTable, Key: archiveKey(id),
		Row: row.Archived{View: view.Job{ID: id, State: protocol.Completed, Name: "some job", Ended: ended, WorkDir: "/home/ann/somewhere"}},
	})
	for i := range 5 {
		at := ended - protocol.Instant(i)
		puts = append(puts, node.Put{
			Table: "fact", Key: fmt.Sprintf("%s-%015d-%09d", archiveKey(id), at, i),
			Value: fmt.Appendf(nil, `{"at_ms":%d,"kind":"ended","job":%d,"text":"%0500d"}`, at, id, i),
		})
	}
	return puts
}

// count counts a table's rows.
func count(t *testing.T, s node.Store, table string) (rows int) {
	t.Helper()
	for _, err := range s.Load(table) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	return rows
}

func TestFinishedJobsArePruned(t *testing.T) {
	t.Parallel()
	const now, day = 1_800_000_000_000, protocol.Instant(protocol.Day)
	for name, c := range map[string]struct {
		keep        node.Retention
		jobs, facts int // that are left of ten, of which number i ended i days ago
	}{
		"defaults":    {node.Retention{}, 10, 50},
		"by age":      {node.Retention{FinishedJobs: 4*protocol.Day + protocol.Hour}, 5, 25},
		"by count":    {node.Retention{MaxFinishedJobs: 3}, 3, 15},
		"by both":     {node.Retention{FinishedJobs: 2*protocol.Day + protocol.Hour, MaxFinishedJobs: 7}, 3, 15},
		"events only": {node.Retention{Events: protocol.Day + protocol.Hour}, 10, 10},
		"all":         {node.Retention{FinishedJobs: 1, MaxFinishedJobs: 1}, 0, 0},
	} {
		memory := newMemory()
		for i := range protocol.Instant(10) {
			// ids rise as ends fall: the order of the keys is not that of the ends
			memory.apply(finishedJob(t, protocol.JobID(1000+i), now-1000-i*day))
		}
		cfg := liveConfig(memory)
		cfg.Retention = c.keep
		n, err := node.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err = n.PruneAt(t.Context(), now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if jobs, facts := count(t, memory, "archive"), count(t, memory, "fact"); jobs != c.jobs || facts != c.facts {
			t.Errorf("%s: %d jobs and %d facts are left, want %d and %d", name, jobs, facts, c.jobs, c.facts)
		}
		if ends := count(t, memory, "ended"); ends != c.jobs {
			t.Errorf("%s: %d ends are listed of %d jobs", name, ends, c.jobs)
		}
		if _, found, _ := memory.Get("archive", archiveKey(1000)); found != (c.jobs > 0) {
			t.Errorf("%s: the job that ended last is there: %t", name, found)
		}
	}
}

// TestGuestsArePrunedByTheirOwnRule: many guests drive out no job of this site.
func TestGuestsArePrunedByTheirOwnRule(t *testing.T) {
	t.Parallel()
	const now, day = 1_800_000_000_000, protocol.Instant(protocol.Day)
	memory := newMemory()
	for i := range protocol.Instant(10) {
		memory.apply(archivedRows(t,
			view.Job{ID: protocol.JobID(1000 + i), State: protocol.Failed, Ended: now - 100*day - i},
			view.Job{ID: protocol.JobID(2000 + i), State: protocol.Failed, Ended: now - i*day - 1, Guest: true}))
	}
	cfg := liveConfig(memory)
	cfg.Retention = node.Retention{FinishedJobs: 200 * protocol.Day, MaxFinishedJobs: 8, FinishedGuests: 6 * protocol.Day, MaxFinishedGuests: 4}
	n, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err = n.PruneAt(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	page, err := n.History(t.Context(), &view.HistoryFilter{}, "", 100)
	var got []protocol.JobID
	for _, job := range page.Jobs {
		got = append(got, job.ID)
	}
	for guests, last := range map[view.GuestFilter]protocol.Instant{
		view.OnlyGuests: now - 4*day - 1, view.WithoutGuests: now - 100*day - 8, view.WithGuests: now - 4*day - 1,
	} {
		for range 2 { // the second time nothing is pruned
			got, histErr := n.History(t.Context(), &view.HistoryFilter{Guests: guests}, "", 1)
			if histErr = errors.Join(histErr, n.PruneAt(t.Context(), now)); histErr != nil || got.Pruned != last {
				t.Errorf("%v: pruned until %v, want %v, %v", guests, got.Pruned, last, histErr)
			}
		}
	}
	want := []protocol.JobID{2000, 2001, 2002, 2003, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestPruningShrinksTheFile prunes 10,000 finished jobs of a real store, which is open all
// the time.
func TestPruningShrinksTheFile(t *testing.T) {
	t.Parallel()
	const now, jobs = 1_800_000_000_000, 10_000
	path := filepath.Join(t.TempDir(), "peer.db")
	file, err := store.Open(path, store.Options{AllowNetworkFS: true, CompactOver: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if closeErr := file.Close(); closeErr != nil {
			t.Error(closeErr)
		}
	})
	for id := protocol.JobID(1); id <= jobs; id++ {
		ended := protocol.Instant(now) - 100*protocol.Instant(protocol.Day)
		if id > jobs-100 {
			ended = now - 1
		}
		file.Enqueue(finishedJob(t, id, ended), nil)
	}
	if err = file.Commit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	before := file.Stats().FileBytes
	n, err := node.New(liveConfig(file))
	if err != nil {
		t.Fatal(err)
	}
	if err = n.PruneAt(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if left, facts := count(t, file, "archive"), count(t, file, "fact"); left != 100 || facts != 500 {
		t.Errorf("%d jobs and %d facts are left, want 100 and 500", left, facts)
	}
	if after := file.Stats().FileBytes; after > before/8 {
		t.Errorf("%d bytes became %d", before, after)
	}
}
