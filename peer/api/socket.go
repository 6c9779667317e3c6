package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// listen opens the socket for all users of the machine. What a dead peer left is
// replaced.
func listen(ctx context.Context, socket string) (net.Listener, error) {
	if err := removeStale(ctx, socket); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("api socket: %w; its directory must exist and belong to the account of the peer", err)
	}
	if err = os.Chmod(socket, 0o666); err != nil { //nolint:gosec // for every local user; the kernel tells who
		return nil, errors.Join(fmt.Errorf("api socket: %w", err), listener.Close())
	}
	return listener, nil
}

// removeStale removes a socket that no process serves.
func removeStale(ctx context.Context, socket string) error {
	info, err := os.Lstat(socket)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("api socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("api socket: %s exists and is not a socket; move it away or set another path", socket)
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err == nil {
		return errors.Join(fmt.Errorf("another peer serves the socket %s; stop it or set another path", socket),
			conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("api socket %s exists and cannot be tested: %w; remove it if no peer is running, or set another path",
			socket, err)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("api socket: remove the socket of an earlier peer: %w", err)
	}
	return nil
}
