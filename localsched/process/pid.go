package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processID names a process for good: pids come again, in a day or after a
// restart of the machine.
type processID struct {
	Boot      string `json:"boot,omitempty"`
	PID       int    `json:"pid,omitempty"`
	StartTime uint64 `json:"pid_start,omitempty"` // in clock ticks since the boot
}

// errGone says that a process has ended.
var errGone = errors.New("the process is gone")

// self is this process.
func self() (processID, error) {
	boot, err := bootID()
	if err != nil {
		return processID{}, err
	}
	stat, err := readStat(os.Getpid())
	if err != nil {
		return processID{}, err
	}
	return processID{Boot: boot, PID: os.Getpid(), StartTime: stat.startTime}, nil
}

func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data)), err
}

// open gets a hold of the process. The error wraps errGone when it has ended.
func (p processID) open() (*handle, error) {
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	if p.PID < 1 || boot != p.Boot {
		return nil, errGone
	}
	h, stat, err := openPID(p.PID)
	if err != nil {
		return nil, err
	}
	if stat.startTime != p.StartTime {
		return nil, errors.Join(errGone, h.Close())
	}
	return h, nil
}

// handle is a hold of one process, which no other process can take over.
type handle struct{ *os.File }

// openPID gets a hold of the process that has this pid now. What stat says is
// about that process or about a later one, and then it differs.
func openPID(pid int) (*handle, stat, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, stat{}, errGone
	}
	if err != nil {
		return nil, stat{}, fmt.Errorf("pidfd_open of process %d (Linux 5.4 or later is needed): %w", pid, err)
	}
	h, err := newHandle(fd)
	if err != nil {
		return nil, stat{}, err
	}
	st, err := readStat(pid)
	if err != nil {
		return nil, stat{}, errors.Join(errGone, h.Close())
	}
	return h, st, nil
}

// newHandle takes a pidfd. What does not block, Go's scheduler waits for, and no
// thread.
func newHandle(fd int) (*handle, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return &handle{os.NewFile(uintptr(fd), "pidfd")}, nil
}

// wait returns when the process has ended, nil, or the handle was closed. A child
// of this process is then reaped.
func (h *handle) wait() error {
	conn, err := h.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(fd uintptr) bool {
		set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // file descriptors are small
		n, err := unix.Poll(set, 0)
		if err != nil || n == 0 {
			return false
		}
		// Not a child: ECHILD, and somebody else reaps it.
		_ = unix.Waitid(unix.P_PIDFD, int(fd), nil, unix.WEXITED|unix.WNOHANG, nil)
		return true
	})
}

// signal sends a signal. To a process that has ended it is no error.
func (h *handle) signal(sig unix.Signal) (err error) {
	conn, err := h.SyscallConn()
	if err != nil {
		return err
	}
	ctl := conn.Control(func(fd uintptr) {
		err = unix.PidfdSendSignal(int(fd), sig, nil, 0)
	})
	if errors.Is(err, unix.ESRCH) {
		err = nil
	}
	return errors.Join(ctl, err)
}

// stat is what /proc/<pid>/stat says of interest, proc_pid_stat(5).
type stat struct {
	ended           bool // and not reaped yet
	parent, session int
	startTime       uint64
}

func readStat(pid int) (stat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(data))
}

// parseStat counts fields from behind the command's name, which may hold spaces
// and brackets.
func parseStat(line string) (st stat, err error) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	const state, started = 3, 22 // numbers of fields
	if len(fields) <= started-state {
		return stat{}, fmt.Errorf("process stat %.60q has too few fields", line)
	}
	parent, err1 := strconv.Atoi(fields[4-state])
	session, err2 := strconv.Atoi(fields[6-state])
	start, err3 := strconv.ParseUint(fields[started-state], 10, 64)
	if err = errors.Join(err1, err2, err3); err != nil {
		return stat{}, fmt.Errorf("process stat %.60q: %w", line, err)
	}
	ended := fields[0] == "Z" || fields[0] == "X"
	return stat{ended: ended, parent: parent, session: session, startTime: start}, nil
}

// killWhere kills every living process that matches and says how many there were.
func killWhere(match func(stat) bool) (killed int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, f := range entries {
		pid, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		if st, err := readStat(pid); err == nil && !st.ended && match(st) && signalIf(pid, match, unix.SIGKILL) {
			killed++
		}
	}
	return killed
}

// signalDescendants signals every process that descends from one, but for the one that is spared.
func signalDescendants(of, spared int, sig unix.Signal) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	all := map[int]stat{}
	for _, f := range entries {
		if pid, err := strconv.Atoi(f.Name()); err == nil {
			if st, err := readStat(pid); err == nil {
				all[pid] = st
			}
		}
	}
	for pid, st := range all {
		if pid != spared && descends(all, pid, of) {
			signalIf(pid, func(now stat) bool { return now.startTime == st.startTime }, sig)
		}
	}
}

// descends says whether a process descends from another. They were read one after another, so that
// the parents of one need not have an end.
func descends(all map[int]stat, pid, from int) bool {
	for range all {
		st, known := all[pid]
		if !known || st.parent == from {
			return known
		}
		pid = st.parent
	}
	return false
}

// signalIf signals the process if it matches also once it is held.
func signalIf(pid int, match func(stat) bool, sig unix.Signal) bool {
	h, st, err := openPID(pid)
	if err != nil {
		return false
	}
	matches := match(st)
	if matches {
		_ = h.signal(sig) // it may end by itself meanwhile
	}
	return h.Close() == nil && matches
}

// killSession kills what a dead shim left: all of the session that it led. While
// a process of the session lives, the kernel gives its number to no other.
func killSession(shim processID) {
	if boot, err := bootID(); err != nil || boot != shim.Boot || shim.PID < 2 {
		return
	}
	if st, err := readStat(shim.PID); err == nil && st.startTime != shim.StartTime {
		return
	}
	const rounds = 10 // those that fork meanwhile are found in the next
	for range rounds {
		if killWhere(func(st stat) bool { return st.session == shim.PID }) == 0 {
			return
		}
	}
}
