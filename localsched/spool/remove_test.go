package spool_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// nest makes directories within each other, of which each but the last has a file.
func nest(dir string, depth int) error {
	at, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for range depth {
		err = errors.Join(unix.Mkdirat(at, "d", 0o755), unix.Mknodat(at, "file", unix.S_IFREG|0o600, 0))
		next, failed := unix.Openat(at, "d", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err = errors.Join(err, failed, unix.Close(at)); err != nil {
			return err
		}
		at = next
	}
	return unix.Close(at)
}

// openFiles counts the descriptors of this process.
func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestRemoveDeep removes directories that are nested deeply, with few descriptors.
func TestRemoveDeep(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	jobs := filepath.Join(dir, "jobs")
	if err := sp.Add(tag, func(dir string) error {
		return errors.Join(os.Mkdir(filepath.Join(dir, "work"), 0o700), nest(filepath.Join(dir, "work"), 3_000))
	}); err != nil {
		t.Fatal(err)
	}
	stop, most := make(chan struct{}), make(chan int)
	go func() {
		seen := 0
		for {
			select {
			case <-stop:
				most <- seen
				return
			case <-time.After(time.Millisecond):
				seen = max(seen, openFiles(t))
			}
		}
	}()
	err := sp.Remove(tag)
	for removing := true; removing; time.Sleep(5 * time.Millisecond) { // what is much is removed beside
		entries, unread := os.ReadDir(jobs)
		removing = unread == nil && len(entries) > 0
	}
	close(stop)
	const enough = 200 // for the other tests, too
	if seen := <-most; err != nil || seen > enough {
		t.Errorf("%v, with %d descriptors", err, seen)
	}
}

// TestRemoveManyFiles answers before all of them are gone, and removes the rest beside.
func TestRemoveManyFiles(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	const many = 21_000
	if err := sp.Add(tag, func(dir string) error {
		for i := range many {
			if err := unix.Mknod(filepath.Join(dir, fmt.Sprint("f", i)), unix.S_IFREG|0o600, 0); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := sp.Remove(tag); err != nil {
		t.Fatal(err)
	}
	if err := sp.Close(); err != nil { // also in the midst of it
		t.Fatal(err)
	}
	sp, err := spool.Open(dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer sp.Close()
	eventually(t, "everything is removed", func() bool { return isEmpty(t, filepath.Join(dir, "jobs")) })
}

func isEmpty(t testing.TB, dir string) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries) == 0
}

// eventually waits for something that happens beside the test.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

// TestRemoveFollowsNothing has links in a tree to what must stay.
func TestRemoveFollowsNothing(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "kept"), "kept")
	if err := sp.Add(tag, func(dir string) error {
		work := filepath.Join(dir, "work")
		return errors.Join(
			os.MkdirAll(filepath.Join(work, "a", "b"), 0o700),
			os.Symlink(outside, filepath.Join(work, "link")),
			os.Symlink(outside, filepath.Join(work, "a", "b", "link")),
			os.Symlink("..", filepath.Join(work, "a", "b", "up")),
			syscall.Mkfifo(filepath.Join(work, "a", "pipe"), 0o600),
			os.Chmod(filepath.Join(work, "a", "b"), 0),
		)
	}); err != nil {
		t.Fatal(err)
	}
	if err := sp.Remove(tag); err != nil {
		t.Fatal(err)
	}
	only(t, filepath.Join(dir, "jobs"))
	only(t, outside, "kept")
}

// TestRemoveWhatChanges removes a tree to which its owner keeps adding, until that fails:
// the directories are taken from the account first.
func TestRemoveWhatChanges(t *testing.T) {
	t.Parallel()
	asRoot(t)
	sp, dir := open(t)
	if err := sp.Add(tag, func(dir string) error { return me().AddDir(filepath.Join(dir, "work")) }); err != nil {
		t.Fatal(err)
	}
	directory, err := unix.Open(filepath.Join(sp.JobDir(tag), "work"), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var adding sync.WaitGroup
	defer adding.Wait()
	refused := make(chan error, 1)
	begun := make(chan struct{})
	adding.Go(func() { asUnprivileged(func() { refused <- addUntilRefused(directory, begun) }) })
	<-begun
	if err := sp.Remove(tag); err != nil {
		t.Error(err)
	}
	eventually(t, "everything is removed", func() bool { return isEmpty(t, filepath.Join(dir, "jobs")) })
	if err := <-refused; !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.ENOENT) {
		t.Errorf("the account was refused with %v", err)
	}
}

// addUntilRefused adds directories with a file in each.
func addUntilRefused(dir int, begun chan<- struct{}) error {
	defer unix.Close(dir)
	for i := 0; ; i++ {
		name := fmt.Sprint("d", i)
		if err := unix.Mkdirat(dir, name, 0o755); err != nil {
			return err
		}
		if err := unix.Mknodat(dir, name+"/file", unix.S_IFREG|0o600, 0); err != nil {
			return err
		}
		if i == 100 {
			close(begun)
		}
	}
}

// TestRemoveLeavesMounts says that a mount is in the way and removes nothing of it.
func TestRemoveLeavesMounts(t *testing.T) {
	t.Parallel()
	asRoot(t)
	sp, dir := open(t)
	if err := sp.Add(tag, func(dir string) error { return os.MkdirAll(filepath.Join(dir, "work", "mount"), 0o700) }); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(sp.JobDir(tag), "work", "mount")
	if err := unix.Mount("none", at, "tmpfs", 0, ""); err != nil {
		t.Skip("no file system can be mounted here:", err)
	}
	write(t, filepath.Join(at, "kept"), "kept")
	err := sp.Remove(tag)
	found, _ := filepath.Glob(filepath.Join(dir, "jobs", ".gone-*", "*", "mount"))
	flat, _ := filepath.Glob(filepath.Join(dir, "jobs", ".gone-*", "*"))
	for _, path := range append(found, flat...) {
		if _, missing := os.Stat(filepath.Join(path, "kept")); missing == nil {
			at = path
		}
	}
	if err == nil || !isThere(filepath.Join(at, "kept")) {
		t.Errorf("the mount at %s was not left alone: %v", at, err)
	}
	if err := unix.Unmount(at, 0); err != nil {
		t.Fatal(err)
	}
}

func isThere(path string) bool { _, err := os.Lstat(path); return err == nil }

// TestMakeChangesNothingElse names directories that are no spools.
func TestMakeChangesNothingElse(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(dir string) error{
		"other files":              func(dir string) error { return os.Mkdir(filepath.Join(dir, "alice"), 0o700) },
		"not a directory":          func(dir string) error { return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o755)) },
		"Other accounts may write": func(dir string) error { return os.Chmod(dir, 0o777|fs.ModeSticky) },
	} {
		dir := filepath.Join(t.TempDir(), "scratch")
		if err := errors.Join(os.Mkdir(dir, 0o755), prepare(dir)); err != nil {
			t.Fatal(err)
		}
		before, err := os.Lstat(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = spool.Make(dir)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(name)) {
			t.Errorf("%s: %v", name, err)
		}
		after, err := os.Lstat(dir)
		if err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s: its mode was %v and is %v, %v", name, before.Mode(), after.Mode(), err)
		}
		if isThere(filepath.Join(dir, "jobs")) {
			t.Errorf("%s: a spool is made in it", name)
		}
	}
}

// TestMakeAgain takes a spool that was made before, also with another mode, and one that
// was half made.
func TestMakeAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "jobs"), 0o700),
		spool.Make(dir),
		os.Chmod(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "likely"), nil, 0o600),
		spool.Make(dir),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if mode := modeOf(t, dir); mode != 0o711 {
		t.Errorf("its mode is %v", mode)
	}
}

// TestSweepTemporaries leaves what a peer that was killed was just writing, and what a
// living shim is.
func TestSweepTemporaries(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	if err := errors.Join(sp.Add(tag, func(string) error { return nil }), sp.Close()); err != nil {
		t.Fatal(err)
	}
	directory := sp.JobDir(tag)
	for path, age := range map[string]time.Duration{
		filepath.Join(dir, ".likely-123"):              0,
		filepath.Join(dir, "reservations", ".7.3-123"): 0,
		filepath.Join(directory, ".exit-123"):          time.Hour,
		filepath.Join(directory, ".exit-124"):          0,
		filepath.Join(directory, "shim.log"):           time.Hour,
	} {
		write(t, path, "half")
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".snapshot"), 0o700); err != nil {
		t.Fatal(err)
	}
	sp, err := spool.Open(dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer sp.Close()
	if _, err = sp.Reservations(); err != nil {
		t.Fatal(err)
	}
	only(t, dir, ".snapshot", "jobs", "lock", "reservations")
	only(t, filepath.Join(dir, "reservations"))
	only(t, directory, ".exit-124", "shim.log")
}
