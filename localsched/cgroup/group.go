package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Group is a control group: its directory in each hierarchy that is used. The zero Group is
// none.
type Group struct {
	Unified string `json:"unified,omitempty"` // of version 2
	Memory  string `json:"memory,omitempty"`  // of version 1, as those that follow
	Pids    string `json:"pids,omitempty"`
	Freezer string `json:"freezer,omitempty"`
	Devices string `json:"devices,omitempty"`
	Filter  string `json:"filter,omitempty"` // of version 2, whose program closes devices
}

// Limits are what the processes of a group may have together.
type Limits struct {
	MemoryMB  int64 // without swap; 0: any
	Processes int   // and threads; 0: any
}

// dirs lists the group's directories.
func (g Group) dirs() []string {
	var all []string
	for _, dir := range []string{g.Unified, g.Memory, g.Pids, g.Freezer, g.Devices, g.Filter} {
		if dir != "" && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

// Child is the group of that name below this one. There need not be one.
func (g Group) Child(name string) Group {
	below := func(dir string) string {
		if dir == "" {
			return ""
		}
		return filepath.Join(dir, name)
	}
	return Group{
		Unified: below(g.Unified), Memory: below(g.Memory), Pids: below(g.Pids), Freezer: below(g.Freezer),
		Devices: below(g.Devices), Filter: below(g.Filter),
	}
}

// Children lists the names of the groups below this one.
func (g Group) Children() (names []string) {
	for _, dir := range g.dirs() {
		for _, name := range below(dir) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func below(dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // it is gone, and what was below it
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Make makes the group, and the one above it should that have been removed. One that is
// there is an error: its processes are not this job's. After an error there is none of what
// it has made.
func (g Group) Make() error {
	var made []string
	for _, dir := range g.dirs() {
		err := os.Mkdir(dir, 0o755) //nolint:gosec // as all groups are
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.Join(restore(filepath.Dir(dir)), os.Mkdir(dir, 0o755)) //nolint:gosec // as all groups are
		}
		if err != nil {
			for _, other := range made {
				err = errors.Join(err, unix.Rmdir(other))
			}
			return fmt.Errorf("make a cgroup: %w", err)
		}
		made = append(made, dir)
	}
	return nil
}

// restore makes a parent of groups again, as [Open] has.
func restore(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // as all groups are
		return err
	}
	for _, controller := range controllers() {
		_ = enable(dir, controller) // version 1 has nothing to enable, and limits may be lacking, as was said
	}
	return nil
}

// Limit limits what the processes of the group may have together. What cannot be limited
// stays without a limit, and is an error.
func (g Group) Limit(limits Limits) error {
	var failed error
	if limits.Processes > 0 {
		for _, dir := range []string{g.Unified, g.Pids} {
			failed = errors.Join(failed, set(dir, "pids.max", strconv.Itoa(limits.Processes)))
		}
	}
	if limits.MemoryMB > 0 {
		bytes := strconv.FormatInt(limits.MemoryMB<<20, 10)
		failed = errors.Join(failed,
			set(g.Unified, "memory.max", bytes), set(g.Unified, "memory.swap.max", "0"),
			set(g.Memory, "memory.limit_in_bytes", bytes), set(g.Memory, "memory.memsw.limit_in_bytes", bytes))
	}
	if failed != nil {
		return fmt.Errorf("limit a cgroup: %w", failed)
	}
	return nil
}

// set writes a file of a group. Groups that do not have it, because the controller is not
// enabled or the kernel does not count swap, are left as they are.
func set(dir, name, value string) error {
	if dir == "" {
		return nil
	}
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return write(path, value)
}

// write writes one value to a file of the kernel, which takes it as a whole or says why not.
func write(path, value string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(value)
	return errors.Join(err, file.Close())
}

// Add puts a process into the group. What it starts from then on is in it, too. A hierarchy
// that does not take it is an error, and its part of the group is removed: the group that is
// returned has the others.
func (g Group) Add(pid int) (Group, error) {
	var failed error
	for _, dir := range g.dirs() {
		if err := write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			failed = errors.Join(failed, fmt.Errorf("put a process into its cgroup: %w", err), unix.Rmdir(dir))
			g = g.without(dir)
		}
	}
	return g, failed
}

// without is the group without one of its directories.
func (g Group) without(dir string) Group {
	for _, part := range []*string{&g.Unified, &g.Memory, &g.Pids, &g.Freezer, &g.Devices, &g.Filter} {
		if *part == dir {
			*part = ""
		}
	}
	return g
}

// OutOfMemory reports whether a process of the group was ended because there was no memory.
func (g Group) OutOfMemory() bool {
	for _, path := range []string{filepath.Join(g.Unified, "memory.events"), filepath.Join(g.Memory, "memory.oom_control")} {
		if text, err := os.ReadFile(path); err == nil && countOf(string(text), "oom_kill") > 0 {
			return true
		}
	}
	return false
}

// End kills all processes of the group, and waits until there are none, or for so long. No
// process can leave a group by itself, and none can be born in one that is being ended.
func (g Group) End(patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		if g.kill() == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes of the cgroup %s do not end within %v", g.dirs()[0], patience)
		}
		time.Sleep(pause)
	}
}

// kill kills what is in the group now, and says how many processes that were.
func (g Group) kill() (found int) {
	_ = set(g.Unified, "cgroup.kill", "1") // kernels before 5.14 do not have it
	_ = set(g.Unified, "pids.max", "0")
	_ = set(g.Pids, "pids.max", "0")
	if g.Pids == "" {
		_ = set(g.Freezer, "freezer.state", "FROZEN")
		defer func() { _ = set(g.Freezer, "freezer.state", "THAWED") }()
	}
	for _, dir := range g.dirs() {
		found += killIn(dir)
	}
	return found
}

// killIn kills the processes of a directory's group and of those below it.
func killIn(dir string) (found int) {
	for _, name := range below(dir) {
		found += killIn(filepath.Join(dir, name))
	}
	held := map[int]int{} // pidfds by pids
	for _, pid := range processes(dir) {
		const most = 256 // at a time
		if found++; len(held) < most {
			if fd, err := unix.PidfdOpen(pid, 0); err == nil {
				held[pid] = fd
			}
		}
	}
	// A number that is still in the group now that its process is held is not another's.
	still := processes(dir)
	for pid, fd := range held {
		if slices.Contains(still, pid) {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may have ended
		}
		_ = unix.Close(fd)
	}
	return found
}

func processes(dir string) []int {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil // the group is gone
	}
	return parsePIDs(string(text))
}

// Remove removes the group, in which there must be no process any more. That there is none
// is no error.
func (g Group) Remove() error {
	var failed error
	for _, dir := range g.dirs() {
		failed = errors.Join(failed, removeDir(dir))
	}
	return failed
}

func removeDir(dir string) error {
	for _, name := range below(dir) {
		if err := removeDir(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	// The kernel may still be clearing up after a process that has just ended.
	for pause := time.Millisecond; ; pause *= 2 {
		err := unix.Rmdir(dir)
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || pause > time.Second {
			if err != nil {
				return fmt.Errorf("remove the cgroup %s: %w", dir, err)
			}
			return nil
		}
		time.Sleep(pause)
	}
}

// Release removes a group that is empty. One with groups below it stays.
func (g Group) Release() {
	for _, dir := range g.dirs() {
		_ = unix.Rmdir(dir)
	}
}

// String names the group for people.
func (g Group) String() string { return strings.Join(g.dirs(), ", ") }
