package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func put(t *testing.T, path string, r io.Reader) error {
	t.Helper()
	return (&process.Deliverer{Shim: shimCommand}).Deliver(t.Context(), jobAccount(t), path, protocol.DefaultUmask, r)
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

// TestUmask: files that come home are as the job would have made them, whatever they were where it ran.
func TestUmask(t *testing.T) {
	t.Parallel()
	d, dir, account := &process.Deliverer{Shim: shimCommand}, homeDir(t), jobAccount(t)
	from := homeDir(t)
	if err := errors.Join(os.WriteFile(filepath.Join(from, "result"), []byte("x"), 0o600), os.Chmod(filepath.Join(from, "result"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for umask, want := range map[int]fs.FileMode{0o022: 0o644, 0o027: 0o640, 0o077: 0o600, 0o002: 0o664} {
		files, err := staging.Find(t.Context(), from, []string{"result"})
		if err != nil {
			t.Fatal(err)
		}
		archive := new(bytes.Buffer)
		packed := (&process.Deliverer{Shim: shimCommand}).Pack(t.Context(), account, from, files.Inputs, archive)
		files.Out = []string{"."}
		err = errors.Join(packed, d.Deliver(t.Context(), account, filepath.Join(dir, "out"), umask, strings.NewReader("x")),
			d.Append(t.Context(), account, filepath.Join(dir, "log"), umask, strings.NewReader("x"), process.Appending{Begin: func(int64) error { return nil }}),
			d.Unpack(t.Context(), account, dir, umask, files, archive))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]fs.FileMode{"out": want, "log": want, "result": 0o777 &^ fs.FileMode(umask)} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%s under %#o: %v, %v, want %v", name, umask, info.Mode(), err, want)
			}
			if err = os.Remove(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
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
		err := (&process.Deliverer{Shim: shimCommand}).Deliver(t.Context(), account, filepath.Join(dir, "out"), protocol.DefaultUmask, strings.NewReader(""))
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
	err := (&process.Deliverer{Shim: shimCommand}).Deliver(ctx, jobAccount(t), filepath.Join(dir, "out"), protocol.DefaultUmask, impatient)
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
