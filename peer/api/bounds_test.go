package api_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// TestConnectionsOfOneUser opens as many mute connections as a user may have: the next one is
// told so, those far beyond are closed, and all is well when they are gone.
func TestConnectionsOfOneUser(t *testing.T) {
	t.Parallel()
	client := serve(t, &peerFake{reply: view.Sites{}})
	var mute []net.Conn
	open := func(n int) {
		for range n {
			conn, err := new(net.Dialer).DialContext(t.Context(), "unix", client.Socket())
			if err != nil {
				t.Fatal(err)
			}
			mute = append(mute, conn)
		}
	}
	open(api.MaxConns)
	_, err := client.Sites(t.Context())
	if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Code != view.Unavailable || !strings.Contains(refused.Reason, "connections to the peer are open for your account") {
		t.Errorf("with all connections taken: %v", err)
	}
	open(api.Spare + 1)
	last := mute[len(mute)-1]
	if err = last.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err = last.Read(make([]byte, 1)); err == nil || errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "timeout") {
		t.Errorf("a connection far beyond the bound: %v", err)
	}
	for _, conn := range mute {
		_ = conn.Close()
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err = client.Sites(t.Context()); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after they were closed: %v", err)
		}
	}
}
