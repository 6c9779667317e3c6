package sparse_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

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
