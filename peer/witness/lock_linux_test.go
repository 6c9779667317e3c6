package witness_test

import (
	"net"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/witness"
)

// TestALockOfAPeerThatEnds: a peer that ends while it is asked who it is leaves its lock to the next one. So does one that has ended, and
// whose socket a process that it was starting still had.
func TestALockOfAPeerThatEnds(t *testing.T) {
	t.Parallel()
	const name = "UENDS"
	holder, err := new(net.ListenConfig).Listen(t.Context(), "unix", "@switchyard/"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Close() })
	go func() {
		conn, failed := holder.Accept()
		_ = holder.Close()
		if failed == nil {
			_ = conn.Close()
		}
	}()
	lock, warning, err := witness.Acquire(t.Context(), name, "/srv/two")
	if err != nil || warning != "" {
		t.Fatalf("%q, %v", warning, err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	if second, words, err := witness.Acquire(t.Context(), name, "/srv/one"); err == nil {
		t.Errorf("two peers have the lock: %v, %q", second, words)
	}
}
