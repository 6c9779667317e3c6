package cgroup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
)

// realV2 is where this machine has cgroup v2, alone or beside v1.
func realV2(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if hasFile(dir, "cgroup.procs") && hasFile(dir, "cgroup.controllers") {
			return dir
		}
	}
	t.Skip("this machine has no cgroup v2")
	return ""
}

// deviceFile makes a file of a character device.
func deviceFile(t *testing.T, path string, major, minor uint32) {
	t.Helper()
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(major, minor))); err != nil {
		t.Skipf("this machine does not let the tests make device files: %v", err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Skipf("this machine does not let the tests open device files: %v", err)
	}
	if err = file.Close(); err != nil {
		t.Error(err)
	}
}

// TestDevicesOfV2: where there is no controller devices, the program of a group of cgroup v2 keeps the processes of
// the group from the devices that are closed, and from no others, and lets no other group feel it. It
// needs nobody to keep it.
func TestDevicesOfV2(t *testing.T) {
	t.Parallel()
	unified := realV2(t)
	v2 := fmt.Sprintf("30 20 0:26 / %s rw - cgroup2 cgroup2 rw\n", unified)
	memory := "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 20 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
	for machine, mountinfo := range map[string]string{"v2": v2, "v1 without devices": v2 + memory} {
		if mountinfo != v2 && !hasFile("/sys/fs/cgroup/memory", "cgroup.procs") {
			continue
		}
		t.Run(machine, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, "2:memory:/\n1:pids:/\n0::/\n", "")
			m.put("proc/self/mountinfo", mountinfo)
			name := fmt.Sprintf("switchyard-test.%d.%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "."))
			proc := filepath.Join(m.dir, "proc")
			found, lacks := cgroup.OpenAt(proc, cgroup.Own, name).WithDevicesAt(proc, cgroup.Own, name)
			t.Cleanup(func() { _ = found.Parent.Remove() })
			if lacks != "" {
				t.Skip("this machine does not let the tests close devices: " + lacks)
			}
			closesDevices(t, found.Parent)
		})
	}
}

func closesDevices(t *testing.T, parent cgroup.Group) {
	t.Helper()
	dir := t.TempDir()
	given, other := filepath.Join(dir, "given"), filepath.Join(dir, "other")
	deviceFile(t, given, 1, 5) // zero
	deviceFile(t, other, 1, 7) // full
	with, without := parent.Child("with"), parent.Child("without")
	for _, g := range []cgroup.Group{with, without} {
		if err := g.Make(); err != nil {
			t.Fatal(err)
		}
	}
	closed, err := with.CloseDevices([]string{other, filepath.Join(dir, "absent")})
	if err == nil || !strings.Contains(err.Error(), "absent") || len(closed) != 1 || closed[0] != other || !with.ClosesDevices() {
		t.Fatalf("closed %q, error %v", closed, err)
	}
	script := fmt.Sprintf("for f in %s %s /dev/null; do (exec 3<$f) 2>&1 && echo opens $f; done; exit 0", given, other)
	said, wait := run(t, with, script)
	if err = wait(); err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf("opens %s\n", given)
	if got := said.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, other+": Operation not permitted") ||
		strings.Contains(got, "opens "+other) || !strings.HasSuffix(got, "opens /dev/null\n") {
		t.Errorf("a process with the filter says %q", got)
	}
	said, wait = run(t, without, script)
	if err = wait(); err != nil {
		t.Error(err)
	}
	if got := said.String(); !strings.Contains(got, "opens "+other) {
		t.Errorf("a process of another group says %q", got)
	}
	for _, g := range []cgroup.Group{with, without} {
		if err = g.End(time.Minute); err != nil {
			t.Error(err)
		}
	}
}
