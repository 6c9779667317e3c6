package cgroup_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
)

// What machines say of their hierarchies.
const (
	mountsV2 = `22 27 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`
	mountsV1 = `24 23 0:22 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755
30 24 0:27 / /sys/fs/cgroup/systemd rw,nosuid shared:11 - cgroup cgroup rw,xattr,name=systemd
33 24 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:15 - cgroup cgroup rw,cpu,cpuacct
34 24 0:31 / /sys/fs/cgroup/memory rw,nosuid shared:16 - cgroup cgroup rw,memory
35 24 0:32 / /sys/fs/cgroup/pids rw,nosuid shared:17 - cgroup cgroup rw,pids
`
	mountsHybrid = mountsV1 + `31 24 0:28 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw
`
	mountsContainer = `713 700 0:29 /docker/0a1b /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory
714 700 0:30 /docker/0a1b /mnt/with\040blank\134 rw,nosuid - cgroup cgroup rw,pids
`
)

func TestWhereGroupsAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mounts, controller, group, want string }{
		{mountsV2, "", "/system.slice/switchyard.service", "/sys/fs/cgroup/system.slice/switchyard.service"},
		{mountsV2, "", "/", "/sys/fs/cgroup"},
		{mountsV2, "memory", "/", "none"},
		{mountsV1, "memory", "/user.slice", "/sys/fs/cgroup/memory/user.slice"},
		{mountsV1, "cpuacct", "/a", "/sys/fs/cgroup/cpu,cpuacct/a"},
		{mountsV1, "name=systemd", "/a", "/sys/fs/cgroup/systemd/a"},
		{mountsV1, "freezer", "/a", "none"},
		{mountsV1, "", "/a", "none"},
		{mountsHybrid, "", "/a", "/sys/fs/cgroup/unified/a"},
		{mountsHybrid, "pids", "/a", "/sys/fs/cgroup/pids/a"},
		{mountsContainer, "memory", "/docker/0a1b/x", "/sys/fs/cgroup/memory/x"},
		{mountsContainer, "memory", "/docker/0a1b", "/sys/fs/cgroup/memory"},
		{mountsContainer, "memory", "/docker/0a1bc", ""},
		{mountsContainer, "memory", "/", ""},
		{mountsContainer, "pids", "/docker/0a1b", `/mnt/with blank\`},
		{"", "memory", "/", "none"},
		{"29 23 0:26 / /sys/fs/cgroup rw", "", "/", "error: line \"29 23 0:26 / /sys/fs/cgroup rw\" is not of a mountinfo"},
	} {
		if got := cgroup.DirOf(c.mounts, c.controller, c.group); got != c.want {
			t.Errorf("%s of %q is at %q, want %q, in\n%s", c.group, c.controller, got, c.want, c.mounts)
		}
	}
}

func TestParseOwn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0::/system.slice/switchyard.service\n":                        "=/system.slice/switchyard.service",
		"12:cpu,cpuacct:/a\n4:memory:/b:c\n1:name=systemd:/d\n0::/e\n": "=/e cpu=/a cpuacct=/a memory=/b:c name=systemd=/d",
		"":                    "",
		"0:/system.slice\n":   "error",
		"4:memory:relative\n": "error",
		"nonsense":            "error",
	} {
		got, err := cgroup.ParseOwn(text)
		if err != nil {
			got = []string{"error"}
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%q is read as %q, want %q", text, all, want)
		}
	}
}

func TestParseSmallFiles(t *testing.T) {
	t.Parallel()
	events := "low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\n"
	old := "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"
	for _, c := range []struct {
		text, name string
		want       int64
	}{{events, "oom_kill", 1}, {old, "oom_kill", 3}, {events, "oom_group_kill", 0}, {"oom_kill x\n", "oom_kill", 0}, {"", "oom", 0}} {
		if got := cgroup.CountOf(c.text, c.name); got != c.want {
			t.Errorf("%s is %d in %q, want %d", c.name, got, c.text, c.want)
		}
	}
	if got := cgroup.ParsePIDs("12\n0\n1\n-5\nx\n77\n"); !slices.Equal(got, []int{12, 77}) {
		t.Errorf("the processes are %v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(mountsHybrid, "0::/a\n4:memory:/b\n")
	f.Add(mountsContainer, "4:memory:/docker/0a1b\n")
	f.Fuzz(func(t *testing.T, mounts, own string) {
		all, err := cgroup.ParseOwn(own)
		if err == nil && len(all) > strings.Count(own, ",")+strings.Count(own, "\n")+1 {
			t.Errorf("%d groups in %q", len(all), own)
		}
		for _, controller := range []string{"", "memory"} {
			cgroup.DirOf(mounts, controller, "/a/b")
		}
		cgroup.CountOf(own, "oom_kill")
		for _, pid := range cgroup.ParsePIDs(own) {
			if pid < 2 {
				t.Errorf("process %d in %q", pid, own)
			}
		}
	})
}
