package staging_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/staging"
)

// back is an archive of what a job has left.
func back(t *testing.T, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	var archive bytes.Buffer
	left := staging.Left{Root: open(t, dir), Patterns: []string{"."}, Owner: uint32(os.Geteuid()), MaxBytes: 1 << 20}
	if _, _, err := staging.Collect(t.Context(), &archive, left); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// TestThroughLinksThatTheUserNames: what comes back goes through the links that submit has made, and through the
// user's own that --stage-out names, to the directories and files that they lead to. Nothing goes through others.
func TestThroughLinksThatTheUserNames(t *testing.T) {
	t.Parallel()
	archive := back(t, map[string]string{"set/sub/out": "s", "data.h5": "d", "results/r": "r", "plain": "p"})
	for name, tt := range map[string]struct {
		out  []string
		own  bool // whose links they are
		fail bool
	}{
		"named":          {[]string{".", "results/*"}, true, false},
		"not named":      {[]string{"."}, true, true},
		"of others":      {[]string{".", "results"}, false, true},
		"named by globs": {[]string{"*", "result?"}, true, true},
	} {
		home, scratch := t.TempDir(), t.TempDir()
		write(t, scratch, map[string]string{"set/sub/out": "old", "data.h5": "old", "results/kept": "k"})
		paths := []string{filepath.Join(scratch, "set") + ":set", filepath.Join(scratch, "data.h5") + ":data.h5"}
		found, err := staging.Find(t.Context(), home, paths)
		if err == nil {
			err = errors.Join(staging.Link(home, paths), os.Symlink(filepath.Join(scratch, "results"), filepath.Join(home, "results")))
		}
		if err == nil && !tt.own {
			if os.Geteuid() != 0 {
				continue // a link of another account cannot be made
			}
			err = os.Lchown(filepath.Join(home, "results"), 65534, 65534)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, home), Patterns: tt.out, Links: found.Links})
		if tt.fail {
			if !errors.Is(err, staging.ErrLink) || !strings.HasPrefix(err.Error(), "results/r: ") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err = os.Lstat(filepath.Join(scratch, "results", "r")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: it was written through the link, %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for file, want := range map[string]string{"set/sub/out": "s", "data.h5": "d", "results/r": "r", "results/kept": "k"} {
			for _, dir := range []string{home, scratch} {
				if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
					t.Errorf("%s: %s has %q, %v", name, filepath.Join(dir, file), got, err)
				}
			}
		}
		for _, link := range []string{"set", "data.h5", "results"} {
			if info, err := os.Lstat(filepath.Join(home, link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s: %s is no link any more, %v", name, link, err)
			}
		}
	}
}

// TestDeliveriesThatCannotSucceed are told from those to be tried again.
func TestDeliveriesThatCannotSucceed(t *testing.T) {
	t.Parallel()
	archive := back(t, map[string]string{"out/x": strings.Repeat("x", 2000)})
	home := t.TempDir()
	write(t, home, map[string]string{"out": "a file"})
	if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, home)}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("where a file is in the way: %v", err)
	}
	for _, size := range []int{100, 1600, 3000} {
		if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive[:size]), staging.Into{Root: open(t, t.TempDir())}); !errors.Is(err, staging.ErrArchive) {
			t.Errorf("cut at %d of %d: %v", size, len(archive), err)
		}
	}
}

// TestModesOfOthers: a file that everybody could write at its site can be written by its user alone at home.
func TestModesOfOthers(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	write(t, from, map[string]string{"run": "x"})
	if err := os.Chmod(filepath.Join(from, "run"), 0o777); err != nil {
		t.Fatal(err)
	}
	_, archive := packed(t, from, "run")
	if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, to), Umask: 0o022}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(to, "run")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
