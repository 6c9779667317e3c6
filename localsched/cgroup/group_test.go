package cgroup_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
)

// parents are groups of this machine below which the tests may make some, by the version.
func parents(t *testing.T) map[string]cgroup.Group {
	t.Helper()
	name := fmt.Sprintf("switchyard-test.%d.%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "."))
	all := map[string]cgroup.Group{}
	if found := cgroup.Open(cgroup.Own, name); found.Parent != (cgroup.Group{}) {
		all["as found"] = found.Parent
	}
	const unified = "/sys/fs/cgroup/unified"
	if _, err := os.Stat(filepath.Join(unified, "cgroup.procs")); err == nil {
		if dir := filepath.Join(unified, name); os.Mkdir(dir, 0o755) == nil {
			all["v2 beside v1"] = cgroup.Group{Unified: dir}
		}
	}
	if len(all) == 0 {
		t.Skip("this machine does not let the tests make cgroups: " + cgroup.Open(cgroup.Own, name).Lacks)
	}
	t.Cleanup(func() {
		for _, parent := range all {
			for _, child := range parent.Children() {
				if err := parent.Child(child).End(time.Minute); err != nil {
					t.Error(err)
				}
			}
			if err := parent.Remove(); err != nil {
				t.Error(err)
			}
		}
	})
	return all
}

// run starts a shell script in a group.
func run(t *testing.T, g cgroup.Group, script string) (said *bytes.Buffer, wait func() error) {
	t.Helper()
	said = new(bytes.Buffer)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read -r go; "+script)
	cmd.Stdout, cmd.Stderr = said, said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err = g.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if _, err = in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	return said, cmd.Wait
}

// TestEndReachesAll ends processes that have left their session and their parent, and ones
// that keep forking.
func TestEndReachesAll(t *testing.T) {
	t.Parallel()
	for version, parent := range parents(t) {
		g := parent.Child("job")
		if err := errors.Join(g.Make(), g.Limit(cgroup.Limits{Processes: 200})); err != nil {
			t.Fatal(version, err)
		}
		alive := filepath.Join(t.TempDir(), "alive")
		_, wait := run(t, g, fmt.Sprintf(`exec >/dev/null 2>&1
setsid sh -c 'trap "" TERM HUP; while :; do echo >>%[1]s; sleep .01 & wait $!; done' &
setsid sh -c 'while :; do setsid sleep 1000 & sleep .02; done' &
while [ ! -s %[1]s ]; do sleep .01; done`, alive))
		if err := wait(); err != nil {
			t.Error(version, err)
		}
		if got := parent.Children(); len(got) != 1 || got[0] != "job" {
			t.Errorf("%s: the groups are %q", version, got)
		}
		if err := g.End(time.Minute); err != nil {
			t.Error(version, err)
		}
		if err := g.Remove(); err != nil {
			t.Error(version, err)
		}
		before, err := os.Stat(alive)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // in which a living one would have written
		if after, err := os.Stat(alive); err != nil || after.Size() != before.Size() {
			t.Errorf("%s: something still writes, %v", version, err)
		}
		for range 2 { // there is none any more
			if err := g.End(time.Minute); err != nil {
				t.Error(version, err)
			}
			if err := g.Remove(); err != nil {
				t.Error(version, err)
			}
		}
	}
}

// TestMakeTwice: a group that is there may have processes of something else.
func TestMakeTwice(t *testing.T) {
	t.Parallel()
	for version, parent := range parents(t) {
		g := parent.Child("job")
		if err := g.Make(); err != nil {
			t.Fatal(version, err)
		}
		if err := g.Make(); err == nil {
			t.Error(version, "is made twice")
		}
		parent.Release()
		if len(parent.Children()) != 1 {
			t.Error(version, "a parent in use is removed")
		}
		if err := g.Remove(); err != nil {
			t.Error(version, err)
		}
		parent.Release() // by whoever clears up
		if err := g.Make(); err != nil {
			t.Error(version, err)
		}
	}
}

// TestAddFails: a group has no part in a hierarchy that does not take a process, and others
// that do.
func TestAddFails(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "", "")
	parent := cgroup.Group{Memory: filepath.Join(m.dir, "memory"), Pids: filepath.Join(m.dir, "pids")}
	m.put("memory/job/cgroup.procs", "")
	m.put("pids/other", "")
	g := parent.Child("job")
	if err := g.Make(); err == nil {
		t.Error("one that is there is made")
	}
	if got := (cgroup.Group{Pids: parent.Pids}).Children(); len(got) != 0 {
		t.Errorf("%q are left of what was not made", got)
	}
	if err := os.Mkdir(g.Pids, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := g.Add(4711)
	if want := (cgroup.Group{Memory: g.Memory}); got != want || err == nil || !strings.Contains(err.Error(), "pids/job/cgroup.procs") {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if hasFile(m.dir, "pids/job") {
		t.Error("an empty group is left")
	}
}

// TestRealLimits has processes run into the limits of their group.
func TestRealLimits(t *testing.T) {
	t.Parallel()
	parent, ok := parents(t)["as found"]
	if !ok || parent.Memory == "" && !hasFile(parent.Unified, "memory.max") {
		t.Skip("the groups of this machine have no limits here")
	}
	g := parent.Child("job")
	if err := errors.Join(g.Make(), g.Limit(cgroup.Limits{MemoryMB: 32, Processes: 8})); err != nil {
		t.Fatal(err)
	}
	said, wait := run(t, g, `for i in 1 2 3 4 5 6 7 8 9 10; do sleep 60 >/dev/null 2>&1 & done; wait`)
	if err := wait(); err == nil || !strings.Contains(strings.ToLower(said.String()), "fork") {
		t.Errorf("ten processes are started: %v, %s", err, said)
	}
	if g.OutOfMemory() {
		t.Error("it is out of memory")
	}
	if err := g.End(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Make(), g.Limit(cgroup.Limits{MemoryMB: 32})); err != nil {
		t.Fatal(err)
	}
	_, wait = run(t, g, `head -c 200000000 /dev/zero | tail | wc -c; exit 0`)
	if err := wait(); err != nil {
		t.Error(err)
	}
	if !g.OutOfMemory() {
		t.Error("it is not out of memory")
	}
}

func hasFile(dir, name string) bool {
	var st unix.Stat_t
	return dir != "" && unix.Stat(filepath.Join(dir, name), &st) == nil
}
