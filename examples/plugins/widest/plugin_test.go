package main_test

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	widest "github.com/switchyard-hpc/switchyard/examples/plugins/widest"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPlugin: in a process of its own the engine does at each step what it does in this
// one.
func TestPlugin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "widest")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	plugin, err := pluginhost.Open(pluginhost.Spec{Name: "widest", Kind: pluginhost.SchedulerKind, Path: path}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plugin.Close() })
	if err = plugin.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		machine := protocol.Capacity{CPUs: 16, Nodes: 4, WholeNode: rapid.Bool().Draw(t, "whole nodes")}
		apart, err := plugin.Engine(machine)
		if err != nil {
			t.Fatal(err)
		}
		inStep(t, widest.Engine(machine), apart)
	})
}

// inStep drives two engines with the same jobs. Each job that starts ends after a while.
func inStep(t *rapid.T, within, apart localsched.Engine) {
	var running []protocol.Tag
	both := func(call func(localsched.Engine) (localsched.Actions, error)) {
		a, errA := call(within)
		b, errB := call(apart)
		if !reflect.DeepEqual(a, b) || (errA == nil) != (errB == nil) {
			t.Fatalf("did %+v (%v) in process, %+v (%v) in a process of its own", a, errA, b, errB)
		}
		running = append(running, a.Starts...)
	}
	now := protocol.Instant(0)
	for n := range rapid.IntRange(1, 30).Draw(t, "jobs") {
		now = now.Add(protocol.Duration(rapid.Int64Range(0, 10).Draw(t, "pause")))
		request := protocol.Request{
			Job: tag(n).Job, CPUs: rapid.IntRange(1, 18).Draw(t, "cpus"), WallTime: protocol.Duration(rapid.Int64Range(1, 100).Draw(t, "limit")),
		}
		both(func(e localsched.Engine) (localsched.Actions, error) {
			return e.Submit(now, localsched.Queued{Request: request, Tag: tag(n)})
		})
		if len(running) > 0 && rapid.Bool().Draw(t, "one ends") {
			first := running[0]
			running = running[1:]
			both(func(e localsched.Engine) (localsched.Actions, error) { return e.Finished(now, first) })
		}
	}
	ahead := []protocol.Request{{CPUs: 4, WallTime: 5}}
	jobs := []protocol.Request{{CPUs: 1, WallTime: 5}, {CPUs: 16, WallTime: 9}}
	a, errA := within.Plan(now, ahead, jobs)
	if b, errB := apart.Plan(now, ahead, jobs); !reflect.DeepEqual(a, b) || errA != nil || errB != nil {
		t.Fatalf("planned %+v (%v) in process, %+v (%v) in a process of its own", a, errA, b, errB)
	}
}
