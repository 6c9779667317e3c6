package node_test

import (
	"fmt"
	"path/filepath"
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
		if _, found, _ := memory.Get("archive", archiveKey(1000)); found != (c.jobs > 0) {
			t.Errorf("%s: the job that ended last is there: %t", name, found)
		}
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
