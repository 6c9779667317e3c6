package localdisk_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestSparing writes to a disk that others fill too: the last of it stays free.
func TestSparing(t *testing.T) {
	dir := t.TempDir()
	const mega = 1 << 20
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=90m"); err != nil {
		t.Skip("cannot mount a small disk:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	if err := localdisk.Room(dir, 26*mega); err != nil {
		t.Error(err)
	}
	tight, ok := errors.AsType[*localdisk.NoRoomError](localdisk.Room(dir, 27*mega))
	if !ok || !localdisk.Full(tight) || tight.Free != 90*mega || tight.Need != 27*mega {
		t.Errorf("%+v", tight)
	}
	for _, others := range []int{0, 30 * mega} {
		if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, others), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(localdisk.Sparing(file, dir), io.LimitReader(zeros{}, 40*mega))
		room := max(0, int64(26*mega-others))
		if !localdisk.Full(err) || n > room || n < room-mega {
			t.Errorf("beside %d bytes of others %d are written: %v", others, n, err)
		}
		if err = errors.Join(file.Close(), os.Remove(file.Name())); err != nil {
			t.Fatal(err)
		}
	}
}
