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

// listen opens the socket for everybody on the machine. What a dead peer left is
// replaced.
func listen(ctx context.Context, socket string) (net.Listener, error) {
	if err := removeStale(ctx, socket); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("api socket: %w; its folder must exist and belong to the account of the peer", err)
	}
	if err = os.Chmod(socket, 0o666); err != nil { //nolint:gosec // for every local user; the kernel tells who
		return nil, errors.Join(fmt.Errorf("api socket: %w", err), listener.Close())
	}
	return listener, nil
}

// removeStale removes a socket that nobody serves.
func removeStale(ctx context.Context, socket string) error {
	info, err := os.Lstat(socket)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("api socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("api socket: %s is there and is no socket; move it away or name another path", socket)
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err == nil {
		return errors.Join(fmt.Errorf("another peer serves this socket: %s; stop it or name another path", socket),
			conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("api socket: %s is there, and whether a peer serves it could not be found out: %w; remove it if no peer runs, or name another path",
			socket, err)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("api socket: remove what a dead peer left: %w", err)
	}
	return nil
}
