package process

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// findEnded is the pid of a child that has ended and is not reaped, 0 when there
// is none. The error is ECHILD when there are no children.
func findEnded() (pid int, err error) {
	var info unix.Siginfo
	if err = unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); err != nil {
		return 0, err
	}
	// The library does not name si_pid: it comes behind three ints, aligned as a
	// pointer is.
	const behind = 12
	const align = unsafe.Sizeof(uintptr(0))
	const at = (behind + align - 1) &^ (align - 1)
	raw := (*[unsafe.Sizeof(info)]byte)(unsafe.Pointer(&info))   //nolint:gosec // within its size
	return int(int32(binary.NativeEndian.Uint32(raw[at:]))), nil //nolint:gosec // it is a signed number
}
