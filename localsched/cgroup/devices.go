package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WithDevices has the groups below the parent close devices, too. The arguments are those of [Open].
// The parent stays as it is if that is not possible, and lacks says why, for people.
func (f Found) WithDevices(where, name string) (with Found, lacks string) {
	return f.withDevices("/proc", where, name)
}

func (f Found) withDevices(proc, where, name string) (with Found, lacks string) {
	if f.Parent == (Group{}) {
		return f, "jobs have no cgroups"
	}
	own, mounts, err := look(proc)
	if err != nil {
		return f, err.Error()
	}
	m, ok := hierarchy(mounts, "devices")
	dir := m.dir(groupAt(where, own["devices"]))
	if !ok || dir == "" {
		return f, "the machine has no hierarchy devices of cgroup v1"
	}
	dir = filepath.Join(dir, name)
	if err = os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as all groups are
		return f, err.Error()
	}
	if err = unix.Access(filepath.Join(dir, "devices.deny"), unix.W_OK); err != nil {
		_ = unix.Rmdir(dir)
		return f, fmt.Sprintf("the peer may not write to %s: %v", filepath.Join(dir, "devices.deny"), err)
	}
	f.Parent.Devices = dir
	return f, ""
}

// ClosesDevices says whether [Group.CloseDevices] has an effect.
func (g Group) ClosesDevices() bool { return g.Devices != "" }

// CloseDevices keeps the processes of the group from opening device files, by the devices that these
// stand for, and returns those that are closed. What cannot be closed is an error. A group that closes
// none does nothing.
func (g Group) CloseDevices(files []string) (closed []string, failed error) {
	if !g.ClosesDevices() {
		return nil, nil
	}
	for _, file := range files {
		rule, err := deviceRule(file)
		if err == nil {
			err = write(filepath.Join(g.Devices, "devices.deny"), rule)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("close the device %s: %w", file, err))
		} else {
			closed = append(closed, file)
		}
	}
	return closed, failed
}

// deviceRule names the device of a file in the words of the kernel, for reading, writing and making
// files of it.
func deviceRule(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	kind := "b"
	switch {
	case info.Mode()&fs.ModeDevice == 0:
		return "", errors.New("it is not a device file")
	case info.Mode()&fs.ModeCharDevice != 0:
		kind = "c"
	}
	var st unix.Stat_t
	if err = unix.Stat(file, &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d:%d rwm", kind, unix.Major(st.Rdev), unix.Minor(st.Rdev)), nil
}
