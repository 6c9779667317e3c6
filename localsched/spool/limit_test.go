package spool_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const mebi = 1 << 20

// withSparse is a guest with a limit of 1 MiB, whose stdout seems to have 4 TiB.
func withSparse(t *testing.T) (job spool.Job, dir string) {
	t.Helper()
	dir = t.TempDir()
	job = spool.NewJob(guest(), me(), "north", mebi)
	if err := job.AddFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "out"), 4<<40); err != nil {
		t.Skip("no sparse file of this size can be made here:", err)
	}
	return job, dir
}

// TestOutputEndsAtLimit announces and serves no more of a file than the limit, however
// large it seems.
func TestOutputEndsAtLimit(t *testing.T) {
	t.Parallel()
	job, dir := withSparse(t)
	zeros := sha256.Sum256(make([]byte, mebi))
	end := spool.End{State: protocol.Completed}
	job.AddOutputFiles(t.Context(), dir, &end)
	want := []spool.File{
		{Stream: protocol.Stdout, Size: mebi, SHA256: hex.EncodeToString(zeros[:])},
		{Stream: protocol.Stderr, Size: 0, SHA256: hex.EncodeToString(sha256.New().Sum(nil))},
	}
	if !slices.Equal(end.Files, want) || end.Reason != "stdout ended at 1 MiB, [localsched] max_output" {
		t.Errorf("got %+v, want the files %+v", end, want)
	}
	out := job.Outputs(dir)
	for _, c := range []struct {
		offset int64
		size   int
		want   int
	}{{0, 100, 100}, {mebi - 10, 100, 10}, {mebi, 100, 0}, {1 << 40, 100, 0}} {
		if got, err := out.Fetch(tag, protocol.Stdout, c.offset, c.size); err != nil || len(got) != c.want {
			t.Errorf("%d bytes from %d: %d, %v, want %d", c.size, c.offset, len(got), err, c.want)
		}
	}
}

// TestReadingOutputStops when nobody waits for it any more.
func TestReadingOutputStops(t *testing.T) {
	t.Parallel()
	job, dir := withSparse(t)
	job.MaxOutput = 4 << 40
	stopped, stop := context.WithCancel(t.Context())
	stop()
	files, notices := job.Files(stopped, dir)
	if len(files) > 0 || len(notices) != 2 || notices[0] != "stdout is not returned: the reading of it was stopped" {
		t.Errorf("files %+v, notices %q", files, notices)
	}
}

// TestFileLimit is for guests alone, and there is always one.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	own := guest()
	own.Guest = false
	for _, c := range []struct {
		job  spool.Job
		want int64
	}{
		{spool.NewJob(guest(), me(), "north", 5), 5},
		{spool.NewJob(guest(), me(), "north", 0), spool.DefaultMaxOutput},
		{spool.NewJob(own, me(), "north", 5), 0},
	} {
		if got := c.job.FileLimit(); got != c.want {
			t.Errorf("the limit is %d, want %d", got, c.want)
		}
	}
	ended := spool.End{State: protocol.Failed, Signal: 25, Reason: "ended by signal SIGXFSZ"}
	job := spool.NewJob(guest(), me(), "north", mebi)
	dir := t.TempDir()
	if err := job.AddFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	job.AddOutputFiles(t.Context(), dir, &ended)
	if !strings.HasPrefix(ended.Reason, "ended by signal SIGXFSZ; a file reached 1 MiB") {
		t.Errorf("the reason is %q", ended.Reason)
	}
}

func TestSizeText(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]string{
		0: "0 bytes", 1: "1 bytes", 1000: "1000 bytes", 1 << 10: "1 KiB", 3 << 20: "3 MiB", 1 << 30: "1 GiB", 5 << 40: "5 TiB", 1<<30 + 1024: "1048577 KiB",
	} {
		if got := spool.SizeText(size); got != want {
			t.Errorf("%d is %q, want %q", size, got, want)
		}
	}
}
