package spool_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestOneSpoolOnePeer(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	if _, err := spool.Open(dir, quiet()); err == nil || !strings.Contains(err.Error(), "another peer") {
		t.Errorf("a second peer on one spool: %v", err)
	}
	if err := sp.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := spool.Open(dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
}

// TestSpoolOfAnotherAccount is refused: whoever owns the directory could change what
// runs as whom.
func TestSpoolOfAnotherAccount(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := t.TempDir()
	if err := os.Chown(dir, unprivileged, unprivileged); err != nil {
		t.Fatal(err)
	}
	if err := spool.Make(dir); err == nil || !strings.Contains(err.Error(), "must belong to the account of the peer") {
		t.Error(err)
	}
	only(t, dir)
}

func TestSpoolNowhere(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	if err := spool.Make(filepath.Join(file, "spool")); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
	if sp, err := spool.Open(t.TempDir(), quiet()); err == nil {
		sp.Close()
		t.Error("a directory that is no spool is opened")
	}
}

// TestSweep leaves halves of directories, one of which its owner has locked, and names
// that are no jobs.
func TestSweep(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	jobs := filepath.Join(dir, "jobs")
	deep := filepath.Join(jobs, ".gone-1.1", "work", "locked")
	for _, err := range []error{
		sp.Add(tag, func(string) error { return nil }),
		os.MkdirAll(filepath.Join(jobs, ".new-1234", "work"), 0o700),
		os.MkdirAll(filepath.Join(deep, "in"), 0o700),
		os.Chmod(deep, 0),
		os.Mkdir(filepath.Join(jobs, "lost+found"), 0o700),
		sp.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	sp, err := spool.Open(dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer sp.Close()
	only(t, jobs, "7000000000005.3", "lost+found")
	if tags, err := sp.Tags(); err != nil || !slices.Equal(tags, []protocol.Tag{tag}) {
		t.Errorf("the jobs are %v, %v", tags, err)
	}
}

func TestAddAndRemove(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	jobs := filepath.Join(dir, "jobs")
	broken := errors.New("the filling broke")
	err := sp.Add(tag, func(dir string) error {
		write(t, filepath.Join(dir, "half"), "")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	only(t, jobs)
	if err = sp.Add(tag, func(dir string) error {
		if _, unseen := os.Stat(sp.JobDir(tag)); unseen == nil {
			t.Error("the directory is there before it is filled")
		}
		return me().AddDir(filepath.Join(dir, "work"))
	}); err != nil {
		t.Fatal(err)
	}
	only(t, sp.JobDir(tag), "work")
	if mode := modeOf(t, sp.JobDir(tag)); mode != 0o711 {
		t.Errorf("its mode is %v", mode)
	}
	for range 2 {
		if err = sp.Remove(tag); err != nil {
			t.Error(err)
		}
		only(t, jobs)
	}
}

// TestAddTwice finds a directory of the job there, which is kept.
func TestAddTwice(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	fill := func(dir string) error { return me().AddDir(filepath.Join(dir, "first")) }
	if err := sp.Add(tag, fill); err != nil {
		t.Fatal(err)
	}
	if err := sp.Add(tag, fill); err == nil {
		t.Error("a second directory is made")
	}
	only(t, filepath.Join(dir, "jobs"), "7000000000005.3")
}

func FuzzDirectory(f *testing.F) {
	for _, name := range []string{"7000000000005.3", "7.", ".3", "7.3.1", "+7.3", "07.3", "7.99999999999", "lost+found"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if parsed, ok := spool.ParseDirName(name); ok && spool.DirName(parsed) != name {
			t.Errorf("%q became %v", name, parsed)
		}
	})
}

// TestOlderReservations opens a spool in which reservations have their old directory.
func TestOlderReservations(t *testing.T) {
	t.Parallel()
	sp, dir := open(t)
	one := spool.Reservation{Tag: protocol.Tag{Job: 7, Epoch: 3}, Start: 1000}
	if err := errors.Join(sp.AddReservation(one), sp.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "reservations"), filepath.Join(dir, "holds")); err != nil {
		t.Fatal(err)
	}
	if err := spool.Make(dir); err != nil {
		t.Fatal(err)
	}
	again, err := spool.Open(dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	found, err := again.Reservations()
	if err != nil || len(found) != 1 || found[0].Tag != one.Tag {
		t.Errorf("got the reservations %v, %v, want that of job %v", found, err, one.Tag)
	}
	if err = again.Close(); err != nil {
		t.Error(err)
	}
}
