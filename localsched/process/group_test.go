package process_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// contained skips the test where jobs have no control groups.
func contained(t *testing.T, s *site) {
	t.Helper()
	if lacks := s.Uncontained(); lacks != "" {
		t.Skip("jobs have no control groups with limits here: " + lacks)
	}
}

// daemon is a script that leaves a process in a session of its own, which ignores signals
// and writes to the file alive, and then goes on for long.
const daemon = `setsid sh -c 'trap "" HUP TERM INT; while :; do echo >>alive; sleep .02; done' >/dev/null 2>&1 &
while [ ! -s alive ]; do sleep .01; done
`

// started is what a shim has written down when it took a job.
type started struct {
	PID   int               `json:"pid"`
	Began protocol.Duration `json:"began_ms"`
	Group cgroup.Group      `json:"cgroup"`
}

func (s *site) started(t testing.TB, tag protocol.Tag) (record started) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, s.dir(tag, "started"))), &record); err != nil {
		t.Fatal(err)
	}
	return record
}

// silent checks that nothing writes to a file any more.
func silent(t testing.TB, path string) {
	t.Helper()
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // in which a living process would have written
	if after, err := os.Stat(path); err != nil || after.Size() != before.Size() {
		t.Errorf("a process of the job has outlived it: %v", err)
	}
}

// TestKilledShimLeavesNothing kills the process that watches a job, while the peer is there
// and while it is not: before the job is NODE_FAIL, all of its processes have ended.
func TestKilledShimLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		s := openSite(t, func(c *process.Config) { c.OnStop = process.LeaveJobs })
		contained(t, s)
		tag := s.submit(t, guest(t, daemon+"sleep 600"))
		s.awaitRunning(t, tag)
		alive := s.dir(tag, "work/alive")
		eventually(t, "the daemon writes", func() bool { info, err := os.Stat(alive); return err == nil && info.Size() > 0 })
		shim := s.started(t, tag)
		if away {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Kill(shim.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if away {
			s.open(t)
		}
		if got := s.awaitEnd(t, tag); got.State != protocol.NodeFail {
			t.Errorf("%+v", got)
		}
		silent(t, alive)
		gone(t, shim.Group)
	}
}

// gone checks that a group was removed.
func gone(t testing.TB, g cgroup.Group) {
	t.Helper()
	if g == (cgroup.Group{}) {
		t.Error("the job had no group")
	}
	for _, dir := range []string{g.Unified, g.Memory, g.Pids, g.Freezer} {
		if _, err := os.Stat(dir); dir != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the group %s is there: %v", dir, err)
		}
	}
}

// TestNothingOutlivesAJob ends what a job has left in a session of its own, however the
// job ends.
func TestNothingOutlivesAJob(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	for _, script := range []string{daemon, daemon + "exit 3", daemon + "kill -9 $$"} {
		tag := s.submit(t, guest(t, script))
		s.awaitEnd(t, tag)
		silent(t, s.dir(tag, "work/alive"))
		if s.Uncontained() == "" {
			gone(t, s.started(t, tag).Group)
		}
	}
}

// TestLimitsOfAGroup has jobs ask for more than they may have.
func TestLimitsOfAGroup(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.MaxProcesses = 20 })
	contained(t, s)
	const eats = "head -c 300000000 /dev/zero | tail >/dev/null\n"
	for script, want := range map[string]struct {
		state        protocol.State
		code, signal int
		reason       string
	}{
		eats + "exit 1": {protocol.Failed, 0, protocol.SignalOutOfMemory, "out of memory: limit 64 MiB (--mem); the script ended with exit code 1"},
		eats + "exit 0": {protocol.Failed, 0, protocol.SignalOutOfMemory, "out of memory: limit 64 MiB (--mem); the script itself ended with exit code 0"},
		"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do sleep 60 & done; exit 0": {protocol.Failed, 2, 0, "exit code 2"},
		"exit 0": {protocol.Completed, 0, 0, ""},
	} {
		job := guest(t, script)
		job.Spec.MemoryMB = 64
		got := s.awaitEnd(t, s.submit(t, job))
		if got.State != want.state || got.ExitCode != want.code || got.Signal != want.signal || !strings.Contains(got.Reason, want.reason) || want.reason == "" && got.Reason != "" {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
	free := s.submit(t, guest(t, eats))
	if got := s.awaitEnd(t, free); got.State != protocol.Completed || got.Reason != "" {
		t.Errorf("without --mem: %+v", got)
	}
}

// TestStaleGroups finds the group of a forgotten job, in which there is still a process.
func TestStaleGroups(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.OnStop = process.LeaveJobs })
	contained(t, s)
	tag := s.submit(t, guest(t, daemon+"while [ ! -e stop ]; do sleep .02; done"))
	s.awaitRunning(t, tag)
	alive := s.dir(tag, "work/alive")
	eventually(t, "the daemon writes", func() bool { info, err := os.Stat(alive); return err == nil && info.Size() > 0 })
	record := s.started(t, tag)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	kept := newDir(t)
	lost := s.dir(tag, "")
	if err := os.Rename(lost, kept+"/lost"); err != nil { // as after a spool was restored
		t.Fatal(err)
	}
	s.open(t)
	silent(t, kept+"/lost/work/alive")
	gone(t, record.Group)
}

// TestWithoutGroups says what that means, and runs jobs as ever.
func TestWithoutGroups(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Cgroup = cgroup.None })
	if got := s.Uncontained(); !strings.HasPrefix(got, "processes that leave their session may outlive a job") {
		t.Errorf("it says %q", got)
	}
	tag := s.submit(t, guest(t, fmt.Sprintf("[ -z \"$%s\" ]", "SWITCHYARD_CGROUP")))
	if got := s.awaitEnd(t, tag); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
	if record := s.started(t, tag); record.Group != (cgroup.Group{}) {
		t.Errorf("it had the group %v", record.Group)
	}
}

// TestJobsThatCannotBeContained run all the same, and it is said: while they run, of how they
// ended, and of the site.
func TestJobsThatCannotBeContained(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.OnStop = process.LeaveJobs })
	defer s.ReleaseGroups() // of this machine
	parent := cgroup.Group{Unified: newDir(t)}
	s.MakeGroupsIn(parent)
	const script = "echo begun; while [ ! -e go ]; do sleep .02; done; exit 3"
	for n, want := range []string{
		"runs without a cgroup: put a process into its cgroup: ", // there is no file for it
		"runs without a cgroup: make a cgroup: ",                 // it is there
	} {
		job := guest(t, script)
		if n > 0 {
			if err := os.Mkdir(parent.Child(spool.DirName(job.Tag)).Unified, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		tag := s.submit(t, job)
		if got := s.awaitRunning(t, tag); !strings.HasPrefix(got.Reason, want) {
			t.Errorf("it runs, with the reason %q", got.Reason)
		}
		said := fmt.Sprintf("jobs that could not be contained since the start: %d, the last one %v, which %s", n+1, tag, want)
		if got := s.Uncontained(); !strings.HasPrefix(got, said) {
			t.Errorf("the site says %q, want %q", got, said)
		}
		write(t, s.dir(tag, "work/go"), "")
		got := s.awaitEnd(t, tag)
		if got.State != protocol.Failed || got.ExitCode != 3 || !strings.Contains(got.Reason, "exit code 3; "+want) {
			t.Errorf("%+v", got)
		}
	}
	if names := parent.Children(); len(names) != 1 {
		t.Errorf("the groups %q are left, want the one that is not of a shim", names)
	}
	// One that is over when the peer comes back is counted as well.
	tag := s.submit(t, guest(t, script))
	s.awaitRunning(t, tag)
	s.reopen(t)
	s.awaitRunning(t, tag)
	if got := s.Uncontained(); strings.Contains(got, "since the start") {
		t.Errorf("after a restart the site says %q", got)
	}
	write(t, s.dir(tag, "work/go"), "")
	s.awaitEnd(t, tag)
	if got := s.Uncontained(); !strings.Contains(got, "since the start: 1, the last one "+tag.String()) {
		t.Errorf("the site says %q", got)
	}
}
