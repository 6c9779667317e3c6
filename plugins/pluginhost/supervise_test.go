package pluginhost_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testlog"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
)

// states remembers what a plugin tells.
type states struct {
	mu   sync.Mutex
	seen []pluginhost.Status
}

func (s *states) add(status pluginhost.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, status)
}

func (s *states) names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.seen {
		names = append(names, one.State.String())
	}
	return names
}

// failed says whether a failure with these words was reported.
func (s *states) failed(words string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.seen, func(one pluginhost.Status) bool { return strings.Contains(one.Failure, words) })
}

// A plugin that dies in a call is started again; the call fails, later ones do not,
// and each state is reported.
func TestRestartAfterDeath(t *testing.T) {
	t.Parallel()
	reported := new(states)
	spec := specOf(t, "moody")
	spec.OnState = reported.add
	plugin := up(t, spec)
	first := plugin.Status().PID
	_, _, err := plugin.Policy().Decide(t.Context(), withMood(dies))
	wants(t, err, "Decide: it ended (exit status 3): farewell")
	if _, isDown := errors.AsType[*pluginhost.DownError](err); isDown {
		t.Error("the call had reached the plugin, but the error says that it had not")
	}
	until(t, "another process", func() bool {
		s := plugin.Status()
		return s.State == pluginhost.Up && s.PID != first
	})
	decisions, hint, err := plugin.Policy().Decide(t.Context(), withMood(calm))
	if err != nil || string(hint) != "hint" || decisions[0].Reason != fmt.Sprint("pid ", plugin.Status().PID) {
		t.Errorf("%v, %q, %v", decisions, hint, err)
	}
	if err = plugin.Close(); err != nil {
		t.Error(err)
	}
	want := []string{"starting", "up", "down", "starting", "up", "closed"}
	if got := reported.names(); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// While a plugin is down, calls fail at once and say when it is tried again.
func TestDown(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "moody")
	spec.Timing.Backoff, spec.Timing.BackoffMax = time.Hour, time.Hour
	plugin := up(t, spec)
	if err := syscall.Kill(plugin.Status().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "down", func() bool {
		return plugin.Status().State == pluginhost.Down && !plugin.Status().RetryAt.Before(time.Now())
	})
	_, _, err := plugin.Policy().Decide(t.Context(), withMood(calm))
	down, ok := errors.AsType[*pluginhost.DownError](err)
	if !ok || down.Reason != "it ended (signal: killed)" || time.Until(down.RetryAt) < 50*time.Minute {
		t.Errorf("%#v", err)
	}
	wants(t, err, "plugin moody (", ") is down (it ended (signal: killed)); next try in 1h")
	if err = plugin.Close(); err != nil {
		t.Error(err)
	}
	_, _, err = plugin.Policy().Decide(t.Context(), withMood(calm))
	wants(t, err, "is down (closed)")
}

// A plugin that fails too often is left alone for long.
func TestRest(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "exits")
	spec.Timing.Most, spec.Timing.Rest = 2, 2*time.Hour
	plugin := opened(t, spec)
	until(t, "a rest", func() bool { return time.Until(plugin.Status().RetryAt) > time.Hour })
	if s := plugin.Status(); s.State != pluginhost.Down || s.Restarts != 2 {
		t.Errorf("status %+v", s)
	}
}

// TestDecideIsCancelled: who no longer wants the answer lets the plugin know.
func TestDecideIsCancelled(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "moody")
	spec.Timing.Call = time.Hour
	plugin := up(t, spec)
	seen := make(chan error, 1)
	go func() {
		_, _, err := plugin.Policy().Decide(t.Context(), withMood(afterWaiting))
		seen <- err
	}()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // it may end before the plugin has been asked
		_, _, err := plugin.Policy().Decide(ctx, withMood(waits))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the call gives %v", err)
		}
		select {
		case err = <-seen:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

// A hanging call ends at its deadline and holds up neither other calls nor Close.
func TestHangingCall(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "moody")
	spec.Timing.Call = time.Hour
	plugin := up(t, spec)
	hung := make(chan error, 1)
	go func() {
		_, _, err := plugin.Policy().Decide(t.Context(), withMood(hangs))
		hung <- err
	}()
	for range 20 {
		if _, _, err := plugin.Policy().Decide(t.Context(), withMood(calm)); err != nil {
			t.Error(err)
		}
	}
	began := time.Now()
	if err := plugin.Close(); err != nil {
		t.Error(err)
	}
	wants(t, <-hung, "moody", "Decide: ")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("Close took %v", took)
	}
}

// Calls that reach their deadline count until the plugin is restarted.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "moody")
	spec.Timing.Faults, spec.Timing.Call = 2, 300*time.Millisecond
	plugin := up(t, spec)
	for range 2 {
		_, _, err := plugin.Policy().Decide(t.Context(), withMood(hangs))
		wants(t, err, "Decide: no answer within ")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is no DeadlineExceeded", err)
		}
	}
	until(t, "a restart", func() bool { return plugin.Status().Restarts > 0 })
}

// A call that always fails breaks the plugin, whatever the others answer.
func TestFaultsOfOneCall(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "memory")
	reported := new(states)
	spec.Kind, spec.Timing.Faults, spec.Timing.Call, spec.OnState = pluginhost.SchedulerKind, 3, 200*time.Millisecond, reported.add
	plugin := up(t, spec)
	for range 3 {
		_, err := plugin.Scheduler().Submit(t.Context(), submission(stuck))
		wants(t, err, "Submit: no answer within ")
		if _, err = plugin.Scheduler().Load(t.Context()); err != nil && plugin.Status().State == pluginhost.Up {
			t.Error(err)
		}
	}
	until(t, "a restart", func() bool {
		return reported.failed("3 calls of Submit in a row failed; the last one: no answer within ")
	})
}

// The panic of one life does not explain the end of the next.
func TestWordsOfOneLife(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy.sh")
	script(t, path, `if mkdir "$1"; then echo "panic: at first"; exit 2; fi >&2 2>&-; echo "no license found" >&2; exit 3`)
	spec := specOf(t, "moody")
	spec.Path, spec.Args = path, []string{filepath.Join(filepath.Dir(path), "was-here")}
	reported := new(states)
	spec.OnState = reported.add
	_ = opened(t, spec)
	until(t, "the second end", func() bool { return reported.failed("(exit status 3)") })
	if !reported.failed("(exit status 2): panic: at first") || !reported.failed("(exit status 3): no license found") {
		t.Errorf("told %+v", reported.seen)
	}
}

// A caller that gives up, or has no patience, does not count against the plugin.
func TestImpatientCallers(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "memory")
	spec.Kind, spec.Timing.Faults = pluginhost.SchedulerKind, 3
	plugin := up(t, spec)
	for range 5 {
		gone, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err := plugin.Scheduler().Watch(gone, "")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err = plugin.Scheduler().Watch(short, "")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
	if s := plugin.Status(); s.Restarts != 0 || s.State != pluginhost.Up {
		t.Errorf("status %+v", s)
	}
}

// What a plugin says of itself, that it cannot decide, is no failure.
func TestErrorsOfThePluginDoNotCount(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "moody")
	spec.Timing.Faults = 2
	plugin := up(t, spec)
	for range 10 {
		_, _, err := plugin.Policy().Decide(t.Context(), withMood(fails))
		wants(t, err, "Decide: cannot decide today")
	}
	if _, _, err := plugin.Policy().Decide(t.Context(), withMood(calm)); err != nil {
		t.Error(err)
	}
	if s := plugin.Status(); s.Restarts != 0 || s.State != pluginhost.Up {
		t.Errorf("status %+v", s)
	}
}

// A plugin that does not answer its health checks is restarted.
func TestHealth(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "raw", "Check")
	spec.Timing.Health, spec.Timing.Misses = 100*time.Millisecond, 2
	plugin := up(t, spec)
	until(t, "a restart", func() bool { return plugin.Status().Restarts > 0 })
	if s := plugin.Status(); !strings.Contains(s.Failure, "2 health checks in a row failed; the last one: no answer within 100ms") {
		t.Errorf("status %+v", s)
	}
}

// A plugin that is another one after its restart stays down.
func TestAnotherPluginAfterRestart(t *testing.T) {
	t.Parallel()
	plugin := up(t, specOf(t, "moody", filepath.Join(t.TempDir(), "was-here")))
	if err := syscall.Kill(plugin.Status().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "a refusal", func() bool {
		return strings.Contains(plugin.Status().Failure, "it is not what it was before its restart: it says moody 1.0.0")
	})
	_, _, err := plugin.Policy().Decide(t.Context(), withMood(calm))
	if _, isDown := errors.AsType[*pluginhost.DownError](err); !isDown {
		t.Errorf("%v", err)
	}
}

// script writes a program of the shell's.
func script(t testing.TB, path, text string) {
	t.Helper()
	testprogram.Write(t, path, "#!/bin/sh\n"+text+"\n")
}

// A pinned file that has changed is not run; once it is put back, it is.
func TestChangedFileUnderThePin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy.sh")
	right := "exec " + self(t) + " plugin moody"
	script(t, path, right)
	spec := specOf(t, "moody")
	spec.Path, spec.Args, spec.SHA256 = path, nil, sumOf(t, path)
	plugin := up(t, spec)
	script(t, path, right+" # changed")
	if err := syscall.Kill(plugin.Status().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "a refusal", func() bool {
		return strings.Contains(plugin.Status().Failure, "its file is not the pinned one: the SHA-256 is not "+spec.SHA256)
	})
	_, _, err := plugin.Policy().Decide(t.Context(), withMood(calm))
	wants(t, err, "is down (", "put the file back, or pin the new one")
	script(t, path, right)
	until(t, "up", func() bool { return plugin.Status().State == pluginhost.Up })

	script(t, path, right+" # changed")
	if _, err = pluginhost.Open(spec, logOf(t)); err == nil {
		t.Fatal("opened a changed file")
	}
	wants(t, err, "plugin moody ("+path+"): its file is not the pinned one")
}

// Children that keep standard output open hold up neither the end of a plugin nor the
// report of a failed start; those in its process group end with it, others stay.
func TestChildren(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"lives", "dies"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			spec := specOf(t, "parent", file, way)
			spec.Timing.Backoff, spec.Timing.BackoffMax = time.Hour, time.Hour
			plugin := opened(t, spec)
			began := time.Now()
			if err := plugin.Wait(t.Context()); way == "dies" {
				wants(t, err, "it ended at its start (exit status 4)")
			} else if err != nil {
				t.Error(err)
			}
			if err := plugin.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			var inGroup, outside int
			if text, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			} else if _, err = fmt.Sscan(string(text), &inGroup, &outside); err != nil {
				t.Fatal(err)
			}
			until(t, "the end of the group", func() bool { return !alive(inGroup) })
			if !alive(outside) {
				t.Error("the child that has left the group was ended too")
			}
			_ = syscall.Kill(outside, syscall.SIGKILL)
		})
	}
}

// Close does not wait for a plugin that hangs at its start.
func TestCloseDuringStart(t *testing.T) {
	t.Parallel()
	for _, mood := range [][]string{{"silent"}, {"raw", "Configure"}} {
		spec := specOf(t, mood[0], mood[1:]...)
		spec.Timing.Start = time.Hour
		plugin := opened(t, spec)
		_, _, err := plugin.Policy().Decide(t.Context(), withMood(calm))
		wants(t, err, "is down (it is being started)")
		short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err = plugin.Wait(short)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if err = plugin.Close(); err != nil {
			t.Error(err)
		}
		wants(t, plugin.Wait(t.Context()), "is down (closed)")
	}
}

// What a plugin prints arrives in the log, whichever way it prints.
func TestOutput(t *testing.T) {
	t.Parallel()
	book := new(testlog.Buffer)
	plugin, err := pluginhost.Open(specOf(t, "moody"), book.Logger())
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close()
	if err = plugin.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err = plugin.Policy().Decide(t.Context(), withMood(prints)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"on standard output", "on standard error", "on the old standard error"} {
		until(t, want, func() bool { return strings.Contains(book.String(), want) })
	}
}

// Without TLS a pinned plugin works the same.
func TestPlain(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "moody")
	spec.Plain, spec.SHA256 = true, sumOf(t, spec.Path)
	plugin := up(t, spec)
	if _, _, err := plugin.Policy().Decide(t.Context(), withMood(calm)); err != nil {
		t.Error(err)
	}
}

// Nothing stays in the directory of temporary files, nor as a process; the plugin sees
// little of the host's environment.
func TestNothingIsLeft(t *testing.T) { //nolint:paralleltest // it sets the environment
	temp := shortDir(t)
	t.Setenv("TMPDIR", temp)
	t.Setenv("A_SECRET", "of the host")
	plugin := up(t, specOf(t, "moody"))
	sockets, err := filepath.Glob(temp + "/switchyard-plugin-*/plugin-dir*/plugin*")
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets %v, %v", sockets, err)
	}
	info, err := os.Stat(filepath.Dir(filepath.Dir(sockets[0])))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v", info.Mode(), err)
	}
	pid := plugin.Status().PID
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || strings.Contains(string(environment), "SECRET") || !strings.Contains(string(environment), "PATH=") {
		t.Errorf("environment %q, %v", environment, err)
	}
	if err = plugin.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if alive(pid) {
		t.Errorf("process %d is left", pid)
	}
}

// shortDir is a new directory with a path that leaves room for that of a socket.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "left-") //nolint:usetesting // that one is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// alive says whether a process runs.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
