package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
)

// TestPrivateSite: with [api] private another account of the machine finds nothing of a job
// that runs here, in whatever way it asks.
func TestPrivateSite(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can ask as another account")
	}
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 2, More: "[api]\nprivate = true"})
	site := g.Sites[0]
	id := g.submit(t, site, "#!/bin/sh\nsleep 300\n", "-J", "payroll")
	g.until(t, site, id, running)
	if got := g.at(t, site, "", "queue"); !strings.Contains(got.stdout, "payroll") {
		t.Errorf("root is shown %+v", got)
	}
	for _, args := range [][]string{{"queue"}, {"queue", "--recent", "10"}} {
		if got := g.asUnprivileged(t, site, args...); got.code != 0 || strings.Contains(got.stdout, id.String()) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	for _, command := range []string{"status", "explain", "logs", "cancel"} {
		got := g.asUnprivileged(t, site, command, id.String())
		if want := "job " + id.String() + " is not known here"; got.code != exitNotFound || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if got := g.at(t, site, "", "cancel", id.String()); got.code != 0 {
		t.Errorf("root cannot cancel: %+v", got)
	}
}

// A directory of configurations that belongs to another account is not one without configurations.
func TestConfigurationOfAnotherAccount(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can ask as another account")
	}
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2})
	dir := shortDir(t)
	closed := filepath.Join(dir, "switchyard")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(closed, 0o700)); err != nil {
		t.Fatal(err)
	}
	got := g.asUnprivileged(t, g.Sites[0], "config", "check", "--config", closed)
	if want := closed + ": cannot be read: permission denied"; got.code != exitFailed || !strings.Contains(got.stderr, want) {
		t.Errorf("%+v, want %q", got, want)
	}
}

// asUnprivileged runs switchyard as the account nobody. The program is handed over open, since that
// account may not pass through the directory where it is.
func (g *grid) asUnprivileged(t *testing.T, site *testbed.Site, args ...string) result {
	t.Helper()
	const unprivileged = 65534
	cmd := g.process(patience(t), t, site, args...)
	program, err := os.Open(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }() // only read
	var stdout, stderr bytes.Buffer
	cmd.Path, cmd.Dir, cmd.ExtraFiles = "/proc/self/fd/3", "/", []*os.File{program}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
