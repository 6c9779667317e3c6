package process_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const maxOutput = 1 << 20

func smallOutput(c *process.Config) { c.MaxOutput = maxOutput }

// TestHostileOutput has guests whose output is endless, sparse, gone or something else:
// each ends, and what is announced of it is within the limit.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	s := openSite(t, smallOutput)
	const full = "stdout ended at 1 MiB, [localsched] max_output"
	for script, want := range map[string]struct {
		state  protocol.State
		reason string
		size   int64 // of stdout; -1: any, or none
	}{
		"yes":                                    {protocol.Failed, full, maxOutput},
		"trap '' XFSZ; yes; exit 0":              {protocol.Completed, full, maxOutput},
		"truncate -s 4T /proc/self/fd/1; exit 0": {protocol.Completed, "", 0},
		"dd if=/dev/zero bs=1 count=1 seek=4T of=/proc/self/fd/1; exit 0": {protocol.Completed, "", 0},
		"yes >big":                                    {protocol.Failed, "a file reached 1 MiB", 0},
		"rm ../out && mkfifo ../out; exit 0":          {protocol.Completed, "", -1},
		"rm ../out && mkdir ../out; exit 0":           {protocol.Completed, "", -1},
		"rm ../out && ln -s /dev/zero ../out; exit 0": {protocol.Completed, "", -1},
		"rm -f ../out; exit 0":                        {protocol.Completed, "", -1},
	} {
		tag := s.submit(t, guest(t, script))
		got := s.awaitEnd(t, tag)
		if got.State != want.state || !strings.Contains(got.Reason, want.reason) {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
		for _, file := range got.Files {
			if file.Stream == protocol.Stdout && want.size >= 0 && file.Size != want.size {
				t.Errorf("%s: stdout has %d bytes, want %d", script, file.Size, want.size)
			}
		}
		lost := len(got.Files) < 2
		if lost != strings.Contains(got.Reason, "stdout is not returned") {
			t.Errorf("%s: %+v", script, got)
		}
	}
}

// TestCancelWithSparseOutput kills a job whose output somebody else of its account has
// made huge: it ends at once all the same.
func TestCancelWithSparseOutput(t *testing.T) {
	t.Parallel()
	s := openSite(t, smallOutput)
	tag := s.submit(t, guest(t, ": >begun; sleep 600"))
	s.makeSparse(t, tag)
	asked := time.Now()
	if err := s.Kill(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	got := s.awaitEnd(t, tag)
	if got.State != protocol.Cancelled || len(got.Files) != 2 || got.Files[0].Size != maxOutput {
		t.Errorf("%+v", got)
	}
	if took := time.Since(asked); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestOutputOnAFullDisk fills the spool's disk while guests run. What they print then is there
// as far as room was kept for it; one that prints more has failed, though its script does not
// mind.
func TestOutputOnAFullDisk(t *testing.T) {
	asRoot(t)
	dir := newDir(t)
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m,mode=711"); err != nil {
		t.Skip("cannot mount a small disk:", err)
	}
	s := openSite(t, func(c *process.Config) { c.Dir, c.Cgroup = filepath.Join(dir, "spool"), "none" })
	t.Cleanup(func() {
		s.Close()
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	cases := map[string]struct {
		prints string
		state  protocol.State
		reason string
		least  int64 // bytes that come back
	}{
		"a line": {"echo late", protocol.Completed, "", 5},
		"much": {
			"head -c 300000 /dev/zero; true", protocol.Failed,
			"output may be missing: the spool's disk at north was full; the script itself ended with exit code 0", 16 << 10,
		},
		"much, in vain": {"head -c 300000 /dev/zero; false", protocol.Failed, "the script ended with exit code 1; output may be missing: the spool's disk at north was full", 16 << 10},
	}
	signs := homeDir(t)
	for name, c := range cases {
		begun, full := filepath.Join(signs, name+" has begun"), filepath.Join(signs, name+": the disk is full")
		tag := s.submit(t, guest(t, fmt.Sprintf(": >'%s'; while [ ! -e '%s' ]; do sleep .02; done; %s", begun, full, c.prints)))
		eventually(t, "the job has begun", func() bool { _, err := os.Stat(begun); return err == nil })
		ballast := filepath.Join(dir, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal("the disk is not full:", err)
		}
		write(t, full, "")
		got := s.awaitEnd(t, tag) // written where its room was
		if got.State != c.state || got.Reason != c.reason || len(got.Files) != 2 || got.Files[0].Size < c.least {
			t.Errorf("%s: %+v", name, got)
		}
		var st syscall.Stat_t
		if err := syscall.Stat(s.dir(tag, "out"), &st); err != nil || st.Blocks*512 > got.Files[0].Size+4095 {
			t.Errorf("%s: %d blocks are kept for %d bytes, %v", name, st.Blocks, got.Files[0].Size, err)
		}
		if err := errors.Join(os.Remove(ballast), s.Forget(t.Context(), tag)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOwnFilesHaveNoLimit has a job of this site write more than a guest may.
func TestOwnFilesHaveNoLimit(t *testing.T) {
	t.Parallel()
	s := openSite(t, smallOutput)
	dir := homeDir(t)
	tag := s.submit(t, home(t, dir, "head -c 3145728 /dev/zero"))
	if got := s.awaitEnd(t, tag); got.State != protocol.Completed || got.Reason != "" {
		t.Errorf("%+v", got)
	}
}

// TestKillWhileOutputIsRead kills a job that has ended and whose output takes hours to read.
func TestKillWhileOutputIsRead(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.MaxOutput = 8 << 40 })
	tag := s.submit(t, guest(t, ": >begun; while [ ! -e go ]; do sleep .02; done"))
	s.makeSparse(t, tag)
	write(t, s.dir(tag, "work/go"), "")
	eventually(t, "the job's processes are gone", func() bool { return scriptEnded(t, s.shimOf(t, tag)) })
	if err := s.Kill(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	got := s.awaitEnd(t, tag)
	if got.State != protocol.Completed || !strings.Contains(got.Reason, "stdout is not returned: the reading of it was stopped") {
		t.Errorf("%+v", got)
	}
}

// TestCancelWithSlowOutput kills a job whose output takes hours to read.
func TestCancelWithSlowOutput(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.MaxOutput = 8 << 40 })
	tag := s.submit(t, guest(t, ": >begun; sleep 600"))
	s.makeSparse(t, tag)
	if err := s.Kill(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	got := s.awaitEnd(t, tag)
	if got.State != protocol.Cancelled || !strings.Contains(got.Reason, "stdout is not returned: the reading of it was stopped") {
		t.Errorf("%+v", got)
	}
	if got.Ran > 45*protocol.Second {
		t.Errorf("it took %v", got.Ran)
	}
}

// makeSparse has the output of a job that makes the file begun seem to be 4 TiB.
func (s *site) makeSparse(t *testing.T, tag protocol.Tag) {
	t.Helper()
	eventually(t, "the job has begun", func() bool { _, err := os.Stat(s.dir(tag, "work/begun")); return err == nil })
	if err := os.Truncate(s.dir(tag, "out"), 4<<40); err != nil {
		t.Skip("no sparse file of this size can be made here:", err)
	}
}

// scriptEnded reports whether a shim has no children any more.
func scriptEnded(t testing.TB, shim int) bool {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", shim))
	if err != nil || len(tasks) == 0 {
		t.Skip("this kernel does not tell of a process's children")
	}
	for _, task := range tasks {
		if children, err := os.ReadFile(task); err != nil || len(children) > 0 {
			return false
		}
	}
	return true
}
