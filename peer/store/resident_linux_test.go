package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

// TestLargeFilesAreNotKeptInMemory: what was read or written of a large file leaves the memory of
// the process again, and is read as it was.
func TestLargeFilesAreNotKeptInMemory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	s := openAt(t, path)
	const rows, size = 96, 1 << 20
	for i := range rows {
		put := store.Put{Table: "t", Key: fmt.Sprintf("%03d", i), Value: bytes.Repeat([]byte{byte(i)}, size)}
		if err := s.Commit(context.Background(), []store.Put{put}); err != nil {
			t.Fatal(err)
		}
	}
	for _, when := range []string{"written", "opened again"} {
		i := 0
		for row, err := range s.Load("t") {
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(row.Value, bytes.Repeat([]byte{byte(i)}, size)) {
				t.Fatalf("%s: row %d is another one", when, i)
			}
			i++
		}
		if i != rows {
			t.Errorf("%s: %d rows", when, i)
		}
		if kB := mappedKB(t, path); kB > 64<<10 {
			t.Errorf("%s: %d kB of the file are in memory", when, kB)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openAt(t, path)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func openAt(t *testing.T, path string) *store.Store {
	t.Helper()
	s, err := store.Open(path, store.Options{AllowNetworkFS: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mappedKB is how much of a mapped file the process has in its memory.
func mappedKB(t *testing.T, path string) (kB int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	of := false
	for line := range strings.Lines(string(maps)) {
		words := strings.Fields(line)
		switch {
		case strings.Contains(words[0], "-"):
			of = words[len(words)-1] == path
		case of && words[0] == "Rss:":
			n := 0
			if _, err := fmt.Sscan(words[1], &n); err != nil {
				t.Fatal(err)
			}
			kB += n
		}
	}
	return kB
}
