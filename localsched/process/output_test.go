package process_test

import (
	"os"
	"strings"
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
	tag := s.submit(t, guest(t, "sleep 600"))
	s.awaitRunning(t, tag)
	eventually(t, "the job has its output", func() bool { return os.Truncate(s.folder(tag, "out"), 4<<40) == nil })
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
