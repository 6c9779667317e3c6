package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// manager is a service manager's end of the notification socket.
func manager(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(shortDir(t), "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return path, func() string {
		message := make([]byte, 100)
		n, err := conn.Read(message)
		if err != nil {
			t.Error(err)
		}
		return string(message[:n])
	}
}

func TestNotifierReportsToTheManager(t *testing.T) {
	t.Parallel()
	path, next := manager(t)
	env := map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": "7"}
	n := ManagerOf(func(name string) string { return env[name] }, 7)
	n.say(t.Context(), "READY=1")
	if got := next(); got != "READY=1" {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int32
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.watch(ctx, func(context.Context) error {
			if asked.Add(1) < 3 {
				return errors.New("not well")
			}
			return nil
		})
	}()
	if got := next(); got != "WATCHDOG=1" || asked.Load() < 3 {
		t.Errorf("got %q after %d questions", got, asked.Load())
	}
	cancel()
	<-ended
}

func TestNotifierIsSilentWithoutAManager(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{
		{},
		{"WATCHDOG_USEC": "2000"},
		{"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "x"},
		{"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "2000", "WATCHDOG_PID": "8"},
	} {
		n := ManagerOf(func(name string) string { return env[name] }, 7)
		n.say(t.Context(), "READY=1")
		n.watch(t.Context(), func(context.Context) error { // returns at once
			t.Error("asked for nobody")
			return nil
		})
	}
}

// shortDir is a directory with a path short enough for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sy") //nolint:usetesting // that of the test is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
