package spool_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestCreateOnce has many make one file: one wins, and the file is that one's.
func TestCreateOnce(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"", "claim"} {
		dir := t.TempDir()
		path := filepath.Join(dir, place, "started")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		const tries = 16
		won := make([]bool, tries)
		var all sync.WaitGroup
		for i := range tries {
			all.Go(func() {
				var err error
				if won[i], err = spool.CreateOnce(path, dir, []byte{byte(i)}, 0o644); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		winner, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range won {
			if w != (string(winner) == string([]byte{byte(i)})) {
				t.Errorf("%d of the winner %q is told %v", i, winner, w)
			}
		}
		if mode := modeOf(t, path); mode != 0o644 {
			t.Errorf("its mode is %v", mode)
		}
		only(t, filepath.Dir(path), "started")
	}
}

func TestReplaceFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, text := range []string{"first", "a longer one", ""} {
		if err := spool.ReplaceFile(dir, "exit", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "exit")); err != nil || string(got) != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
	}
	if mode := modeOf(t, filepath.Join(dir, "exit")); mode != 0o600 {
		t.Errorf("its mode is %v", mode)
	}
	if err := spool.ReplaceFile(filepath.Join(dir, "gone"), "exit", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	only(t, dir, "exit")
}

func TestExplainFull(t *testing.T) {
	t.Parallel()
	full := spool.ExplainFull(&fs.PathError{Op: "write", Path: "exit", Err: syscall.ENOSPC})
	if !errors.Is(full, syscall.ENOSPC) || !strings.Contains(full.Error(), "free space") {
		t.Error(full)
	}
	if err := spool.ExplainFull(fs.ErrNotExist); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "full") {
		t.Error(err)
	}
	if err := spool.ExplainFull(nil); err != nil {
		t.Error(err)
	}
}

// TestFetchRefuses puts what is not the account's in the place of its output.
func TestFetchRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	write(t, secret, "the peer's\n")
	for name, put := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(secret, path) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"dir":    func(path string) error { return os.Mkdir(path, 0o777) },
		"socket": func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o666, 0) },
		"gone":   func(string) error { return nil },
		"other's": func(path string) error {
			if os.Geteuid() != 0 {
				return nil // there is none: a file of another account cannot be made
			}
			return os.Link(secret, path)
		},
	} {
		path := filepath.Join(dir, name)
		if err := put(path); err != nil {
			t.Fatal(name, err)
		}
		out := spool.Outputs{Owner: me().UID, Stdout: path}
		for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
			if got, err := out.Fetch(tag, stream, 0, 100); !errors.Is(err, localsched.ErrUnknownJob) {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
	}
	file, err := spool.OpenPlain(secret, me().UID, uint32(os.Geteuid()))
	if err != nil {
		t.Fatal("the peer's own file, which was asked for:", err)
	}
	file.Close()
}

func TestFetch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	if err := me().AddFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := spool.Outputs{Owner: me().UID, Stdout: path, Stderr: path}
	for _, c := range []struct {
		offset int64
		size   int
		want   string
	}{{0, 100, "0123456789"}, {4, 3, "456"}, {8, 5, "89"}, {1000, 3, ""}, {-5, 2, "01"}, {2, -1, ""}} {
		for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
			if got, err := out.Fetch(tag, stream, c.offset, c.size); err != nil || string(got) != c.want {
				t.Errorf("%v from %d, %d bytes: %q, %v", stream, c.offset, c.size, got, err)
			}
		}
	}
}
