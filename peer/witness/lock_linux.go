package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// Acquire takes the lock of a site's key for the peer with a state directory. The error is a
// *[HeldError] when another peer has it. A holder of another account, who is not root, is no
// peer of this site: any process may take any name. The lock is then nil, and warning says so.
func Acquire(ctx context.Context, publicKey, stateDir string) (lock *Lock, warning string, err error) {
	for attempt := 1; ; attempt++ {
		var gone bool
		if lock, warning, gone, err = acquire(ctx, publicKey, stateDir); !gone || attempt == attempts {
			return lock, warning, err
		}
	}
}

// attempts bounds how often a holder may end while it is asked who it is.
const attempts = 3

// acquire is one attempt of [Acquire]. Gone says that the holder ended meanwhile: a process that it was starting has its socket until
// it is another program.
func acquire(ctx context.Context, publicKey, stateDir string) (lock *Lock, warning string, gone bool, err error) {
	name := "@switchyard/" + publicKey
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", name)
	if err == nil {
		l := &Lock{listener: listener, words: fmt.Sprintf("pid %d, state_dir %s", os.Getpid(), stateDir)}
		go l.serve()
		return l, "", false, nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, "", false, fmt.Errorf("lock of the site's key: %w", err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", name)
	if err != nil { // a peer that runs always listens; and anybody may take any name
		return &Lock{}, fmt.Sprintf("a process that does not answer keeps the name of this site's lock %s: %v; stop it", name, err), errors.Is(err, syscall.ECONNREFUSED), nil
	}
	defer func() { _ = conn.Close() }()
	cred, err := credentials(conn)
	if err != nil {
		return nil, "", false, fmt.Errorf("lock of the site's key: %w", err)
	}
	if cred.Uid != 0 && int(cred.Uid) != os.Geteuid() {
		return &Lock{}, fmt.Sprintf("user id %d, process %d, keeps the name of this site's lock %s; stop that process", cred.Uid, cred.Pid, name), false, nil
	}
	holder, err := holderOf(conn)
	if err != nil {
		holder = fmt.Sprintf("it does not say who it is (%v)", err)
	}
	return nil, "", errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET), &HeldError{Holder: holder}
}

// credentials are who listens at the other end.
func credentials(conn net.Conn) (*syscall.Ucred, error) {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("%T is no unix socket", conn)
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *syscall.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	return cred, errors.Join(err, credErr)
}

func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
