package staging_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// TestLinksOfOthersOnTheWay: a link of this account's leads where links of others would send what comes back on to.
func TestLinksOfOthersOnTheWay(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("a link of another account cannot be made")
	}
	for name, tt := range map[string]struct{ group, victim string }{
		"file":                {"results", "results"},
		"directory":           {"results", "x"},
		"directory above one": {"deep/results", "deep"},
	} {
		archive := back(t, map[string]string{"results/r": "r"})
		if tt.victim == "results" {
			archive = back(t, map[string]string{"results": "r"})
		}
		home, group, secret := t.TempDir(), t.TempDir(), t.TempDir()
		foreign := filepath.Join(group, filepath.Dir(tt.group))
		if foreign == group {
			foreign = filepath.Join(group, "results")
		}
		write(t, secret, map[string]string{"results/r": "secret", ".bashrc": "secret"})
		leads := map[string]string{"results": ".bashrc", "x": "results", "deep": "."}[tt.victim]
		err := errors.Join(os.Symlink(filepath.Join(group, tt.group), filepath.Join(home, "results")),
			os.Symlink(filepath.Join(secret, leads), foreign), os.Lchown(foreign, 65534, 65534))
		if err != nil {
			t.Fatal(err)
		}
		_, err = staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, home), Patterns: []string{"results"}})
		if !errors.Is(err, staging.ErrLink) || !strings.Contains(err.Error(), "another account's link") {
			t.Errorf("%s: %v", name, err)
		}
		for _, file := range []string{"results/r", ".bashrc"} {
			if got, err := os.ReadFile(filepath.Join(secret, file)); err != nil || string(got) != "secret" {
				t.Errorf("%s: %s has %q, %v", name, file, got, err)
			}
		}
	}
}

// TestLinksOfOthersThatStayInside: a colleague's directory is one like others; a colleague's link to a file is replaced, and
// what it leads to is left alone.
func TestLinksOfOthersThatStayInside(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, map[string]string{"shared/kept": "k", "kept": "k"})
	for link, to := range map[string]string{"results": "shared", "latest": "kept"} {
		at := filepath.Join(home, link)
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() != 0 {
			t.Skip("a link of another account cannot be made")
		}
		if err := os.Lchown(at, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	archive := back(t, map[string]string{"results/r": "r", "latest": "l"})
	if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, home), Patterns: []string{"results", "latest"}}); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]string{"shared/r": "r", "latest": "l", "kept": "k"} {
		if got, err := os.ReadFile(filepath.Join(home, file)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", file, got, err)
		}
	}
}

// TestOneFileKeepsNoOtherBack: those that their places take are there, and the error names the others.
func TestOneFileKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, map[string]string{"b": "a file"})
	if err := errors.Join(os.Symlink(t.TempDir(), filepath.Join(home, "a")), os.Mkdir(filepath.Join(home, "d"), 0o700)); err != nil {
		t.Fatal(err)
	}
	archive := back(t, map[string]string{"a/1": "", "a/2": "", "a/3": "", "a/4": "", "a/5": "", "b/x": "x", "c": "c", "d": "d", "e": "e"})
	placed, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, home)})
	if !errors.Is(err, staging.ErrLink) || !strings.Contains(err.Error(), "a/1, a/2, a/3, a/4, a/5: ") || !strings.HasSuffix(err.Error(), "; and 2 more") {
		t.Error(err)
	}
	if got := namesOf(placed); !slices.Equal(got, []string{"c", "e"}) {
		t.Errorf("placed are %q", got)
	}
	for _, name := range []string{"c", "e"} {
		if got, failed := os.ReadFile(filepath.Join(home, name)); failed != nil || string(got) != name {
			t.Errorf("%s has %q, %v", name, got, failed)
		}
	}
	if _, err = staging.Unpack(t.Context(), bytes.NewReader(archive[:len(archive)-1024-512-200]), staging.Into{Root: open(t, home)}); !errors.Is(err, staging.ErrArchive) {
		t.Errorf("a cut archive: %v", err)
	}
}

// TestRelativeLinks lead from where they are, not from where a path to them goes.
func TestRelativeLinks(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	write(t, top, map[string]string{"real/deep/work/x": "", "real/deep/work/sub/x": "", "real/data/x": "", "data/x": "", "real/other/y": "old"})
	for link, to := range map[string]string{
		"work": "real/deep/work", "real/deep/work/out": "../../data", "real/deep/work/sub/file": "../../../data/link", "real/data/link": "..//other/./y",
		"real/data/loop": "turn", "real/data/turn": "loop", "real/deep/work/round": "../../data/loop",
	} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	work := open(t, filepath.Join(top, "work"))
	archive := back(t, map[string]string{"out/r": "r", "sub/file": "f"})
	if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: work, Patterns: []string{"out", "sub/file"}}); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]string{"real/data/r": "r", "real/other/y": "f"} {
		if got, err := os.ReadFile(filepath.Join(top, file)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", file, got, err)
		}
	}
	archive = back(t, map[string]string{"round": "r"})
	if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: work, Patterns: []string{"round"}}); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("links in a circle: %v", err)
	}
	archive = back(t, map[string]string{"out": "a file"})
	if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: work, Patterns: []string{"out"}}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a file where a link leads to a directory: %v", err)
	}
}
