package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// container is a peer as the first process of a namespace of process numbers, as in a container.
type container struct {
	cmd   *exec.Cmd
	first int // the first process there, by its number here
	peer  int // its child
}

// startContained starts the site's peer so.
func startContained(t *testing.T, site *testbed.Site) *container {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "unshare", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("needs the right to make a namespace of process numbers: %v\n%s", err, out)
	}
	log, err := os.OpenFile(site.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the processes have it
	c := &container{cmd: exec.CommandContext(t.Context(), "unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
		ownBinary(t), "peer", "--config", site.Config)}
	c.cmd.Env = append(os.Environ(), asBinary+"="+testCommit)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	if err = c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx := patience(t)
	client := site.Client()
	defer client.Close()
	for ; ; time.Sleep(20 * time.Millisecond) {
		if _, err := client.Sites(ctx); err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the peer does not answer")
		}
	}
	c.first = onlyChild(t, c.cmd.Process.Pid)
	c.peer = onlyChild(t, c.first)
	return c
}

// exits waits for the end of the container.
func (c *container) exits(t *testing.T) (code int) {
	t.Helper()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode()
}

// children are the children of a process, by the names of their programs.
func children(ctx context.Context, t *testing.T, of int) map[int]string {
	t.Helper()
	out, err := exec.CommandContext(ctx, "ps", "-o", "pid=,comm=", "--ppid", strconv.Itoa(of)).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // 1: there are none
		t.Fatal(err)
	}
	found := map[int]string{}
	for line := range strings.Lines(string(out)) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		found[pid] = name
	}
	return found
}

func onlyChild(t *testing.T, of int) (pid int) {
	t.Helper()
	found := children(t.Context(), t, of)
	if len(found) != 1 {
		t.Fatalf("process %d has the children %v, want one", of, found)
	}
	for pid = range found {
	}
	return pid
}

// leave has a process in the container lose its parent, as a daemon does, and returns it, which is not one of those before.
func (c *container) leave(t *testing.T, before ...int) (orphan int) {
	t.Helper()
	enter := exec.CommandContext(t.Context(), "nsenter", "--target", strconv.Itoa(c.first), "--pid", "sh", "-c", "sleep 1000 >/dev/null 2>&1 &")
	if out, err := enter.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for ctx := patience(t); ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		for pid, name := range children(ctx, t, c.first) {
			if name == "sleep" && !slices.Contains(before, pid) {
				return pid
			}
		}
	}
	t.Fatal("the process is no child of the first one")
	return 0
}

// gone waits until a process is not even a zombie.
func gone(t *testing.T, pid int) {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			return
		}
		if ctx.Err() != nil {
			state, _ := exec.CommandContext(t.Context(), "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
			t.Fatalf("process %d stays, in the state %s", pid, state)
		}
	}
}

func signalTo(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}

// A peer that is the first process of a container runs jobs, leaves no zombies, and gets the signals that the container gets.
func TestPeerAsFirstProcess(t *testing.T) {
	t.Parallel()
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2})
	site := g.Sites[0]
	c := startContained(t, site)
	id := g.submit(t, site, "#!/bin/sh\nexit 3\n", "--time=1")
	if job := g.until(t, site, id, ended); job.State != protocol.Failed || job.ExitCode != 3 {
		t.Errorf("the job: %s, exit code %d", job.State, job.ExitCode)
	}
	var orphans []int
	for range 5 {
		orphans = append(orphans, c.leave(t, orphans...))
	}
	for _, orphan := range orphans { // several end at once
		signalTo(t, orphan, syscall.SIGKILL)
	}
	for _, orphan := range orphans {
		gone(t, orphan)
	}

	signalTo(t, c.first, syscall.SIGHUP)
	for ctx := patience(t); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(site.Log)
		if err == nil && strings.Contains(string(text), "config_reloaded") {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the peer does not reload: %v", err)
		}
	}
	signalTo(t, c.first, syscall.SIGTERM)
	if code := c.exits(t); code != 0 {
		t.Errorf("asked to end, it exits with %d", code)
	}
	if text, err := os.ReadFile(site.Log); err != nil || !strings.Contains(string(text), "peer_stops") {
		t.Errorf("the peer has not stopped by itself: %v\n%s", err, text)
	}
}

// What ends the peer ends the container, with the exit code of it.
func TestEndOfPeerIsEndOfContainer(t *testing.T) {
	t.Parallel()
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2})
	site := g.Sites[0]
	c := startContained(t, site)
	left := c.leave(t)
	signalTo(t, c.peer, syscall.SIGKILL)
	if code, want := c.exits(t), 128+int(syscall.SIGKILL); code != want {
		t.Errorf("the peer is killed, and the container exits with %d, want %d", code, want)
	}
	gone(t, left)
	if text, err := os.ReadFile(site.Log); err != nil || !strings.HasSuffix(string(text), "the peer was ended by signal 9 (killed)\n") {
		t.Errorf("the end of the peer is not said: %v\n%s", err, text)
	}
	if err := os.WriteFile(site.Config, []byte("[nonsense]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := exec.CommandContext(t.Context(), "unshare", "--pid", "--fork", "--mount-proc", ownBinary(t), "peer", "--config", site.Config)
	refused.Env = append(os.Environ(), asBinary+"="+testCommit)
	out, err := refused.CombinedOutput()
	if code := refused.ProcessState.ExitCode(); code != exitFailed || strings.Count(string(out), "nonsense") != 1 {
		t.Errorf("with a wrong configuration: %v\n%s", err, out)
	}
}
