package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

// TestShrinksWhileRunning deletes most rows of an open store while others read it, and
// expects a small file, all other rows, and an open store.
func TestShrinksWhileRunning(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	var log bytes.Buffer
	s := openWith(t, path, store.Options{CompactOver: 1 << 20, Logger: textLog(&log)})
	const n = 2000
	var erase []store.Put
	for i := range n {
		key := fmt.Sprintf("%05d", i)
		s.Enqueue([]store.Put{put(key, "kept"), {Table: "big", Key: key, Value: make([]byte, 2000)}}, nil)
		erase = append(erase, store.Put{Table: "big", Key: key})
	}
	commit(t, s)
	before := s.Stats().FileBytes

	var readers sync.WaitGroup
	var stop atomic.Bool
	for range 2 {
		readers.Go(func() {
			for !stop.Load() {
				if got := len(rows(t, s, "job")); got < n {
					t.Errorf("a reader saw %d rows of %d", got, n)
				}
			}
		})
	}
	for len(erase) > 0 {
		commit(t, s, erase[:100]...)
		erase = erase[100:]
	}
	commit(t, s, put("last", "kept"))
	stop.Store(true)
	readers.Wait()

	after := s.Stats()
	info, err := os.Stat(path)
	if err != nil || info.Size() > before/4 || info.Size() != after.FileBytes || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes became %d, by the stats %d; %v, %v", before, info.Size(), after.FileBytes, info.Mode(), err)
	}
	if got := len(rows(t, s, "job")); got != n+1 {
		t.Errorf("%d rows, want %d", got, n+1)
	}
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "store_compacted") {
		t.Errorf("log: %s", &log)
	}
	if got := len(rows(t, open(t, path), "job")); got != n+1 {
		t.Errorf("%d rows after another start, want %d", got, n+1)
	}
}
