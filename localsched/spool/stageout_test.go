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

// TestTheLowerLimitCounts: of what a site and the origin of a job allow to come back the lower counts before anything is
// moved, and the reason names whose it is.
func TestTheLowerLimitCounts(t *testing.T) {
	t.Parallel()
	const most = 50_000
	for name, tt := range map[string]struct {
		here, there int64
		whose       protocol.SiteName // empty: all come back
	}{
		"the site's":            {most, mebi, "north"},
		"the origin's":          {mebi, most, "south"},
		"the site's alone":      {most, 0, "north"},
		"neither is exceeded":   {mebi, mebi, ""},
		"the origin says none":  {mebi, 0, ""},
		"both are the same one": {most, most, "north"},
	} {
		dir := t.TempDir()
		submission := guest()
		submission.Payload.Staging = &protocol.Staging{Out: []string{"result", "large"}, MaxOut: tt.there}
		job := spool.NewJob(submission, me(), "north", 0).Staging(tt.here)
		if err := job.AddFiles(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string][]byte{"result": {'r'}, "large": make([]byte, 2*most)} {
			if err := me().AddFile(filepath.Join(dir, "work", file), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		end := spool.End{State: protocol.Completed}
		full := job.AddOutputFiles(t.Context(), dir, &end)
		files := inArchive(t, job.Outputs(dir), end)
		if tt.whose == "" {
			if full || end.State != protocol.Completed || len(files) != 2 {
				t.Errorf("%s: %+v, %q", name, end, files)
			}
			continue
		}
		want := "some files do not come back: large has 100000 bytes, and all files of --stage-out together at most 50000 ([staging] max_bytes of " +
			string(tt.whose) + "); the script itself ended with exit code 0"
		if full || end.State != protocol.Failed || end.Reason != want || !slices.Equal(files, []string{"result"}) {
			t.Errorf("%s: %q, %q", name, end.Reason, files)
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

// TestSettle: what a job has ended as first counts once its files are being packed, and only then.
func TestSettle(t *testing.T) {
	t.Parallel()
	completed, failed := spool.End{State: protocol.Completed}, spool.End{State: protocol.NodeFail, Reason: "lost"}
	job := guest()
	job.Payload.Staging = &protocol.Staging{Out: []string{"."}}
	for _, tt := range []struct {
		job  spool.Job
		want protocol.State
	}{
		{spool.NewJob(job, me(), "north", 0), protocol.Completed},
		{spool.NewJob(guest(), me(), "north", 0), protocol.NodeFail},
	} {
		dir := t.TempDir()
		for _, end := range []spool.End{completed, failed} {
			got, err := tt.job.Settle(dir, end)
			if err != nil || end.State == completed.State && got.State != completed.State || end.State == failed.State && got.State != tt.want {
				t.Errorf("%v, %+v, %v", end.State, got, err)
			}
		}
	}
}
