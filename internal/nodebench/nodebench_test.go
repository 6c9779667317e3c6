package nodebench_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/nodebench"
)

// TestMeasure: whatever the machine, a CPU does more than a million operations and words a
// second, and less than any CPU can do.
func TestMeasure(t *testing.T) {
	t.Parallel()
	r, err := nodebench.Measure(t.Context(), 60*time.Millisecond)
	if err != nil || r.CPUs != runtime.GOMAXPROCS(0) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, rate := range []int64{r.Flops, r.Words} {
		if rate < 1e6 || rate > 1e12 {
			t.Errorf("%+v", r)
		}
	}
	if r.WorkingSet < 1<<20 || r.WorkingSet > 1<<30 && r.WorkingSet > int64(r.CPUs)*(6<<20) {
		t.Errorf("the memory is measured over %d bytes", r.WorkingSet)
	}
}

func TestMeasureIsCutOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := nodebench.Measure(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestKernels count what they do: STREAM's three words an element, and two operations for
// each of a round's eight chains.
func TestKernels(t *testing.T) {
	t.Parallel()
	moved, wrong, elements := nodebench.Triad(2)
	if wrong > 0 || elements < 1 || moved != 3*float64(elements) {
		t.Errorf("of %d elements %d are wrong; %g words moved", elements, wrong, moved)
	}
	for i, kernel := range nodebench.Scalars {
		if done := kernel(); done != 2*8*32768 {
			t.Errorf("kernel %d has done %g operations", i, done)
		}
	}
}

func TestNominal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags []string
		mhz   int
		want  int64
	}{
		"Pentium 4 at 2.8 GHz": {[]string{"fpu", "sse2"}, 2800, 11_200_000_000},
		"Sandy Bridge":         {[]string{"sse2", "avx"}, 2000, 16_000_000_000},
		"Haswell":              {[]string{"sse2", "avx", "fma", "avx2"}, 2000, 32_000_000_000},
		"Skylake-SP":           {[]string{"avx512f", "avx2", "avx", "sse2", "fma"}, 2100, 67_200_000_000},
		"avx2 without fma":     {[]string{"sse2", "avx", "avx2"}, 2000, 16_000_000_000},
		"Neoverse":             {[]string{"fp", "asimd"}, 2500, 20_000_000_000},
		"no clock":             {[]string{"avx2", "fma"}, 0, 0},
		"nothing known":        {nil, 2000, 0},
	} {
		if got := nodebench.Nominal(c.flags, c.mhz); got != c.want {
			t.Errorf("%s: %d flop/s, want %d", name, got, c.want)
		}
	}
}

// TestReadsTheKernel: from files as Linux has them, and none.
func TestReadsTheKernel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if nodebench.FlagsOf(dir) != nil || nodebench.FreeMemory(dir) != 0 || nodebench.LargestCache(dir) != 0 {
		t.Error("a machine without files tells something")
	}
	for path, text := range map[string]string{
		"cpuinfo": "processor\t: 0\nflags\t\t: fpu sse2 avx\n\nprocessor\t: 1\nflags\t\t: none\n",
		"meminfo": "MemTotal:  4000 kB\nMemAvailable:    2000 kB\n",
		"devices/system/cpu/cpu0/cache/index0/size": "48K\n",
		"devices/system/cpu/cpu0/cache/index2/size": "2048K\n",
		"devices/system/cpu/cpu0/cache/index3/size": "x\n",
	} {
		file := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if got := nodebench.FlagsOf(dir); !slices.Equal(got, []string{"fpu", "sse2", "avx"}) {
		t.Errorf("flags %q", got)
	}
	if got := nodebench.FreeMemory(dir); got != 2000<<10 {
		t.Errorf("%d bytes are free", got)
	}
	if got := nodebench.LargestCache(dir); got != 2<<20 {
		t.Errorf("the largest cache has %d bytes", got)
	}
}

func TestCached(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set, cache int64
		want       bool
	}{{100, 0, false}, {100, 50, false}, {99, 50, true}} {
		if got := (nodebench.Result{WorkingSet: c.set, Cache: c.cache}).Cached(); got != c.want {
			t.Errorf("%d bytes with a cache of %d: %v", c.set, c.cache, got)
		}
	}
}

func BenchmarkScalar(b *testing.B) {
	for i, name := range []string{"MultiplyThenAdd", "FusedMultiplyAdd"} {
		b.Run(name, func(b *testing.B) {
			done := 0.
			for b.Loop() {
				done += nodebench.Scalars[i]()
			}
			b.ReportMetric(done/b.Elapsed().Seconds()/1e9, "Gflop/s")
		})
	}
}
