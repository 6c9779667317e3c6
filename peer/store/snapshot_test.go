package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

// TestSnapshotOfABusyStore takes snapshots while rows are written and the file is compacted. Each is a whole store of its own, and has
// all rows that were durable before it, and none of a transaction without the others of it.
func TestSnapshotOfABusyStore(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	var durable, begun atomic.Int64
	var stop atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := int64(1); !stop.Load(); n++ {
			begun.Store(n)
			key := fmt.Sprintf("%08d", n)
			if err := s.Commit(context.Background(), []store.Put{put(key, "one"), {Table: "other", Key: key, Value: make([]byte, 500)}}); err != nil {
				t.Error(err)
				return
			}
			durable.Store(n)
		}
	})
	dir := t.TempDir()
	for i := range 20 {
		path := filepath.Join(dir, strconv.Itoa(i))
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		before := durable.Load()
		size, err := s.Snapshot(file)
		after := begun.Load()
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		if info, statErr := os.Stat(path); statErr != nil || info.Size() != size {
			t.Errorf("%d bytes were stated: %v, %v", size, info, statErr)
		}
		report, err := store.Verify(path, func(string, store.Row) {})
		if err != nil || len(report.Damage) > 0 {
			t.Fatalf("%v, %v", report.Damage, err)
		}
		held := map[string]int64{}
		for _, table := range report.Tables {
			held[table.Table] = int64(table.Rows)
		}
		if n := held["job"]; n < before || n > after || n != held["other"] {
			t.Errorf("the snapshot has %v rows; %d were durable before it, %d were begun after it", held, before, after)
		}
		if i%5 == 4 {
			if err = s.Compact(); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop.Store(true)
	writer.Wait()
	again := open(t, filepath.Join(dir, "19")) // it is a store like any other
	commit(t, again, put("x", "y"))
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestCompactOnRequest makes a small file smaller although it is not worth it by itself, and writes go on.
func TestCompactOnRequest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	s := open(t, path)
	commit(t, s, put("kept", "1"), store.Put{Table: "big", Key: "x", Value: make([]byte, 4<<20)})
	commit(t, s, store.Put{Table: "big", Key: "x"})
	before := s.Stats().FileBytes
	if err := s.Compact(); err != nil {
		t.Fatal(err)
	}
	commit(t, s, put("later", "2"))
	if after := s.Stats().FileBytes; after >= before/2 {
		t.Errorf("%d bytes became %d", before, after)
	}
	if got := keys(rows(t, s, "job")); got != "kept later" {
		t.Errorf("rows %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Compact(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestCopyOfAStoppedStore copies a file that no peer has open, and refuses one that is open.
func TestCopyOfAStoppedStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	s := open(t, path)
	commit(t, s, put("a", "1"))
	file, err := os.Create(path + ".copy")
	if err != nil {
		t.Fatal(err)
	}
	if err = store.Copy(path, file); !errors.Is(err, store.ErrLocked) {
		t.Errorf("of a store that is open: %v", err)
	}
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	if err = errors.Join(store.Copy(path, file), file.Close()); err != nil {
		t.Fatal(err)
	}
	if got := keys(rows(t, open(t, path+".copy"), "job")); got != "a" {
		t.Errorf("rows %q", got)
	}
}
