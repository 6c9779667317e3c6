package nodebench

import (
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
)

// The scalar kernels: chains of operations that do not wait for each other, as many as a
// CPU can have under way. Their values stay near 1.
const (
	rounds   = 1 << 15
	chains   = 8
	scale    = 0.999_999
	addition = 0.000_001
)

// multiplyThenAdd returns how many operations it has done, and so does its twin. That the
// result is looked at keeps the compiler from leaving them out.
func multiplyThenAdd() float64 {
	a, b, c, d, e, f, g, h := 1., 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7
	for range rounds {
		// The conversions forbid the compiler to fuse the two.
		a = float64(a*scale) + addition
		b = float64(b*scale) + addition
		c = float64(c*scale) + addition
		d = float64(d*scale) + addition
		e = float64(e*scale) + addition
		f = float64(f*scale) + addition
		g = float64(g*scale) + addition
		h = float64(h*scale) + addition
	}
	return counted(a + b + c + d + e + f + g + h)
}

func fusedMultiplyAdd() float64 {
	a, b, c, d, e, f, g, h := 1., 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7
	for range rounds {
		a = math.FMA(a, scale, addition)
		b = math.FMA(b, scale, addition)
		c = math.FMA(c, scale, addition)
		d = math.FMA(d, scale, addition)
		e = math.FMA(e, scale, addition)
		f = math.FMA(f, scale, addition)
		g = math.FMA(g, scale, addition)
		h = math.FMA(h, scale, addition)
	}
	return counted(a + b + c + d + e + f + g + h)
}

func counted(sum float64) float64 {
	if math.IsNaN(sum) {
		return 0
	}
	return 2 * chains * rounds
}

// vectors are those of STREAM's triad.
type vectors struct{ a, b, c []float64 }

// The sizes of the vectors of one CPU, in elements, and of those of all, in bytes.
const (
	maxElements   = 1 << 23 // 192 MiB for the three
	leastElements = 1 << 18
	maxBytes      = 1 << 30
	wordSize      = 8
)

// newVectors makes vectors for each CPU, of no more than a quarter of the memory that is
// free.
func newVectors(cpus int) []vectors {
	budget := int64(maxBytes)
	if free := freeMemory(procRoot); free > 0 {
		budget = min(budget, free/4)
	}
	n := int(min(maxElements, max(leastElements, budget/int64(3*wordSize*cpus))))
	all := make([]vectors, cpus)
	var filled sync.WaitGroup
	for i := range all {
		filled.Go(func() { all[i] = filledVectors(n) })
	}
	filled.Wait()
	return all
}

// filledVectors makes the vectors of one CPU. All are made at once: memory lies beside the socket
// that writes to it first, and one thread would have it all beside its own.
func filledVectors(n int) vectors {
	v := vectors{make([]float64, n), make([]float64, n), make([]float64, n)}
	for k := range n {
		v.a[k], v.b[k], v.c[k] = 0, 1, 2
	}
	return v
}

func (v vectors) size() int64 { return int64(3 * wordSize * len(v.a)) }

// triad is STREAM's: a = b + s·c. It returns how many words it has moved: two read and one
// written, as STREAM counts; that caches read what is to be written counts for nothing.
func (v vectors) triad() float64 {
	a := v.a
	b, c := v.b[:len(a)], v.c[:len(a)]
	for i := range a {
		a[i] = b[i] + scale*c[i]
	}
	return 3 * float64(len(a))
}

// Where Linux has its files.
const (
	procRoot = "/proc"
	sysRoot  = "/sys"
)

// freeMemory is how much memory can be had, in bytes; 0: not known.
func freeMemory(proc string) int64 {
	for line := range linesOf(proc + "/meminfo") {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "MemAvailable:" && words[2] == "kB" {
			return 1024 * number(words[1])
		}
	}
	return 0
}

// largestCache is the largest cache of the first CPU, in bytes; 0: not known.
func largestCache(sys string) (most int64) {
	for level := range 5 {
		data, err := os.ReadFile(sys + "/devices/system/cpu/cpu0/cache/index" + strconv.Itoa(level) + "/size")
		if err != nil {
			continue
		}
		if text, ok := strings.CutSuffix(strings.TrimSpace(string(data)), "K"); ok {
			most = max(most, 1024*number(text))
		}
	}
	return most
}

// flagsOf are the instruction sets of the first CPU, as /proc/cpuinfo names them.
func flagsOf(proc string) []string {
	for line := range linesOf(proc + "/cpuinfo") {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); key == "flags" || key == "Features" {
			return strings.Fields(value)
		}
	}
	return nil
}

// nominal is what a CPU may reach, in flop/s: its clock times the operations on numbers of 64
// bits in a cycle of a core with two units for its widest instruction set. Of several sets the
// last one counts. 0: not known.
func nominal(flags []string, mhz int) int64 {
	perCycle := 0
	has := map[string]bool{}
	for _, flag := range flags {
		has[flag] = true
	}
	for _, set := range []struct {
		flops int
		needs []string
	}{
		{4, []string{"sse2"}},         // 2 lanes, one unit multiplies and one adds
		{8, []string{"asimd"}},        // 2 lanes, fused, two units
		{8, []string{"avx"}},          // 4 lanes, one unit multiplies and one adds
		{16, []string{"avx2", "fma"}}, // 4 lanes, fused, two units
		{32, []string{"avx512f"}},     // 8 lanes, fused, two units
	} {
		all := true
		for _, flag := range set.needs {
			all = all && has[flag]
		}
		if all {
			perCycle = set.flops
		}
	}
	return int64(perCycle) * int64(mhz) * 1_000_000
}

func linesOf(path string) func(yield func(string) bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return func(func(string) bool) {}
	}
	return strings.Lines(string(data))
}

// number reads a number that fits in sums; 0 for what is none.
func number(text string) int64 {
	const most = 1 << 50
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0
	}
	return n
}
