package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
	dir, old := openController(mounts, own, where, name)
	if old == nil {
		f.Parent.Devices = dir
		return f, ""
	}
	if dir, err = openFilter(mounts, own, f.Parent, where, name); err != nil {
		return f, fmt.Sprintf("with cgroup v1: %v; with cgroup v2: %v", old, err)
	}
	f.Parent.Filter = dir
	return f, ""
}

// openController makes the parent in the hierarchy of the controller devices of cgroup v1.
func openController(mounts []mount, own map[string]string, where, name string) (dir string, err error) {
	m, ok := hierarchy(mounts, "devices")
	if dir = m.dir(groupAt(where, own["devices"])); !ok || dir == "" {
		return "", errors.New("the machine has no hierarchy devices")
	}
	dir = filepath.Join(dir, name)
	if err = os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as all groups are
		return "", err
	}
	if err = unix.Access(filepath.Join(dir, "devices.deny"), unix.W_OK); err != nil {
		_ = unix.Rmdir(dir)
		return "", fmt.Errorf("the peer may not write to %s: %w", filepath.Join(dir, "devices.deny"), err)
	}
	return dir, nil
}

// ClosesDevices says whether [Group.CloseDevices] has an effect.
func (g Group) ClosesDevices() bool { return g.Devices != "" || g.Filter != "" }

// CloseDevices keeps the processes of the group from opening device files, by the devices that these
// stand for, and returns those that are closed. What cannot be closed is an error. A group that closes
// none does nothing.
func (g Group) CloseDevices(files []string) (closed []string, failed error) {
	if !g.ClosesDevices() {
		return nil, nil
	}
	var devices []device
	for _, file := range files {
		one, err := deviceOf(file)
		if err == nil && g.Devices != "" {
			err = write(filepath.Join(g.Devices, "devices.deny"), one.rule())
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("close the device %s: %w", file, err))
		} else {
			closed, devices = append(closed, file), append(devices, one)
		}
	}
	if g.Filter == "" || len(devices) == 0 {
		return closed, failed
	}
	program, err := attachFilter(g.Filter, devices)
	if err != nil {
		return nil, errors.Join(failed, fmt.Errorf("close the devices %s: %w", strings.Join(closed, ", "), err))
	}
	return closed, errors.Join(failed, program.Close()) // it stays with the group
}

// device is a device as the kernel numbers it.
type device struct {
	block        bool // or of characters
	major, minor uint32
}

// deviceOf is the device that a file stands for.
func deviceOf(file string) (device, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return device{}, err
	case info.Mode()&fs.ModeDevice == 0:
		return device{}, errors.New("it is not a device file")
	}
	var st unix.Stat_t
	if err = unix.Stat(file, &st); err != nil {
		return device{}, err
	}
	return device{info.Mode()&fs.ModeCharDevice == 0, unix.Major(st.Rdev), unix.Minor(st.Rdev)}, nil
}

// rule names the device in the words of the controller devices, for reading, writing and making files of it.
func (d device) rule() string {
	kind := "c"
	if d.block {
		kind = "b"
	}
	return fmt.Sprintf("%s %d:%d rwm", kind, d.major, d.minor)
}
