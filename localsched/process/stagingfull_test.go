package process_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestCancelWithoutRoomForFiles cancels a job that has ended and waits for room for the files that go back with it: it
// ends, and what was printed is there.
func TestCancelWithoutRoomForFiles(t *testing.T) {
	asRoot(t)
	dir := newDir(t)
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=68m,mode=711"); err != nil { // 4 MiB are for files
		t.Skip("cannot mount a small disk:", err)
	}
	s := openSite(t, func(c *process.Config) {
		c.Dir, c.Cgroup, c.MaxStaging = filepath.Join(dir, "spool"), "none", 1<<30
		c.GraceKill = 15 * time.Second // in which what was printed is read, on a slow machine too
	})
	t.Cleanup(func() {
		s.Close()
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	job := guest(t, "echo printed; head -c 3000000 /dev/zero >result")
	job.Spec.StageOut, job.Payload.Staging = true, &protocol.Staging{Out: []string{"result"}}
	tag := s.submit(t, job)
	eventually(t, "the job's files wait for room", func() bool {
		info, err := filepath.Glob(s.dir(tag, "work/result"))
		return err == nil && len(info) == 1 && scriptEnded(t, s.shimOf(t, tag))
	})
	if err := s.Kill(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	got := s.awaitEnd(t, tag)
	if got.State != protocol.Failed || !strings.Contains(got.Reason, "files do not come back: the disk of the site is full") || len(got.Files) != 2 || got.Files[0].Size != int64(len("printed\n")) {
		t.Errorf("%+v", got)
	}
}
