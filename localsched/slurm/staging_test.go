package slurm_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFilesOfGuests: the files that come with a guest are in its working directory before it starts, are its
// account's, and what it makes or changes there goes back as one archive. A guest whose files have not come is
// refused, and one that leaves not what is wanted has failed.
func TestFilesOfGuests(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) { c.MaxStaging = 1 << 20 })
	from := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(from, "data"), 0o755), os.WriteFile(filepath.Join(from, "data", "in"), []byte("input\n"), 0o600),
		os.WriteFile(filepath.Join(from, "kept"), []byte("as it was"), 0o600)); err != nil {
		t.Fatal(err)
	}
	files, err := staging.Find(t.Context(), from, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "inputs")
	archive, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err = errors.Join(staging.Pack(t.Context(), archive, from, files.Inputs), archive.Close()); err != nil {
		t.Fatal(err)
	}
	staged := func(script string, out ...string) localsched.Submission {
		job := guest(script)
		job.Payload.Staging = &protocol.Staging{Bytes: files.Bytes, SHA256: files.SHA256, Out: out}
		job.Spec.StageIn, job.Spec.StageOut, job.Inputs = files.Bytes, len(out) > 0, path
		return job
	}
	job := staged("set -e; stat -c '%U %n' data data/in kept; mkdir out; cat data/in data/in >out/twice; echo changed >data/in", ".")
	outcome := s.awaitEnd(t, s.submit(t, job))
	if got := s.read(t, job.Tag, protocol.Stdout); outcome.State != protocol.Completed || got != "nobody data\nnobody data/in\nnobody kept\n" {
		t.Fatalf("%+v, %q", outcome, got)
	}
	back := outcome.Files[len(outcome.Files)-1]
	data, err := s.Fetch(t.Context(), job.Tag, protocol.StageOutArchive, 0, int(back.Size)+100)
	if err != nil || back.Stream != protocol.StageOutArchive || int64(len(data)) != back.Size || sha256.Sum256(data) != back.SHA256 {
		t.Fatalf("%d bytes of %+v: %v", len(data), outcome.Files, err)
	}
	to := t.TempDir()
	root, err := os.OpenRoot(to)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := staging.Unpack(t.Context(), bytes.NewReader(data), staging.Into{Root: root, Patterns: []string{"."}})
	if err = errors.Join(err, root.Close()); err != nil || len(placed) != 2 {
		t.Fatalf("%+v, %v", placed, err)
	}
	for name, want := range map[string]string{"data/in": "changed\n", "out/twice": "input\ninput\n"} {
		if got, failed := os.ReadFile(filepath.Join(to, name)); failed != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, failed)
		}
	}

	lacking := staged("true", "absent")
	if outcome = s.awaitEnd(t, s.submit(t, lacking)); outcome.State != protocol.Failed || !strings.Contains(outcome.Reason, "absent is not there") {
		t.Errorf("%+v", outcome)
	}
	large := staged("head -c 2000000 /dev/zero >large", "large")
	if outcome = s.awaitEnd(t, s.submit(t, large)); outcome.State != protocol.Failed || !strings.Contains(outcome.Reason, "large has 2000000 bytes, and all files of --stage-out together at most 1048576") {
		t.Errorf("%+v", outcome)
	}
	without := staged("true")
	without.Inputs = ""
	if _, err = s.Submit(t.Context(), without); err == nil || !strings.Contains(err.Error(), "its files have not come with it") {
		t.Errorf("a guest without its files: %v", err)
	}
}

// listener waits for a word in a log.
type listener struct {
	word  string
	heard atomic.Bool
}

func (l *listener) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(l.word)) {
		l.heard.Store(true)
	}
	return len(p), nil
}

// TestCancelWithoutRoomForFiles cancels a job that has ended and waits for room for the files that go back with it: it
// ends, and what was printed is there.
func TestCancelWithoutRoomForFiles(t *testing.T) {
	needs(t)
	dir := newDir(t)
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=68m,mode=711"); err != nil { // 4 MiB are for files
		t.Skip("cannot mount a small disk:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	log := &listener{word: "job_files_pack_failed"}
	s := openSite(t, "siteA", func(c *slurm.Config) {
		c.Dir, c.MaxStaging = filepath.Join(dir, "spool"), 1<<30
		c.Log = slog.New(slog.NewTextHandler(log, nil))
	})
	job := guest("echo printed; head -c 3000000 /dev/zero >result")
	job.Spec.StageOut, job.Payload.Staging = true, &protocol.Staging{Out: []string{"result"}}
	tag := s.submit(t, job)
	eventually(t, "the job's files wait for room", log.heard.Load)
	if err := s.Kill(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	got := s.awaitEnd(t, tag)
	if got.State != protocol.Failed || !strings.Contains(got.Reason, "files do not come back: the disk of the site is full") || len(got.Files) != 2 || got.Files[0].Size != int64(len("printed\n")) {
		t.Errorf("%+v", got)
	}
}
