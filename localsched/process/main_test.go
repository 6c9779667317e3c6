package process_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// shimCommand is this test binary, copied to where every account can run it.
var shimCommand []string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		os.Exit(process.ShimMain(os.Args[2:]))
	}
	if dir := os.Getenv(victimDir); dir != "" {
		victim(dir)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := publicDir()
	if err == nil {
		defer os.RemoveAll(dir)
		err = copyFile(filepath.Join(dir, "shim"), "/proc/self/exe")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// The race detector's second of sleep at the end would be a second of each job.
	shimCommand = []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", filepath.Join(dir, "shim"), "shim"}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// publicDir is a new directory that every account can pass through, which the
// directories of testing.T are not.
func publicDir() (string, error) {
	dir, err := os.MkdirTemp("", "process-test-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

func newDir(t testing.TB) string {
	t.Helper()
	dir, err := publicDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// homeDir is a new directory of the account that runs the tests' jobs.
func homeDir(t testing.TB) string {
	t.Helper()
	dir := newDir(t)
	u, err := user.Lookup(jobAccount(t))
	if err != nil {
		t.Fatal(err)
	}
	var uid, gid int
	if _, err = fmt.Sscan(u.Uid+" "+u.Gid, &uid, &gid); err != nil {
		t.Fatal(err)
	}
	if err = os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return dir
}

// jobAccount is nobody for root, and else the account that runs the tests.
func jobAccount(t testing.TB) string {
	t.Helper()
	if os.Geteuid() == 0 {
		return "nobody"
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

func asRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can run jobs as other accounts")
	}
}

// site is a scheduler under test and what it was opened with.
type site struct {
	*process.Scheduler
	config process.Config
	cursor localsched.Cursor
	seen   []localsched.Change
}

func configOf(dir string) process.Config {
	return process.Config{
		Dir:       filepath.Join(dir, "spool"),
		Site:      "north",
		Capacity:  protocol.Capacity{CPUs: 4, Nodes: 1},
		Policy:    engine.EASY(),
		GraceKill: 200 * time.Millisecond,
		Shim:      shimCommand,
	}
}

func openSite(t testing.TB, change func(*process.Config)) *site {
	t.Helper()
	config := configOf(newDir(t))
	config.Log = slog.New(slog.NewTextHandler(logTo{t}, nil))
	config.OnStop = process.EndJobs
	if change != nil {
		change(&config)
	}
	s := &site{config: config}
	s.open(t)
	t.Cleanup(func() {
		s.Close()
		if t.Failed() && s.config.OnStop == process.LeaveJobs {
			s.config.OnStop, s.config.Log = process.EndJobs, nil
			s.open(t)
			s.Close()
		}
		s.ReleaseGroups()
	})
	return s
}

func (s *site) open(t testing.TB) {
	t.Helper()
	opened, err := process.Open(s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.Scheduler, s.seen = opened, nil
}

// reopen closes the scheduler, leaving the jobs alone, and opens it again.
func (s *site) reopen(t testing.TB) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(t)
}

// logTo prints the log of a test.
type logTo struct{ t testing.TB }

func (l logTo) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

var lastSeq atomic.Uint64

// guest is a job from another site that runs a shell script.
func guest(t testing.TB, script string) localsched.Submission {
	t.Helper()
	tag := protocol.Tag{Job: protocol.NewJobID(7, lastSeq.Add(1)), Epoch: 3}
	return localsched.Submission{
		Tag: tag,
		Spec: protocol.Spec{
			Request: protocol.Request{Job: tag.Job, CPUs: 1, Nodes: 1, WallTime: protocol.Minute},
			Name:    "test", User: "alice",
		},
		Payload: &protocol.Payload{
			Script: []byte("#!/bin/sh\n" + script + "\n"),
			Stdout: "/home/alice/out", Stderr: "/home/alice/err", WorkDir: "/home/alice",
		},
		Origin: "south", Account: jobAccount(t), Guest: true,
	}
}

// home is a job of this site that runs a shell script in dir.
func home(t testing.TB, dir, script string) localsched.Submission {
	t.Helper()
	job := guest(t, script)
	job.Guest, job.Origin = false, "north"
	job.Payload.WorkDir = dir
	job.Payload.Stdout, job.Payload.Stderr = filepath.Join(dir, "stdout"), filepath.Join(dir, "stderr")
	return job
}

func (s *site) submit(t testing.TB, job localsched.Submission) protocol.Tag {
	t.Helper()
	if _, err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return job.Tag
}

// await watches until the job is in a state.
func (s *site) await(t testing.TB, tag protocol.Tag, is func(protocol.State) bool) localsched.Change {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		for _, c := range s.seen {
			if c.Tag == tag && is(c.State) {
				return c
			}
		}
		watched, err := s.Watch(ctx, s.cursor)
		if err != nil {
			t.Fatalf("job %v: %v; seen: %+v", tag, err, s.seen)
		}
		s.cursor = watched.Cursor
		s.seen = append(s.seen, watched.Changes...)
	}
}

func (s *site) awaitRunning(t testing.TB, tag protocol.Tag) localsched.Change {
	t.Helper()
	return s.await(t, tag, func(state protocol.State) bool { return state == protocol.Running })
}

func (s *site) awaitEnd(t testing.TB, tag protocol.Tag) protocol.Outcome {
	t.Helper()
	c := s.await(t, tag, protocol.State.Terminal)
	if c.State != c.Outcome.State {
		t.Errorf("job %v is reported as %v with the outcome %v", tag, c.State, c.Outcome.State)
	}
	return c.Outcome
}

func (s *site) read(t testing.TB, tag protocol.Tag, stream protocol.Stream) string {
	t.Helper()
	data, err := s.Fetch(t.Context(), tag, stream, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// eventually waits for something that real processes do.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (s *site) dir(tag protocol.Tag, name string) string {
	return filepath.Join(s.config.Dir, "jobs", spool.DirName(tag), name)
}
