// Package nodebench measures what a CPU of this machine can do, as the Γ model describes
// machines (Gruber et al. 2003; [IS 2]): its peak R∞ and the bandwidth M∞ of its main memory.
//
// All CPUs are at work at once, because what they share, memory above all, they share when
// jobs run too. The kernels are written in Go, whose compiler makes no use of vector units:
// so the peak is that of scalar code, and [Result.Nominal] says how far it may be from what
// programs reach that are compiled for this machine. The bandwidth hardly suffers: memory is
// slower than scalar code.
package nodebench

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/usage"
)

// Result is what was measured.
type Result struct {
	CPUs       int   // that were at work
	Flops      int64 // R∞ of one of them, in flop/s, of scalar code
	Nominal    int64 // what one may reach by clock and instruction set, in flop/s; 0: not known
	Words      int64 // M∞ of one of them, in 64-bit words a second
	MHz        int   // of their clock while they worked; 0: not known
	WorkingSet int64 // of the measurement of the memory, in bytes
	Cache      int64 // the largest cache, in bytes; 0: not known
}

// Cached says whether caches may have served the measurement of the memory.
func (r Result) Cached() bool { return r.WorkingSet < 2*r.Cache }

// DefaultSpan is a span for [Measure] after which results hardly change.
const DefaultSpan = 1500 * time.Millisecond

// Measure measures this machine for about the span. The error is the context's.
func Measure(ctx context.Context, span time.Duration) (Result, error) {
	cpus := runtime.GOMAXPROCS(0)
	r := Result{CPUs: cpus}
	scalars := []func() float64{multiplyThenAdd, fusedMultiplyAdd}
	const tries = 3
	slice := span / time.Duration(tries*(len(scalars)+2)) // two for memory: it takes long to pass it once
	for range tries {
		for _, kernel := range scalars {
			r.Flops = max(r.Flops, rate(ctx, cpus, slice, func(int) float64 { return kernel() }))
		}
		r.MHz = max(r.MHz, usage.Kernel().MHz())
	}
	vectors := newVectors(cpus)
	for range tries {
		r.Words = max(r.Words, rate(ctx, cpus, 2*slice, func(cpu int) float64 { return vectors[cpu].triad() }))
	}
	r.WorkingSet = int64(cpus) * vectors[0].size()
	r.Cache = largestCache(sysRoot)
	r.Nominal = nominal(flagsOf(procRoot), r.MHz)
	return r, ctx.Err()
}

// rate has each CPU do pieces of work for a time, and is how much of it one does in a
// second, on average.
func rate(ctx context.Context, cpus int, span time.Duration, work func(cpu int) (done float64)) int64 {
	rates := make([]float64, cpus)
	var all sync.WaitGroup
	for cpu := range cpus {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			start, done := time.Now(), 0.0
			for ctx.Err() == nil {
				done += work(cpu)
				if took := time.Since(start); took >= span && took > 0 {
					rates[cpu] = done / took.Seconds()
					return
				}
			}
		})
	}
	all.Wait()
	sum := 0.0
	for _, r := range rates {
		sum += r
	}
	return int64(math.Round(sum / float64(cpus)))
}
