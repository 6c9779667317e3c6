package localqueue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// What cannot be kept for want of room says where and how much.
func TestNoRoomForTheMachine(t *testing.T) {
	const size = 1 << 20
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("needs the right to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	_ = os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, size), 0o600) // as much of it as there is room for
	err := saveMachine(filepath.Join(dir, "machine.json"), localsched.Description{Capacity: protocol.Capacity{CPUs: 1}})
	if err == nil || !strings.Contains(err.Error(), "file system mounted at "+dir) || !strings.Contains(err.Error(), "bytes are needed") {
		t.Errorf("got %v", err)
	}
}
