package api

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// uidOf asks the kernel who opened the connection.
func uidOf(conn net.Conn) (int, error) {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, fmt.Errorf("%T is not a Unix socket", conn)
	}
	raw, err := local.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return 0, fmt.Errorf("peer credentials: %w", err)
	}
	return int(cred.Uid), nil
}
