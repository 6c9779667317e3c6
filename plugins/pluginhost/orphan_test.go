package pluginhost_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
)

// beHost is a peer with three plugins: one that works, one behind a script that waits
// for it, and a script that hangs at its start. It prints the pids of the first two
// and waits to be killed.
func beHost(args []string) {
	executable, err := os.Executable()
	if err != nil {
		panic(err)
	}
	open := func(path string, args ...string) *pluginhost.Plugin {
		plugin, err := pluginhost.Open(pluginhost.Spec{
			Name: "moody", Kind: pluginhost.PolicyKind, Path: path, Args: args, Timing: pluginhost.Timing{Start: time.Hour},
		}, slog.New(slog.DiscardHandler))
		if err != nil {
			panic(err)
		}
		return plugin
	}
	_ = open(args[0], args[1])
	for _, plugin := range []*pluginhost.Plugin{open(executable, "plugin", "moody"), open(args[2])} {
		if err := plugin.Wait(context.Background()); err != nil {
			panic(err)
		}
		decisions, _, err := plugin.Policy().Decide(context.Background(), withMood(calm))
		if err != nil {
			panic(err)
		}
		fmt.Println(strings.TrimPrefix(decisions[0].Reason, "pid "))
	}
	time.Sleep(time.Hour)
}

// When the host is killed with -9, so are its plugins: also one that is not written
// in Go and has not even said hello, and one that is no child of the host, which ends
// by itself.
func TestNoOrphans(t *testing.T) { //nolint:paralleltest // it sets the environment
	dir, temp := t.TempDir(), shortDir(t)
	t.Setenv("TMPDIR", temp)
	hangs, pidFile, waits := filepath.Join(dir, "hangs.sh"), filepath.Join(dir, "pid"), filepath.Join(dir, "waits.sh")
	script(t, hangs, `echo $$ >"$1.new" && mv "$1.new" "$1"`+"\nwhile :; do sleep 1; done")
	script(t, waits, self(t)+" plugin moody\nexit")
	host := exec.CommandContext(t.Context(), self(t), "host", hangs, pidFile, waits)
	out, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill() })
	pids := make([]int, 3)
	if _, err = fmt.Fscan(out, &pids[0], &pids[1]); err != nil {
		t.Fatalf("the host did not start: %v", err)
	}
	until(t, "the script", func() bool {
		text, failed := os.ReadFile(pidFile)
		if failed == nil {
			_, failed = fmt.Sscan(string(text), &pids[2])
		}
		return failed == nil
	})
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("process %d does not run", pid)
		}
	}
	if err = host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	for _, pid := range pids {
		until(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !alive(pid) })
	}
	// What the host has left is removed by the next one.
	if left, _ := os.ReadDir(temp); len(left) != 3 {
		t.Errorf("the host has left %v", left)
	}
	_ = up(t, specOf(t, "moody"))
	if left, _ := os.ReadDir(temp); len(left) != 1 {
		t.Errorf("the next host has left %v", left)
	}
}
