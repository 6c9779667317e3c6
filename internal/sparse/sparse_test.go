package sparse_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/sparse"
)

func blocks(t *testing.T, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Skip("no blocks here")
	}
	return stat.Blocks * 512
}

func TestCopy(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte(1 + random.IntN(255))
		}
		return out
	}
	for name, data := range map[string][]byte{
		"empty": nil, "text": text(10_000), "one zero": {0}, "only zeros": make([]byte, 50<<20),
		"zeros first": append(make([]byte, 20_000), text(5)...), "zeros last": append(text(5), make([]byte, 3<<20+7)...),
		"zeros between": append(append(text(4096), make([]byte, 9<<20)...), text(1)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err = sparse.Copy(f, bytes.NewReader(data)); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(f.Name())
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%v; %d bytes, want %d", err, len(got), len(data))
			}
			if used := blocks(t, f); used > 1<<17 {
				t.Errorf("%d bytes of the disk are used", used)
			}
		})
	}
}

// counted counts the writes to a file.
type counted struct {
	*os.File
	writes int
}

func (c *counted) WriteAt(data []byte, at int64) (int, error) {
	c.writes++
	return c.File.WriteAt(data, at)
}

// TestAppend appends pieces of text and zeros. The file is what was appended, and each run of data is one write, from the end of a
// hole to the begin of the next one.
func TestAppend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		file, err := os.CreateTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		f := &counted{File: file}
		defer func() {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}()
		var want []byte
		size := int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			var piece []byte
			runs := rapid.IntRange(1, 5).Draw(t, "runs")
			for range runs {
				fill := rapid.SampledFrom([]byte{0, 'x'}).Draw(t, "fill")
				piece = append(piece, bytes.Repeat([]byte{fill}, rapid.IntRange(0, 3*4096).Draw(t, "length"))...)
			}
			f.writes = 0
			if size, err = sparse.Append(f, size, piece); err != nil {
				t.Fatal(err)
			}
			if want = append(want, piece...); size != int64(len(want)) {
				t.Fatalf("size %d, want %d", size, len(want))
			}
			if f.writes > (runs+1)/2+1 { // zeros at both ends may fill no block
				t.Fatalf("%d writes of %d runs", f.writes, runs)
			}
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v; %d bytes, want %d", err, len(got), len(want))
		}
	})
}
