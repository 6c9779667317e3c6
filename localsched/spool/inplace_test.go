package spool_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestInPlace: a guest that runs in place runs and writes where it was submitted, without the limit of a guest's files, and
// leaves nothing that is to be fetched.
func TestInPlace(t *testing.T) {
	t.Parallel()
	job := guest()
	job.Spec.InPlace, job.Payload.AppendOutput = true, true
	job.Spec.WallTime = protocol.Hour
	record := spool.NewJob(job, me(), "north", 1000)
	dir := t.TempDir()
	if err := record.AddFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "work")); err == nil {
		t.Error("it has a directory of its own")
	}
	out := record.Outputs(dir)
	if record.WorkDir(dir) != "/home/alice" || out.Stdout != "/home/alice/out" || out.Stderr != "/home/alice/err" || !out.Append || record.FileLimit() != 0 {
		t.Errorf("%q, %+v, %d", record.WorkDir(dir), out, record.FileLimit())
	}
	end := spool.End{State: protocol.Completed}
	if full := record.AddOutputFiles(context.Background(), dir, &end); full || len(end.Files) > 0 || end.Reason != "" {
		t.Errorf("%v, %+v", full, end)
	}
	if why := spool.UnfitReason(job, nil); why != "" {
		t.Error(why)
	}
}
