package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// BenchmarkSubmit is durable submissions behind a job that fills the machine, one
// after another and 64 at once, and the ratio to a bare file and fsync.
func BenchmarkSubmit(b *testing.B) {
	for name, callers := range map[string]int{"one": 1, "64": 64} {
		b.Run(name, func(b *testing.B) {
			s := openSite(b, func(c *process.Config) { c.Capacity.CPUs = 1 })
			s.awaitRunning(b, s.submit(b, guest(b, "sleep 1000")))
			bare := bareSync(b)
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			if callers == 1 {
				for b.Loop() {
					s.submit(b, guest(b, "true"))
				}
			} else {
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						s.submit(b, guest(b, "true"))
					}
				})
			}
			each := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(time.Second)/float64(each), "submits/s")
			b.ReportMetric(float64(each)/float64(bare), "x-bare-fsync")
		})
	}
}

// bareSync is the time for a small file and its fsync on the same disk.
func bareSync(b *testing.B) time.Duration {
	b.Helper()
	dir := b.TempDir()
	const rounds = 50
	start := time.Now()
	for i := range rounds {
		file, err := os.Create(filepath.Join(dir, string(rune('0'+i))))
		if err != nil {
			b.Fatal(err)
		}
		file.WriteString("a job")
		if err := file.Sync(); err != nil {
			b.Fatal(err)
		}
		file.Close()
	}
	return time.Since(start) / rounds
}

// BenchmarkJob is a job from submission to end, the processor time that both
// stages of its shim take, and the ratio to a bare fork and exec of the script.
func BenchmarkJob(b *testing.B) {
	s := openSite(b, func(c *process.Config) { c.Log = nil })
	bare := bareScript(b)
	var ended atomic.Int64
	before := childTime()
	for b.Loop() {
		tag := s.submit(b, guest(b, "true"))
		if s.awaitEnd(b, tag).State == protocol.Completed {
			ended.Add(1)
		}
		s.Forget(b.Context(), tag)
		s.seen = nil
	}
	if ended.Load() != int64(b.N) {
		b.Errorf("%d of %d jobs completed", ended.Load(), b.N)
	}
	cpu := (childTime() - before) / time.Duration(b.N)
	b.ReportMetric(float64(cpu.Microseconds())/1000, "cpu-ms/job")
	b.ReportMetric(float64(cpu)/float64(bare), "x-bare-script")
}

// childTime is the processor time of children that were reaped.
func childTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func bareScript(b *testing.B) time.Duration {
	b.Helper()
	const rounds = 50
	before := childTime()
	for range rounds {
		if err := exec.CommandContext(b.Context(), "/bin/sh", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
	return max(1, (childTime()-before)/rounds)
}
