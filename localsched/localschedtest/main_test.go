package localschedtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// shimCommand is this test binary, copied to where every account can run it.
var shimCommand []string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		os.Exit(process.ShimMain(os.Args[2:]))
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
	return m.Run()
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

// publicDir is a new directory that every account can pass through, which the directories
// of testing.T are not.
func publicDir() (string, error) {
	dir, err := os.MkdirTemp("", "localschedtest-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// account is nobody for root, and else the account that runs the tests.
func account(t *testing.T) *user.User {
	t.Helper()
	look := user.Current
	if os.Geteuid() == 0 {
		look = func() (*user.User, error) { return user.Lookup("nobody") }
	}
	u, err := look()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// targetOf is a process scheduler with a spool of its own, seen through a wrapper.
func targetOf(t *testing.T, wrap func(*process.Scheduler) localsched.Scheduler) localschedtest.Target {
	t.Helper()
	dir, err := publicDir()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	var uid, gid int
	u := account(t)
	if _, err = fmt.Sscan(u.Uid+" "+u.Gid, &uid, &gid); err != nil {
		t.Fatal(err)
	}
	if err = errors.Join(os.Mkdir(home, 0o755), os.Chown(home, uid, gid)); err != nil {
		t.Fatal(err)
	}
	config := process.Config{
		Dir: filepath.Join(dir, "spool"), Site: "conformance", Policy: engine.EASY(), Shim: shimCommand,
		Capacity:  protocol.Capacity{CPUs: 4, Nodes: 1, MemoryMB: 1000, MaxWallTime: protocol.Hour},
		GraceKill: 200 * time.Millisecond,
	}
	t.Cleanup(func() { sweep(t, config, dir) })
	return localschedtest.Target{
		Timeout: 2 * time.Minute, // however slow the machine is
		Open: func(context.Context) (localsched.Scheduler, error) {
			s, err := process.Open(config) //nolint:contextcheck // it drives its jobs until it is closed
			if err != nil {
				return nil, err
			}
			return wrap(s), nil
		},
		Account: u.Username, Dir: home, Restart: true, Limit: 300 * protocol.Millisecond,
	}
}

// sweep ends what a wrong scheduler has left, and removes its directory.
func sweep(t *testing.T, config process.Config, dir string) {
	t.Helper()
	config.OnStop = process.EndJobs
	s, err := process.Open(config)
	if err == nil {
		err = s.Close()
	}
	removed := os.RemoveAll(dir)
	for deadline := time.Now().Add(10 * time.Second); removed != nil && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		removed = os.RemoveAll(dir) // a shim that was just being started writes its last words
	}
	if err = errors.Join(err, removed); err != nil {
		t.Error(err)
	}
}

func plain(s *process.Scheduler) localsched.Scheduler { return s }

// TestProcess: the suite holds for real processes.
func TestProcess(t *testing.T) {
	t.Parallel()
	localschedtest.Test(t, targetOf(t, plain))
}

// foreseeing is a scheduler with a foresight, that can be closed.
type foreseeing struct {
	localsched.Scheduler
	localsched.Reserver
	io.Closer
}

// TestPredictor: the suite holds for real processes with a predictor over them.
func TestPredictor(t *testing.T) {
	t.Parallel()
	localschedtest.Test(t, targetOf(t, func(s *process.Scheduler) localsched.Scheduler {
		f, err := waitpredict.NewPredictor(waitpredict.Plan, 4)
		if err != nil {
			t.Fatal(err)
		}
		now := func() protocol.Instant { return protocol.InstantOf(time.Now()) }
		over := waitpredict.New(s, f, now)
		holds, ok := over.(localsched.Reserver)
		if !ok {
			t.Fatal("it holds no room, though the scheduler under it does")
		}
		return foreseeing{over, holds, s}
	}))
}
