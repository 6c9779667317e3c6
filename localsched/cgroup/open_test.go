package cgroup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
)

// machine is a directory that looks like a machine's /proc and hierarchies.
type machine struct {
	t   *testing.T
	dir string
}

func newMachine(t *testing.T, own, mountinfo string) machine {
	t.Helper()
	m := machine{t, t.TempDir()}
	m.put("proc/self/cgroup", own)
	m.put("proc/self/mountinfo", strings.ReplaceAll(mountinfo, "/sys/fs/cgroup", filepath.Join(m.dir, "sys")))
	return m
}

func (m machine) put(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) open(where string) (parent, lacks string) {
	found := cgroup.OpenAt(filepath.Join(m.dir, "proc"), where, "switchyard.north")
	return strings.ReplaceAll(found.Parent.String(), m.dir+"/", ""), strings.ReplaceAll(found.Lacks, m.dir+"/", "")
}

// delegated gives a group of version 2 both controllers.
func (m machine) delegated(group string) {
	for _, dir := range []string{group, filepath.Join(group, "switchyard.north")} {
		m.put(filepath.Join(dir, "cgroup.controllers"), "cpu memory pids")
		m.put(filepath.Join(dir, "cgroup.subtree_control"), "memory pids")
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	const unit = "sys/system.slice/switchyard.service"
	for name, c := range map[string]struct {
		own, mounts, where string
		prepare            func(m machine)
		parent, lacks      string
	}{
		"v2, delegated, the peer in a group of its own": {
			"0::/system.slice/switchyard.service/peer\n", mountsV2, cgroup.Own,
			func(m machine) { m.delegated(unit); m.put(unit+"/cgroup.procs", "") }, unit + "/switchyard.north", "",
		},
		"v2, without the controller memory": {
			"0::/system.slice/switchyard.service\n", mountsV2, cgroup.Own,
			func(m machine) { m.put(unit+"/cgroup.controllers", "pids"); m.put(unit+"/cgroup.procs", "") }, unit + "/switchyard.north",
			"does not have the controller memory; let systemd give the peer a group of its own (Delegate=yes",
		},
		"v2, a group that is named": {
			"0::/user.slice\n", mountsV2, "/switchyard",
			func(m machine) { m.delegated("sys/switchyard"); m.put("sys/cgroup.procs", "") }, "sys/switchyard/switchyard.north", "",
		},
		"v2, a group that is named, and no right to the one above it and the peer's": {
			"0::/user.slice/peer\n", mountsV2, "/user.slice/switchyard",
			func(m machine) {
				m.delegated("sys/user.slice/switchyard")
				m.put("sys/user.slice/cgroup.procs/not-a-file", "")
			}, "",
			"the peer is in sys/user.slice/peer and may not move jobs from there to groups below" +
				" sys/user.slice/switchyard/switchyard.north: open sys/user.slice/cgroup.procs: is a directory; give its account",
		},
		"v2, in a group whose name begins as that of the peer": {
			"0::/a/b\n", mountsV2, "/a/bc", func(m machine) { m.put("sys/a/b/cgroup.procs", "") }, "", "open sys/a/cgroup.procs: no such file",
		},
		"v1 beside a v2 in which jobs cannot be moved": {
			"5:pids:/a\n4:memory:/b\n0::/c\n", mountsHybrid, "/d", func(machine) {},
			"sys/memory/d/switchyard.north, sys/pids/d/switchyard.north", "",
		},
		"v1": {
			"5:pids:/a\n4:memory:/b\n", mountsV1, cgroup.Own, func(machine) {},
			"sys/memory/b/switchyard.north, sys/pids/a/switchyard.north", "",
		},
		"hybrid, with the controllers in version 1": {
			"5:pids:/a\n4:memory:/b\n0::/c\n", mountsHybrid, cgroup.Own, func(machine) {},
			"sys/memory/b/switchyard.north, sys/pids/a/switchyard.north", "",
		},
		"v1 without pids": {
			"4:memory:/b\n", strings.ReplaceAll(mountsV1, "pids", "devices"), cgroup.Own, func(machine) {},
			"sys/memory/b/switchyard.north", "the machine has no hierarchy pids",
		},
		"none mounted": {"0::/\n", "", cgroup.Own, func(machine) {}, "", "no cgroups: no hierarchy is mounted"},
		"not allowed": {
			"0::/a\n", mountsV2, cgroup.Own, func(m machine) { m.put("sys/a", "a file") }, "", "no cgroups: mkdir sys/a: not a directory",
		},
		"none wanted": {"0::/\n", mountsV2, cgroup.None, func(machine) {}, "", "no cgroups, as configured"},
	} {
		m := newMachine(t, c.own, c.mounts)
		c.prepare(m)
		parent, lacks := m.open(c.where)
		if parent != c.parent || !strings.Contains(lacks, c.lacks) || (lacks == "") != (c.lacks == "") {
			t.Errorf("%s: got %q, %q, want %q, %q", name, parent, lacks, c.parent, c.lacks)
		}
	}
}

// TestLimits has the limits written to a group of version 2.
func TestLimits(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "", "")
	for _, name := range []string{"memory.max", "memory.swap.max", "pids.max"} {
		m.put("job/"+name, "max\n")
	}
	g := cgroup.Group{Unified: filepath.Join(m.dir, "job")}
	if err := g.Limit(cgroup.Limits{MemoryMB: 2048, Processes: 77}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"memory.max": "2147483648", "memory.swap.max": "0", "pids.max": "77"} {
		if got, err := os.ReadFile(filepath.Join(m.dir, "job", name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	m.put("job/memory.events", "oom 1\noom_kill 1\n")
	if !g.OutOfMemory() || (cgroup.Group{}).OutOfMemory() {
		t.Error("who ran out of memory is not known")
	}
}
