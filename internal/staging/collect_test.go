package staging_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/staging"
)

// collected is what comes of a directory, unpacked again, what people are said, and what is missing.
func collected(t *testing.T, dir string, left staging.Left) (names []string, notices, missing string) {
	t.Helper()
	left.Root, left.Owner = open(t, dir), uint32(os.Geteuid())
	if left.MaxBytes == 0 {
		left.MaxBytes = 1 << 30
	}
	var archive bytes.Buffer
	files, said, err := staging.Collect(t.Context(), &archive, left)
	if lacking, ok := errors.AsType[*staging.MissingError](err); ok {
		missing, err = lacking.Reason, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if int64(archive.Len()) > left.MaxBytes && len(files) > 0 {
		t.Errorf("the archive has %d bytes of %d", archive.Len(), left.MaxBytes)
	}
	placed, err := staging.Unpack(t.Context(), &archive, staging.Into{Root: open(t, t.TempDir()), Patterns: left.Patterns})
	if err != nil || !slices.Equal(namesOf(placed), namesOf(files)) {
		t.Errorf("unpacked are %q of %q, %v", namesOf(placed), namesOf(files), err)
	}
	return namesOf(files), strings.Join(said, "; "), missing
}

// TestTheRestComesBack: what cannot travel does not keep the rest from it. Links and special files are missing only
// when they are named themselves.
func TestTheRestComesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"result": "r", "out/a": "a", "out/big": strings.Repeat("b", 9000), "run1/x": "x"})
	err := errors.Join(os.Symlink("result", filepath.Join(dir, "latest")), os.Symlink("a", filepath.Join(dir, "out", "link")),
		syscall.Mkfifo(filepath.Join(dir, "out", "pipe"), 0o600), os.Symlink("run1", filepath.Join(dir, "newest")))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name             string
		left             staging.Left
		want             []string
		notices, missing []string
	}{
		{name: "all", left: staging.Left{Patterns: []string{"."}}, want: []string{"out/a", "out/big", "result", "run1/x"}, notices: []string{"latest is a link", "out/link is a link", "out/pipe is no regular"}},
		{name: "glob", left: staging.Left{Patterns: []string{"*t"}}, want: []string{"out/a", "out/big", "result"}, notices: []string{"latest is a link", "out/pipe"}},
		{name: "directory", left: staging.Left{Patterns: []string{"out/"}}, want: []string{"out/a", "out/big"}, notices: []string{"out/link", "out/pipe"}},
		{name: "link", left: staging.Left{Patterns: []string{"result", "latest", "."}}, want: []string{"out/a", "out/big", "result", "run1/x"}, missing: []string{"latest is a link, and links do not travel"}},
		{name: "absent", left: staging.Left{Patterns: []string{"result", "other"}}, want: []string{"result"}, missing: []string{"other is not there"}},
		{name: "none", left: staging.Left{Patterns: []string{"other"}}, missing: []string{"other is not there"}},
		{name: "large", left: staging.Left{Patterns: []string{"result", "out"}, MaxBytes: 9000}, want: []string{"out/a", "result"}, notices: []string{"out/link"}, missing: []string{"out/big has 9000 bytes"}},
		{name: "no directory", left: staging.Left{Patterns: []string{"result/", "out/a"}}, want: []string{"out/a"}, missing: []string{"result/ is no directory"}},
		{name: "in a file", left: staging.Left{Patterns: []string{"result/x", "out/a"}}, want: []string{"out/a"}, missing: []string{"result/x is not there"}},
		{name: "through a link", left: staging.Left{Patterns: []string{"newest/*", "result"}}, want: []string{"result"}, notices: []string{"newest is a link", "no file matches --stage-out=newest/*"}},
		{name: "twice", left: staging.Left{Patterns: []string{".", "result", "out/*"}}, want: []string{"out/a", "out/big", "result", "run1/x"}, notices: []string{"latest"}},
	} {
		names, notices, missing := collected(t, dir, tt.left)
		if !slices.Equal(names, tt.want) || tt.notices == nil && notices != "" && !slices.Contains(tt.left.Patterns, ".") || tt.missing == nil && missing != "" {
			t.Errorf("%s: %q, notices %q, missing %q", tt.name, names, notices, missing)
		}
		for _, want := range tt.notices {
			if !strings.Contains(notices, want) {
				t.Errorf("%s: the notices %q do not say %q", tt.name, notices, want)
			}
		}
		for _, want := range tt.missing {
			if strings.Count(missing, want) != 1 {
				t.Errorf("%s: of what is missing %q does not say %q once", tt.name, missing, want)
			}
		}
	}
}

// TestTheArchiveIsWithinItsLimit: the limit is that of the whole archive, to the byte.
func TestTheArchiveIsWithinItsLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "a", "é/long" + strings.Repeat("g", 150): strings.Repeat("x", 600), "z": ""})
	left := staging.Left{Root: open(t, dir), Patterns: []string{"."}, Owner: uint32(os.Geteuid()), MaxBytes: 1 << 20}
	var archive bytes.Buffer
	if _, _, err := staging.Collect(t.Context(), &archive, left); err != nil {
		t.Fatal(err)
	}
	for _, less := range []int{0, 1} {
		names, _, missing := collected(t, dir, staging.Left{Patterns: []string{"."}, MaxBytes: int64(archive.Len() - less)})
		if len(names) != 3-less || (missing == "") != (less == 0) {
			t.Errorf("with %d bytes less than %d: %q, missing %q", less, archive.Len(), names, missing)
		}
	}
}

// deep makes a chain of directories. The last one that can be named by its path is far above its end.
func deep(t *testing.T, dir string, depth int) {
	t.Helper()
	at, err := os.OpenRoot(dir)
	for range depth {
		if err != nil {
			t.Fatal(err)
		}
		var below *os.Root
		if err = at.Mkdir("directory-d", 0o755); err == nil {
			below, err = at.OpenRoot("directory-d")
		}
		err = errors.Join(err, at.Close())
		at = below
	}
	if err = errors.Join(err, at.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestTheLookingIsBounded: a job may leave what it likes in its directory, and what it is asked for comes back.
func TestTheLookingIsBounded(t *testing.T) {
	t.Parallel()
	const pipes = 3000
	dir := t.TempDir()
	write(t, dir, map[string]string{"result": "r", "sub/result": "s"})
	deep(t, dir, 200)
	for i := range pipes {
		if err := syscall.Mkfifo(filepath.Join(dir, fmt.Sprintf("%d-%s", i, strings.Repeat("p", 200))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name    string
		left    staging.Left
		want    []string
		notices string
		missing string
	}{
		{name: "a name", left: staging.Left{Patterns: []string{"result"}, MaxEntries: 1}, want: []string{"result"}},
		{name: "a name below", left: staging.Left{Patterns: []string{"sub/res*"}, MaxEntries: 2}, want: []string{"sub/result"}},
		{name: "all", left: staging.Left{Patterns: []string{"."}}, want: []string{"result", "sub/result"}, notices: "2995 more", missing: "names of files that travel have at most 64"},
		{name: "entries", left: staging.Left{Patterns: []string{"*-p", "result"}, MaxEntries: pipes / 2}, want: []string{"result"}, missing: "more than 1500 files and directories where --stage-out looks"},
		{name: "time", left: staging.Left{Patterns: []string{".", "result"}, MaxTime: time.Nanosecond}, want: []string{"result"}, missing: "took more than 1ns"},
	} {
		names, notices, missing := collected(t, dir, tt.left)
		if !slices.Equal(names, tt.want) || !strings.Contains(notices, tt.notices) || !strings.Contains(missing, tt.missing) || tt.missing == "" && missing != "" {
			t.Errorf("%s: %q, notices %q, missing %q", tt.name, names, notices, missing)
		}
		if len(notices) > 4000 || len(missing) > 4000 {
			t.Errorf("%s: the notices have %d bytes, what is missing %d", tt.name, len(notices), len(missing))
		}
	}
	for i := range 5000 { // more than may travel
		if err := os.WriteFile(filepath.Join(dir, "sub", strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left := staging.Left{Root: open(t, dir), Patterns: []string{"sub", "result"}, Owner: uint32(os.Geteuid()), MaxBytes: 1 << 30}
	files, _, err := staging.Collect(t.Context(), io.Discard, left)
	if len(files) != 4096 || !slices.Contains(namesOf(files), "result") || err == nil || !strings.Contains(err.Error(), "more than 4096 files") {
		t.Errorf("%d files come back, %v", len(files), err)
	}
}

// withoutRights calls f with the file system rights of an account without rights.
func withoutRights(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // and never unlocked, so that the thread ends
			if err := errors.Join(syscall.Setfsgid(65534), syscall.Setfsuid(65534)); err != nil {
				panic(err)
			}
		}
		f()
	}()
	<-done
}

// TestADirectoryThatIsNotWanted: one that cannot be read is missing only where something in it can be wanted.
func TestADirectoryThatIsNotWanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"result": "r", "locked/x": "x", "out/a.dat": "a"})
	for name, mode := range map[string]os.FileMode{"result": 0o644, "locked": 0, "out/a.dat": 0o644} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o700) })
	for pattern, lacking := range map[string]bool{
		"result": false, "r*": false, "out": false, "*/*.dat": true, "out/*.dat": false, ".": true, "locked": true, "locked/x": true, "lock*": true,
	} {
		root := open(t, dir)
		withoutRights(func() {
			_, _, err := staging.Collect(t.Context(), io.Discard, staging.Left{Root: root, Patterns: []string{pattern, "result"}, Owner: uint32(os.Geteuid()), MaxBytes: 1 << 20})
			missing, ok := errors.AsType[*staging.MissingError](err)
			if ok != lacking || err != nil && !ok || ok && (!strings.Contains(missing.Reason, "locked") || !strings.Contains(missing.Reason, "permission denied")) {
				t.Errorf("%s: %v", pattern, err)
			}
		})
	}
}

// spoiling writes to files once it is written to with what is in them.
type spoiling struct {
	bytes.Buffer

	files map[string]string // by content: what is appended to
}

func (s *spoiling) Write(p []byte) (int, error) {
	for content, path := range s.files {
		if !bytes.Contains(p, []byte(content)) {
			continue
		}
		delete(s.files, content)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = file.WriteString("more")
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return 0, err
		}
	}
	return s.Buffer.Write(p)
}

// TestAFileThatChangesWhileItIsPacked: the others come back.
func TestAFileThatChangesWhileItIsPacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "aaa", "b": "bbb", "c": "ccc", "d": "ddd"})
	left := staging.Left{Root: open(t, dir), Patterns: []string{"."}, Owner: uint32(os.Geteuid()), MaxBytes: 1 << 20}
	spoil := func() *spoiling {
		return &spoiling{files: map[string]string{"bbb": filepath.Join(dir, "b"), "ddd": filepath.Join(dir, "d")}}
	}
	archive := spoil()
	begun := 0
	left.Again = func() error {
		begun++
		archive.Reset()
		return nil
	}
	files, _, err := staging.Collect(t.Context(), archive, left)
	missing, ok := errors.AsType[*staging.MissingError](err)
	if !ok || !strings.Contains(missing.Reason, "b is being written by something else: it has 7 bytes instead of 3") || strings.Contains(missing.Reason, "a is") {
		t.Error(err)
	}
	if got := namesOf(files); !slices.Equal(got, []string{"a", "c"}) || begun != 2 {
		t.Errorf("%q come back, written again %d times", got, begun)
	}
	placed, err := staging.Unpack(t.Context(), archive, staging.Into{Root: open(t, t.TempDir())})
	if err != nil || !slices.Equal(namesOf(placed), namesOf(files)) {
		t.Errorf("unpacked are %q, %v", namesOf(placed), err)
	}
	left.Again = nil
	if _, _, err = staging.Collect(t.Context(), spoil(), left); err == nil || !strings.Contains(err.Error(), "b is being written") {
		t.Errorf("where nothing can be written again: %v", err)
	}
}

// TestAFileOfAnySizeIsCounted: a job can make one without content that has almost as many bytes as there are numbers.
func TestAFileOfAnySizeIsCounted(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/dev/shm", "staging-*") //nolint:usetesting // many file systems have none so large
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	write(t, dir, map[string]string{"a": "", "huge": ""})
	if err = os.Truncate(filepath.Join(dir, "huge"), math.MaxInt64); err != nil {
		t.Skip(err)
	}
	for _, most := range []int64{1 << 20, math.MaxInt64} {
		files, _, err := staging.Collect(t.Context(), io.Discard, staging.Left{
			Root: open(t, dir), Patterns: []string{"."}, Owner: uint32(os.Geteuid()), MaxBytes: most,
			Room: func(bytes int64) error {
				if bytes < 0 || bytes > 1<<20 {
					return fmt.Errorf("%d bytes", bytes)
				}
				return nil
			},
		})
		if got := namesOf(files); !slices.Equal(got, []string{"a"}) || err == nil || !strings.Contains(err.Error(), "huge has 9223372036854775807 bytes") {
			t.Errorf("of at most %d bytes: %q, %v", most, got, err)
		}
	}
}
