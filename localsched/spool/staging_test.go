package spool_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// withFiles is a guest with an input file of a size, of which everything goes back.
func withFiles(t *testing.T, size int) localsched.Submission {
	t.Helper()
	from := t.TempDir()
	write(t, filepath.Join(from, "in"), string(bytes.Repeat([]byte("x"), size)))
	found, err := staging.Find(t.Context(), from, []string{"in"})
	if err != nil {
		t.Fatal(err)
	}
	job := guest()
	job.Inputs = filepath.Join(t.TempDir(), "inputs")
	archive, err := os.Create(job.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	if err = errors.Join(staging.Pack(t.Context(), archive, from, found.Inputs), archive.Close()); err != nil {
		t.Fatal(err)
	}
	job.Payload.Staging = &protocol.Staging{Bytes: found.Bytes, SHA256: found.SHA256, Out: []string{"."}}
	return job
}

// result puts a file in a job's working directory.
func result(t *testing.T, dir, name string, size int) {
	t.Helper()
	path := filepath.Join(dir, "work", name)
	write(t, path, string(bytes.Repeat([]byte("y"), size)))
	if os.Geteuid() == 0 {
		if err := os.Chown(path, int(me().UID), int(me().GID)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFilesLeaveRoom: neither the files that come with a guest nor those that go back take the last of the disk,
// and nothing of them stays that does not fit.
func TestFilesLeaveRoom(t *testing.T) {
	asRoot(t)
	disk := t.TempDir()
	const mega = 1 << 20
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=76m"); err != nil { // 12 MiB are for files
		t.Skip("cannot mount a small disk:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	dir := func(name string) string {
		path := filepath.Join(disk, name)
		if err := os.Mkdir(path, 0o711); err != nil {
			t.Fatal(err)
		}
		return path
	}
	large := spool.NewJob(withFiles(t, 13*mega), me(), "north", 0).Staging(1 << 30)
	if err := large.AddFiles(t.Context(), dir("large")); !localdisk.Full(err) || !strings.Contains(err.Error(), "MiB left for 14 MiB of files") {
		t.Errorf("files that do not fit: %v", err)
	}
	job, at := spool.NewJob(withFiles(t, mega), me(), "north", 0).Staging(1<<30), dir("job")
	if err := job.AddFiles(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	result(t, at, "out.dat", 6*mega) // packed it has 6 MiB again, and 5 are left
	end := spool.End{State: protocol.Completed}
	if full := job.AddOutputFiles(t.Context(), at, &end); !full || len(end.Files) != 2 {
		t.Errorf("results that do not fit: %+v", end)
	}
	only(t, at, "err", "inputs", "out", "usage", "work")
	result(t, at, "out.dat", 4*mega)
	if full := job.AddArchive(t.Context(), at, &end); full || end.State != protocol.Completed || len(end.Files) != 3 {
		t.Errorf("results that fit: %t, %+v", full, end)
	}
}

// TestPackingOutlivesASweep: a peer that starts while a shim packs the files that go back, and waits for the next of
// them for minutes, leaves what it has packed alone. What a kill leaves of that goes with the next try.
func TestPackingOutlivesASweep(t *testing.T) {
	t.Parallel()
	sp, spoolDir := open(t)
	job := spool.NewJob(withFiles(t, 10), me(), "north", 0).Staging(1 << 30)
	if err := sp.Add(tag, func(dir string) error { return job.AddFiles(t.Context(), dir) }); err != nil {
		t.Fatal(err)
	}
	sp.Close()
	dir := filepath.Join(spoolDir, "jobs", spool.DirName(tag))
	result(t, dir, "result", 100)
	part := filepath.Join(dir, "files.tar.part")
	write(t, part, "of a try that was killed")
	stale := time.Now().Add(-time.Hour)
	if err := os.Chtimes(part, stale, stale); err != nil {
		t.Fatal(err)
	}
	again, err := spool.Open(spoolDir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err = os.Stat(part); err != nil {
		t.Errorf("what is being packed is gone: %v", err)
	}
	end := spool.End{State: protocol.Completed}
	if full := job.AddOutputFiles(t.Context(), dir, &end); full || end.State != protocol.Completed || len(end.Files) != 3 {
		t.Errorf("%t, %+v", full, end)
	}
	only(t, dir, "err", "files.tar", "inputs", "out", "usage", "work")
}

// TestArchiveIsMeasured as its origin does: with what it says of the files, not their contents alone.
func TestArchiveIsMeasured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	job := spool.NewJob(withFiles(t, 10), me(), "north", 0).Staging(100_000)
	if err := job.AddFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	result(t, dir, "result", 99_999)
	end := spool.End{State: protocol.Completed}
	if full := job.AddOutputFiles(t.Context(), dir, &end); full || end.State != protocol.Failed || len(end.Files) != 2 || !strings.Contains(end.Reason, "[staging] max_bytes") {
		t.Errorf("%t, %+v", full, end)
	}
	only(t, dir, "err", "inputs", "out", "usage", "work")
	result(t, dir, "result", 90_000)
	end = spool.End{State: protocol.Completed}
	if full := job.AddOutputFiles(t.Context(), dir, &end); full || end.State != protocol.Completed || len(end.Files) != 3 || end.Files[2].Size > 100_000 {
		t.Errorf("%t, %+v", full, end)
	}
}

// TestUnpackingStops when nobody waits for the job any more.
func TestUnpackingStops(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	job := spool.NewJob(withFiles(t, 10), me(), "north", 0).Staging(1 << 30)
	if err := job.AddFiles(stopped, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
