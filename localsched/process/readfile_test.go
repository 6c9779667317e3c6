package process_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/process"
)

// TestReadFile: a part of a file is read with the rights of the account, and nothing but a file.
func TestReadFile(t *testing.T) {
	t.Parallel()
	d, dir, account := &process.Deliverer{Shim: shimCommand}, homeDir(t), jobAccount(t)
	path := filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		offset int64
		size   int
		want   string
	}{{0, 4, "0123"}, {4, 100, "456789"}, {10, 5, ""}, {99, 5, ""}} {
		if got, err := d.ReadFile(t.Context(), account, path, c.offset, c.size); err != nil || string(got) != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	link, fifo, own := filepath.Join(dir, "link"), filepath.Join(dir, "fifo"), filepath.Join(dir, "own")
	if err := errors.Join(os.Symlink("out", link), unix.Mkfifo(fifo, 0o644), os.WriteFile(own, []byte("secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, err := d.ReadFile(t.Context(), account, link, 0, 2); err != nil || string(got) != "01" {
		t.Errorf("through a link: %q, %v", got, err)
	}
	if got, err := d.ReadFile(t.Context(), account, filepath.Join(dir, "none"), 0, 2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %q, %v", got, err)
	}
	for _, other := range []string{fifo, dir, "/dev/zero", "out"} {
		if got, err := d.ReadFile(t.Context(), account, other, 0, 2); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", other, got, err)
		}
	}
	if os.Geteuid() == 0 { // only then the account is another
		if got, err := d.ReadFile(t.Context(), account, own, 0, 2); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("root's file: %q", got)
		}
	}
}
