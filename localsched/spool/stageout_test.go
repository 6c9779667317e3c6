package spool_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSomeFilesComeBack: a job that lacks one of the files that are wanted has failed, and the others are there for
// its origin.
func TestSomeFilesComeBack(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		out    []string
		state  protocol.State
		reason string
		files  []string
	}{
		"all":  {[]string{"result"}, protocol.Completed, "", []string{"result"}},
		"some": {[]string{"result", "other"}, protocol.Failed, "some files do not come back: other is not there; the script itself ended with exit code 0", []string{"result"}},
		"none": {[]string{"other"}, protocol.Failed, "files do not come back: other is not there; the script itself ended with exit code 0", nil},
		"link": {[]string{"."}, protocol.Completed, "not among the files that come back: latest is a link, and links do not travel", []string{"result"}},
	} {
		dir := t.TempDir()
		submission := guest()
		submission.Payload.Staging = &protocol.Staging{Out: want.out}
		job := spool.NewJob(submission, me(), "north", 0)
		job.MaxStaging = mebi
		if err := job.AddFiles(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		result := filepath.Join(dir, "work", "result")
		if err := errors.Join(me().AddFile(result, []byte("r"), 0o600), os.Symlink("result", filepath.Join(dir, "work", "latest"))); err != nil {
			t.Fatal(err)
		}
		end := spool.End{State: protocol.Completed}
		if full := job.AddOutputFiles(t.Context(), dir, &end); full || end.State != want.state || end.Reason != want.reason {
			t.Errorf("%s: %v, %q", name, end.State, end.Reason)
		}
		if got := inArchive(t, job.Outputs(dir), end); !slices.Equal(got, want.files) {
			t.Errorf("%s: back come %q", name, got)
		}
		if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
			t.Errorf("%s: %q stay, %v", name, left, err)
		}
	}
}

// inArchive is what the archive has that goes back with a job; nothing if there is none.
func inArchive(t *testing.T, out spool.Outputs, end spool.End) (names []string) {
	t.Helper()
	i := slices.IndexFunc(end.Files, func(f spool.File) bool { return f.Stream == protocol.StageOutArchive })
	if i < 0 {
		return nil
	}
	data, err := out.Fetch(tag, protocol.StageOutArchive, 0, mebi)
	if err != nil || int64(len(data)) != end.Files[i].Size {
		t.Fatalf("%d bytes of %+v, %v", len(data), end.Files[i], err)
	}
	archive := tar.NewReader(bytes.NewReader(data))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}
