package results_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func open(t *testing.T, d *results.Dir, job int) *results.Part {
	t.Helper()
	part, err := d.Part(protocol.Tag{Job: protocol.JobID(job), Epoch: 1}, protocol.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = part.Close() })
	return part
}

func appendTo(t *testing.T, part *results.Part, data []byte) {
	t.Helper()
	if err := part.Append(data); err != nil {
		t.Fatal(err)
	}
}

// keep keeps a file of so many bytes for a job and makes it so old.
func keep(t *testing.T, d *results.Dir, job, size int, age time.Duration) {
	t.Helper()
	part := open(t, d, job)
	appendTo(t, part, bytes.Repeat([]byte("x"), size))
	path, err := part.Keep()
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-age)
	if err = os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, d *results.Dir) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestPartGoesOn(t *testing.T) {
	t.Parallel()
	d := &results.Dir{Path: filepath.Join(t.TempDir(), "kept")}
	first := open(t, d, 7)
	appendTo(t, first, []byte("one "))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, d, 7)
	if second.Size() != 4 {
		t.Fatalf("%d bytes are here", second.Size())
	}
	appendTo(t, second, []byte("two"))
	got, err := io.ReadAll(io.NewSectionReader(second, 0, second.Size()))
	if err != nil || string(got) != "one two" {
		t.Errorf("%q, %v", got, err)
	}
	if err = second.Reset(); err != nil || second.Size() != 0 {
		t.Errorf("%d bytes after the reset, %v", second.Size(), err)
	}
	if err = second.Drop(); err != nil || len(names(t, d)) != 0 {
		t.Errorf("%v; %v stay", err, names(t, d))
	}
}

// TestHolesTakeNoSpace keeps 600 MB of zeros: found in use, these took 600 MB of root's disk.
func TestHolesTakeNoSpace(t *testing.T) {
	t.Parallel()
	d := &results.Dir{Path: filepath.Join(t.TempDir(), "kept")}
	part := open(t, d, 7)
	zeros := make([]byte, 256<<10)
	for range 2400 {
		appendTo(t, part, zeros)
	}
	appendTo(t, part, []byte("end"))
	path, err := part.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if err = part.Drop(); err != nil {
		t.Error(err)
	}
	var stat syscall.Stat_t
	if err = syscall.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	if stat.Size != 2400*256<<10+3 || stat.Blocks*512 > 1<<20 {
		t.Errorf("%d bytes take %d of the disk", stat.Size, stat.Blocks*512)
	}
}

func TestKeptFilesAreBounded(t *testing.T) {
	t.Parallel()
	var removed []string
	d := &results.Dir{
		Path: filepath.Join(t.TempDir(), "kept"), MaxKept: 300 << 10, KeepFor: 24 * time.Hour,
		Removed: func(name, _ string) { removed = append(removed, name) },
	}
	keep(t, d, 1, 10, 25*time.Hour) // too old
	keep(t, d, 2, 100<<10, 3*time.Hour)
	keep(t, d, 3, 100<<10, 2*time.Hour)
	keep(t, d, 4, 150<<10, time.Hour)
	appendTo(t, open(t, d, 5), []byte("on its way"))
	keep(t, d, 6, 10, 0)
	if want := []string{"3.1.stdout", "4.1.stdout", "5.1.stdout.part", "6.1.stdout"}; !slices.Equal(names(t, d), want) {
		t.Errorf("there are %v, want %v", names(t, d), want)
	}
	if want := []string{"1.1.stdout", "2.1.stdout"}; !slices.Equal(removed, want) {
		t.Errorf("told of %v, want %v", removed, want)
	}
	keep(t, d, 7, 1<<20, 0) // larger than all that may be kept
	if want := []string{"5.1.stdout.part", "7.1.stdout"}; !slices.Equal(names(t, d), want) {
		t.Errorf("there are %v, want %v", names(t, d), want)
	}
	appendTo(t, open(t, d, 8), make([]byte, 2<<20)) // what is under way pushes nothing out
	keep(t, d, 9, 10, 0)
	if want := []string{"5.1.stdout.part", "8.1.stdout.part", "9.1.stdout"}; !slices.Equal(names(t, d), want) {
		t.Errorf("there are %v, want %v", names(t, d), want)
	}
}

// A file that was kept and of which nobody was told, since what came after it failed, is on its
// way again: it is neither fetched twice nor left behind.
func TestKeptFileGoesOn(t *testing.T) {
	t.Parallel()
	d := &results.Dir{Path: filepath.Join(t.TempDir(), "kept")}
	keep(t, d, 7, 100, 0)
	again := open(t, d, 7)
	if again.Size() != 100 {
		t.Errorf("%d bytes of the kept file are on their way again", again.Size())
	}
	if want := []string{"7.1.stdout.part"}; !slices.Equal(names(t, d), want) {
		t.Errorf("there are %v, want %v", names(t, d), want)
	}
}

// Both files of a job are kept, however large they are together.
func TestKeptFilesOfAJobStayTogether(t *testing.T) {
	t.Parallel()
	d := &results.Dir{Path: filepath.Join(t.TempDir(), "kept"), MaxKept: 150 << 10}
	keep(t, d, 6, 10, time.Hour)
	keep(t, d, 7, 100<<10, time.Minute)
	other, err := d.Part(protocol.Tag{Job: 7, Epoch: 1}, protocol.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	appendTo(t, other, bytes.Repeat([]byte("x"), 100<<10))
	if _, err = other.Keep(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"7.1.stderr", "7.1.stdout"}; !slices.Equal(names(t, d), want) {
		t.Errorf("there are %v, want %v", names(t, d), want)
	}
}

// TestArchivesPushOutNoOutput: large archives of files that come back push out each other, not kept output.
func TestArchivesPushOutNoOutput(t *testing.T) {
	t.Parallel()
	d := &results.Dir{Path: filepath.Join(t.TempDir(), "kept"), MaxKept: 150 << 10}
	keep(t, d, 1, 100<<10, time.Hour)
	for job := range 3 {
		archive, err := d.Part(protocol.Tag{Job: protocol.JobID(job + 2), Epoch: 1}, protocol.StageOutArchive)
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, archive, bytes.Repeat([]byte("x"), 140<<10))
		if _, err = archive.Keep(); err != nil {
			t.Fatal(err)
		}
		if err = archive.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"1.1.stdout", "4.1.stage-out"}; !slices.Equal(names(t, d), want) {
		t.Errorf("there are %v, want %v", names(t, d), want)
	}
}

// TestKept: what is kept is read in pieces; what is only on its way, or has been removed, is gone.
func TestKept(t *testing.T) {
	t.Parallel()
	d, tag := &results.Dir{Path: filepath.Join(t.TempDir(), "kept")}, protocol.Tag{Job: 7, Epoch: 1}
	part := open(t, d, 7)
	appendTo(t, part, []byte("one two"))
	if data, err := d.Kept(tag, protocol.Stdout, 0, 10); !errors.Is(err, protocol.ErrOutputGone) {
		t.Errorf("on its way: %q, %v", data, err)
	}
	path, err := part.Keep()
	if err != nil {
		t.Fatal(err)
	}
	for offset, want := range []string{"one", "ne ", "e t", " tw", "two", "wo", "o", "", ""} {
		var data []byte
		if data, err = d.Kept(tag, protocol.Stdout, int64(offset), 3); err != nil || string(data) != want {
			t.Errorf("from %d: %q, %v, want %q", offset, data, err, want)
		}
	}
	if err = os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if data, err := d.Kept(tag, protocol.Stdout, 0, 10); !errors.Is(err, protocol.ErrOutputGone) {
		t.Errorf("removed: %q, %v", data, err)
	}
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	d := &results.Dir{Path: filepath.Join(t.TempDir(), "kept")}
	tag := protocol.Tag{Job: 7, Epoch: 1}
	if err := d.Discard(tag); err != nil {
		t.Errorf("of a job without files: %v", err)
	}
	keep(t, d, 7, 10, 0)
	part, err := d.Part(tag, protocol.Stderr)
	if err != nil || part.Close() != nil {
		t.Fatal(err)
	}
	keep(t, d, 8, 10, 0)
	if err = d.Discard(tag); err != nil {
		t.Error(err)
	}
	if want := []string{"8.1.stdout"}; !slices.Equal(names(t, d), want) {
		t.Errorf("there are %v, want %v", names(t, d), want)
	}
}

// A file that came at once is on the disk only while it is kept, and leaves nothing of an
// earlier try there.
func TestWhole(t *testing.T) {
	t.Parallel()
	dir := &results.Dir{Path: filepath.Join(t.TempDir(), "results")}
	tag := protocol.Tag{Job: 7, Epoch: 1}
	whole := dir.Whole(tag, protocol.Stdout, []byte("all of it"))
	if data, err := io.ReadAll(io.NewSectionReader(whole, 0, whole.Size())); err != nil || string(data) != "all of it" {
		t.Errorf("it has %q, %v", data, err)
	}
	if err := errors.Join(whole.Drop(), whole.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is something on the disk: %v", err)
	}

	part, err := dir.Part(tag, protocol.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err = errors.Join(part.Append([]byte("something longer than all of it")), part.Close()); err != nil {
		t.Fatal(err)
	}
	path, err := whole.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if err = whole.Drop(); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "all of it" {
		t.Errorf("kept %q, %v", data, err)
	}
	if err = dir.Whole(tag, protocol.Stdout, nil).Drop(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir.Path); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
