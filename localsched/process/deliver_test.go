package process_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/switchyard-hpc/switchyard/localsched/process"
)

func put(t *testing.T, path string, r io.Reader) error {
	t.Helper()
	return (&process.Deliverer{Shim: shimCommand}).Deliver(t.Context(), jobAccount(t), path, r)
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	path := filepath.Join(dir, "out")
	long := strings.Repeat("a line\n", 100_000)
	for _, text := range []string{"first\n", "", long, "last\n"} {
		if err := put(t, path, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, path); got != text {
			t.Errorf("delivered %d bytes, got %d", len(text), len(got))
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if owner(info) != owner(home) {
		t.Errorf("the file belongs to uid %d", owner(info))
	}
	only(t, dir, "out")
}

// TestDeliverKeepsMode replaces a private file: it stays private, as it would if
// the job had run at home.
func TestDeliverKeepsMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(homeDir(t), "out")
	if err := put(t, path, strings.NewReader("first\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := put(t, path, strings.NewReader("second\n")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("the file's mode is %v now", got)
	}
}

func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if strings.Join(found, " ") != strings.Join(names, " ") {
		t.Errorf("the directory has %q, want %q", found, names)
	}
}

func TestDeliverThroughLink(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "data"), 0o777),
		os.Chmod(filepath.Join(dir, "data"), 0o777),
		os.WriteFile(filepath.Join(dir, "data", "file"), []byte("old"), 0o666),
		os.Symlink("data/file", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := put(t, filepath.Join(dir, "link"), strings.NewReader("new")); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, filepath.Join(dir, "data", "file")); got != "new" {
		t.Errorf("got %q", got)
	}
	if err := put(t, os.DevNull, strings.NewReader("new")); err != nil {
		t.Error(err)
	}
}

func TestDeliverForNothing(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		filepath.Join(dir, "no", "such", "dir"), "/proc/out", dir, "relative", "/dev/null/out",
		filepath.Join(dir, "pipe"), filepath.Join(dir, strings.Repeat("long", 100)),
	} {
		err := put(t, path, strings.NewReader(strings.Repeat("text", 100_000)))
		if failed := new(process.DeliverError); !errors.As(err, &failed) || !failed.Permanent || failed.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, account := range []string{"root", "no-such-account"} {
		err := (&process.Deliverer{Shim: shimCommand}).Deliver(t.Context(), account, filepath.Join(dir, "out"), strings.NewReader(""))
		if failed := new(process.DeliverError); !errors.As(err, &failed) || !failed.Permanent {
			t.Errorf("%s: %v", account, err)
		}
	}
	only(t, dir, "pipe")
}

func TestDeliverNoRight(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := newDir(t)
	err := put(t, filepath.Join(dir, "out"), strings.NewReader("text"))
	if failed := new(process.DeliverError); !errors.As(err, &failed) || !failed.Permanent {
		t.Error(err)
	}
	only(t, dir)
}

// TestDeliverAllOrNothing has the source fail and the caller lose patience in the
// middle: nothing is there then.
func TestDeliverAllOrNothing(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	broken := errors.New("the source broke")
	half := io.MultiReader(strings.NewReader(strings.Repeat("half", 100_000)), iotest.ErrReader(broken))
	if err := put(t, filepath.Join(dir, "out"), half); !errors.Is(err, broken) {
		t.Error(err)
	}
	only(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	impatient := io.MultiReader(strings.NewReader("half"), readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, ctx.Err()
	}))
	err := (&process.Deliverer{Shim: shimCommand}).Deliver(ctx, jobAccount(t), filepath.Join(dir, "out"), impatient)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	only(t, dir)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestDeliverToFullDisk(t *testing.T) {
	asRoot(t)
	dir := newDir(t)
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=64k,mode=777"); err != nil {
		t.Skip("cannot mount a small disk:", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	err := put(t, filepath.Join(dir, "out"), strings.NewReader(strings.Repeat("text", 100_000)))
	if failed := new(process.DeliverError); !errors.As(err, &failed) || failed.Permanent || !strings.Contains(failed.Reason, "no space") {
		t.Error(err)
	}
	only(t, dir)
}
