package results_test

import (
	"io"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPackLeavesRoom: what goes with a job does not take the last of the disk, and nothing of it stays then.
func TestPackLeavesRoom(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=70m"); err != nil {
		t.Skip("cannot mount a small disk:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	d := &results.Dir{Path: filepath.Join(disk, "kept")}
	err := d.Pack(7, &protocol.Staging{Bytes: 8 << 20}, func(w io.Writer) error {
		_, err := io.Copy(w, io.LimitReader(zeros{}, 8<<20))
		return err
	})
	if found := names(t, d); !localdisk.Full(err) || len(found) > 0 {
		t.Errorf("%q, %v", found, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
