package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

// smallDisk mounts a file system of its own with room for size bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
	if err != nil {
		t.Skipf("needs the right to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill uses up the rest of the disk and returns how to free it.
func fill(t *testing.T, dir string, leave int) (free func()) {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	room := int(st.Bavail)*int(st.Bsize) - leave
	path := filepath.Join(dir, "ballast")
	if err := os.WriteFile(path, make([]byte, max(room, 0)), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func wantFull(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrFull) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space") {
		t.Errorf("on a full disk: %v; want ErrFull, ENOSPC and a remedy", err)
	}
}

// TestFullDisk fills the disk at many different moments of the file's growth.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, 24<<20)
	path := filepath.Join(dir, "peer.db")
	s := open(t, path)
	want := map[string]bool{}
	value := make([]byte, 3000)
	id := 0
	for round := range 12 {
		free := fill(t, dir, round*5000)
		var failed error
		for n := 0; n < 500 && failed == nil; n++ {
			id++
			key := fmt.Sprintf("%06d", id)
			puts := []store.Put{{Table: "job", Key: key, Value: value}, {Table: "outbox", Key: key, Value: value[:10]}}
			if failed = s.Commit(t.Context(), puts); failed == nil {
				want[key] = true
			}
		}
		wantFull(t, failed)
		wantFull(t, s.Commit(t.Context(), []store.Put{put("big", strings.Repeat("x", 4<<20))}))
		if _, _, err := s.Get("job", "000001"); err != nil {
			t.Fatalf("read on a full disk: %v", err)
		}
		free()
		commit(t, s, put("after", strconv.Itoa(round)))
	}
	if stats := s.Stats(); stats.Broken || stats.Failures < 24 {
		t.Errorf("after 12 rounds: %+v", stats)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	for _, table := range []string{"job", "outbox"} {
		n := 0
		for _, row := range rows(t, again, table) {
			if row.Key != "after" {
				n++
			}
			if row.Key != "after" && !want[row.Key] {
				t.Errorf("%s row %s was refused and is there", table, row.Key)
			}
		}
		if n != len(want) {
			t.Errorf("%s: %d rows acknowledged, %d found", table, len(want), n)
		}
	}
}

func TestNewStoreOnFullDisk(t *testing.T) {
	dir := smallDisk(t, 1<<20)
	path := filepath.Join(dir, "peer.db")
	for leave := 0; leave <= 24<<10; leave += 4 << 10 {
		free := fill(t, dir, leave)
		s, err := store.Open(path, store.Options{})
		if err != nil {
			wantFull(t, err)
		} else if err = s.Close(); err != nil {
			t.Fatal(err)
		}
		free()
		s, err = store.Open(path, store.Options{})
		if err != nil {
			t.Fatalf("with %d bytes left at first, then space: %v", leave, err)
		}
		if err = errors.Join(s.Close(), os.Remove(path)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRequestsBehindAFailure expects that what was in line behind a failed
// transaction is not written, though it would fit.
func TestRequestsBehindAFailure(t *testing.T) {
	dir := smallDisk(t, 4<<20)
	s := open(t, filepath.Join(dir, "peer.db"))
	hold, held := make(chan struct{}), make(chan struct{})
	s.Enqueue(nil, func(error) { close(held); <-hold })
	<-held
	answers := make(chan error, 2)
	answer := func(err error) { answers <- err }
	s.Enqueue([]store.Put{put("1", strings.Repeat("x", 8<<20))}, answer)
	s.Enqueue([]store.Put{put("2", "builds upon 1")}, answer)
	close(hold)
	wantFull(t, <-answers)
	wantFull(t, <-answers)
	commit(t, s, put("3", ""))
	if got := keys(rows(t, s, "job")); got != "3" {
		t.Errorf("rows %q, want only 3", got)
	}
}
