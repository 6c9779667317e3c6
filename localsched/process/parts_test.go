package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAsOrdinaryUser runs the other tests again as an account without rights.
func TestAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	asRoot(t)
	const unprivileged = 65534
	again := exec.CommandContext(t.Context(), shimCommand[2],
		"-test.run", "TestEnds|TestGuest|TestHomeJob|TestFetch|TestKill|TestRefusals|TestRestart|TestDeliver|TestShimKilled|TestUsage|TestWrongReports|TestPipeHeld|TestJobsThatCannot")
	again.Env = []string{"PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
	again.Dir = "/"
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*process.Config){
		"relative spool":  func(c *process.Config) { c.Dir = "spool" },
		"no policy":       func(c *process.Config) { c.Policy = nil },
		"no CPUs":         func(c *process.Config) { c.Capacity.CPUs = 0 },
		"no shim":         func(c *process.Config) { c.Shim = nil },
		"relative shim":   func(c *process.Config) { c.Shim = []string{"switchyard", "shim"} },
		"spool in a file": func(c *process.Config) { c.Dir = "/proc/version/spool" },
	} {
		config := configOf(t.TempDir())
		change(&config)
		if s, err := process.Open(config); err == nil {
			t.Error(name, "is accepted")
			s.Close()
		}
	}
}

func TestShimIsNoCommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"deliver"}, {"a", "b"}, {"/no/such/directory"}} {
		cmd := exec.CommandContext(t.Context(), shimCommand[0], append(shimCommand[1:len(shimCommand):len(shimCommand)], args...)...)
		if err := cmd.Run(); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	self, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range []string{string(self), "", ")", "1 (a) b) S 1 2 3", "1 (x) S " + strings.Repeat("1 ", 18) + "99999999999999999999"} {
		f.Add(line)
	}
	if err := process.ParseStat(string(self)); err != nil {
		f.Error(err)
	}
	f.Fuzz(func(_ *testing.T, line string) { _ = process.ParseStat(line) })
}

// FuzzRecords reads damaged files as Open would.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"format":3,"seq":1,"submission":{"Tag":{"Job":7000000000005,"Epoch":3},"Payload":{}}}`))
	f.Add([]byte(`{"state":"COMPLETED","files":[{"stream":1,"size":-1,"sha256":"zz"}]}`))
	f.Add([]byte(`{"state":"PENDING"}`))
	f.Add([]byte(`{"withdrawn":true}`))
	f.Add([]byte("null"))
	tag := protocol.Tag{Job: 7000000000005, Epoch: 3}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{"job.json", "exit"} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if record, err := process.ReadJob(dir, tag); err == nil && (record.Submission.Tag != tag || record.Submission.Payload == nil) {
			t.Errorf("%q is read as %+v", data, record)
		}
		if record, err := process.ReadExit(dir); err == nil && !record.State.Terminal() {
			t.Errorf("%q is read as %+v", data, record)
		}
	})
}
