package staging_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// write makes files below a directory, by their names.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

func namesOf(files []protocol.StagedFile) (out []string) {
	for _, f := range files {
		out = append(out, f.Name)
	}
	return out
}

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// packed is a directory's archive, and what was noted of it.
func packed(t *testing.T, dir string, paths ...string) (*protocol.Staging, []byte) {
	t.Helper()
	found, err := staging.Find(t.Context(), dir, paths)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err = staging.Pack(t.Context(), &archive, dir, found.Inputs); err != nil {
		t.Fatal(err)
	}
	if int64(archive.Len()) != found.Bytes || sha256.Sum256(archive.Bytes()) != found.SHA256 {
		t.Fatalf("the archive has %d bytes, noted were %d, or its SHA-256 is another", archive.Len(), found.Bytes)
	}
	return found, archive.Bytes()
}

func TestFilesArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	write(t, from, map[string]string{"run.sh": "#!/bin/sh\n", "data/a.dat": "one", "data/deep/b.dat": "two", ".git/x": "no", "c.txt": ""})
	if err := errors.Join(os.Chmod(filepath.Join(from, "run.sh"), 0o750), os.Mkdir(filepath.Join(from, "empty"), 0o755)); err != nil {
		t.Fatal(err)
	}
	found, archive := packed(t, from, ".")
	want := []string{"c.txt", "data/", "data/a.dat", "data/deep/", "data/deep/b.dat", "empty/", "run.sh"}
	if got := namesOf(found.Inputs); !slices.Equal(got, want) {
		t.Fatalf("found %q, want %q", got, want)
	}
	for range 2 { // again it is the same
		if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, to)}); err != nil {
			t.Fatal(err)
		}
	}
	again, _ := packed(t, to, ".")
	if again.SHA256 != found.SHA256 {
		t.Errorf("what arrived is %+v, sent was %+v", again.Inputs, found.Inputs)
	}
	left, err := filepath.Glob(filepath.Join(to, "*", ".switchyard-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

func TestWhatCannotBeFoundIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "x"})
	if err := os.Symlink("/", filepath.Join(dir, "root")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "sub"), map[string]string{"b": "y"})
	if err := os.Symlink("..", filepath.Join(dir, "sub", "up")); err != nil {
		t.Fatal(err)
	}
	_, err := staging.Find(t.Context(), dir, []string{"a", "absent.dat", "*.none", "../outside", "/etc/passwd", "sub"})
	for _, want := range []string{
		"--stage-in=absent.dat: there is no absent.dat in " + dir, "--stage-in=*.none: no file matches", "--stage-in=../outside: it is not below",
		"--stage-in=/etc/passwd: it is not below", "sub/up is a link to a directory",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, and does not say %q", err, want)
		}
	}
}

func TestAChangedFileIsNamed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"it has 4 bytes instead of 3": func(path string) error { return os.WriteFile(path, []byte("four"), 0o600) },
		"it is not there any more":    os.Remove,
		"it was written at":           func(path string) error { return os.Chtimes(path, time.Now(), time.Unix(1, 0)) },
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"input.dat": "one"})
		found, _ := packed(t, dir, "input.dat")
		if err := change(filepath.Join(dir, "input.dat")); err != nil {
			t.Fatal(err)
		}
		err := staging.Pack(t.Context(), new(bytes.Buffer), dir, found.Inputs)
		if changed, ok := errors.AsType[*staging.ChangedError](err); !ok || !strings.Contains(changed.Error(), "input.dat has changed since the job was submitted: "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLyingArchives: what no archive of ours has is refused, and nothing of it is written outside of the
// directory.
func TestLyingArchives(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]tar.Header{
		"above":    {Name: "../x", Typeflag: tar.TypeReg},
		"absolute": {Name: "/tmp/x", Typeflag: tar.TypeReg},
		"inside":   {Name: "a/../../x", Typeflag: tar.TypeReg},
		"link":     {Name: "x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		"hardlink": {Name: "x", Typeflag: tar.TypeLink, Linkname: "y"},
		"device":   {Name: "x", Typeflag: tar.TypeChar},
		"control":  {Name: "x\x1b[2J", Typeflag: tar.TypeReg},
		"override": {Name: "x\u202ecod", Typeflag: tar.TypeReg},
		"unwanted": {Name: ".bashrc", Typeflag: tar.TypeReg},
	} {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		header.Mode, header.Format = 0o600, tar.FormatPAX
		if err := errors.Join(w.WriteHeader(&header), w.Close()); err != nil {
			t.Fatal(err)
		}
		above := t.TempDir()
		dir := filepath.Join(above, "work")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := staging.Unpack(t.Context(), &archive, staging.Into{Root: open(t, dir), Patterns: []string{".", "x"}})
		if !errors.Is(err, staging.ErrArchive) {
			t.Errorf("%s: %v", name, err)
		}
		for _, where := range []string{above, dir} {
			entries, err := os.ReadDir(where)
			if err != nil || len(entries) > 0 && where == dir || len(entries) > 1 {
				t.Errorf("%s: in %s are %v, %v", name, where, entries, err)
			}
		}
	}
}

// TestLinksLeadNowhere: a link in the directory is not followed out of it.
func TestLinksLeadNowhere(t *testing.T) {
	t.Parallel()
	from, outside, to := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, from, map[string]string{"d/x": "mine"})
	_, archive := packed(t, from, "d")
	if err := os.Symlink(outside, filepath.Join(to, "d")); err != nil {
		t.Fatal(err)
	}
	if _, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, to)}); err == nil {
		t.Error("an archive was unpacked through a link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside are %v, %v", entries, err)
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	me := uint32(os.Geteuid())
	write(t, dir, map[string]string{"in.dat": "as it came", "kept": "k"})
	before, _ := packed(t, dir, ".")
	write(t, dir, map[string]string{"out/a.dat": "a", "out/b.log": "b", "kept": "changed", ".cache/x": "x"})
	collect := func(left staging.Left) ([]string, []string, error) {
		left.Root, left.Owner, left.Before = open(t, dir), me, before.Inputs
		files, notices, err := staging.Collect(t.Context(), new(bytes.Buffer), left)
		return namesOf(files), notices, err
	}
	for _, tt := range []struct {
		patterns []string
		want     []string
		notices  int
	}{
		{patterns: []string{"."}, want: []string{"kept", "out/a.dat", "out/b.log"}},
		{patterns: []string{"out/*.dat", "*.none"}, want: []string{"out/a.dat"}, notices: 1},
		{patterns: []string{"out"}, want: []string{"out/a.dat", "out/b.log"}},
		{patterns: []string{"in.dat", ".cache"}, want: []string{".cache/x", "in.dat"}},
	} {
		got, notices, err := collect(staging.Left{Patterns: tt.patterns, MaxBytes: 1 << 20})
		if err != nil || !slices.Equal(got, tt.want) || len(notices) != tt.notices {
			t.Errorf("%q: %q, %q, %v; want %q", tt.patterns, got, notices, err, tt.want)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for want, left := range map[string]staging.Left{
		"absent is not there": {Patterns: []string{"absent"}, MaxBytes: 1 << 20},
		"link is a link":      {Patterns: []string{"link"}, MaxBytes: 1 << 20},
		"together at most 1030 ([staging] max_bytes of north)": {Patterns: []string{"kept"}, MaxBytes: 1030, Limit: "[staging] max_bytes of north"},
	} {
		if _, _, err := collect(left); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, notices, err := collect(staging.Left{Patterns: []string{"absent"}, MaxBytes: 1 << 20, Partial: true}); err != nil || len(notices) != 1 {
		t.Errorf("of a job that was cut short: %q, %v", notices, err)
	}
}

// TestACutArchiveLeavesNoHalfFile cuts archives anywhere: each file is there as a whole or not at all.
func TestACutArchiveLeavesNoHalfFile(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	want := map[string]string{"a": strings.Repeat("a", 3000), "b/c": strings.Repeat("c", 5000), "d": "d"}
	write(t, from, want)
	_, archive := packed(t, from, ".")
	scratch := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		to := within(rt, scratch)
		root, err := os.OpenRoot(to)
		if err != nil {
			rt.Fatal(err)
		}
		defer root.Close()
		cut := rapid.IntRange(0, len(archive)).Draw(rt, "cut")
		_, _ = staging.Unpack(t.Context(), bytes.NewReader(archive[:cut]), staging.Into{Root: root}) // what it says of a cut one does not matter
		for name, content := range want {
			if got, failed := os.ReadFile(filepath.Join(to, name)); failed == nil && string(got) != content {
				rt.Errorf("cut at %d of %d: %s has %d bytes", cut, len(archive), name, len(got))
			}
		}
		if _, err = staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: root}); err != nil {
			rt.Errorf("after a cut at %d: %v", cut, err)
		}
	})
}
