package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

// appendAndSync measures how many 576-byte records a second the disk of the
// folder takes with one fdatasync each: what a store of one caller cannot beat.
func appendAndSync(b *testing.B, dir string) float64 {
	b.Helper()
	file, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		b.Fatal(err)
	}
	record := make([]byte, 576)
	const n = 500
	started := time.Now()
	for range n {
		if _, err := file.Write(record); err != nil {
			b.Fatal(err)
		}
		if err := file.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(started)
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return n / took.Seconds()
}

// jobRows is one job's change of state: the job, 512 bytes, and a message to
// send, 64 bytes.
func jobRows(id int64) []store.Put {
	key := strconv.FormatInt(1_000_000_000_000+id, 10)
	return []store.Put{
		{Table: "job", Key: key, Value: make([]byte, 512)},
		{Table: "outbox", Key: key, Value: make([]byte, 64)},
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			dir := b.TempDir()
			raw := appendAndSync(b, dir)
			s := open(b, filepath.Join(dir, "peer.db"))
			var last atomic.Int64
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			b.ResetTimer()
			if callers == 1 {
				for b.Loop() {
					commit(b, s, jobRows(last.Add(1))...)
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := s.Commit(b.Context(), jobRows(last.Add(1))); err != nil {
							b.Error(err)
						}
					}
				})
			}
			perSecond := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(perSecond, "jobs/s")
			b.ReportMetric(2*perSecond, "rows/s")
			b.ReportMetric(perSecond/raw, "x-raw-append-fsync")
			stats := s.Stats()
			b.ReportMetric(float64(stats.Requests)/float64(stats.Commits), "jobs/transaction")
		})
	}
}

// BenchmarkEnqueue is the shell's way: one caller that does not wait.
func BenchmarkEnqueue(b *testing.B) {
	dir := b.TempDir()
	raw := appendAndSync(b, dir)
	s := open(b, filepath.Join(dir, "peer.db"))
	room := make(chan struct{}, 1024)
	id := int64(0)
	for b.Loop() {
		room <- struct{}{}
		id++
		s.Enqueue(jobRows(id), func(err error) {
			if err != nil {
				b.Error(err)
			}
			<-room
		})
	}
	for range cap(room) {
		room <- struct{}{}
	}
	perSecond := float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(perSecond, "jobs/s")
	b.ReportMetric(perSecond/raw, "x-raw-append-fsync")
}

// BenchmarkLoad reads a store of 100,000 jobs, as a peer does when it starts.
func BenchmarkLoad(b *testing.B) {
	s := fresh(b)
	const n = 100_000
	for from := int64(0); from < n; from += 1000 {
		var puts []store.Put
		for id := from; id < from+1000; id++ {
			puts = append(puts, jobRows(id)...)
		}
		commit(b, s, puts...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := len(rows(b, s, "job")); got != n {
			b.Fatalf("%d rows", got)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
