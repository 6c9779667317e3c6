package workload_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// BenchmarkReadSWF reads the log of SDSC Blue Horizon, 243,306 jobs, as text
// and as the archive packs it.
func BenchmarkReadSWF(b *testing.B) {
	packed := sharedTrace(b, "SDSC-BLUE-2000-4.2-cln.swf.gz")
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(unpack)
	if err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{"text": text, "gzip": packed} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			jobs := 0
			for b.Loop() {
				trace, err := workload.ReadSWF(bytes.NewReader(data), workload.ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				jobs += len(trace.Records)
			}
			b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

func BenchmarkWriteSWF(b *testing.B) {
	trace := readShared(b, "SDSC-BLUE-2000-4.2-cln.swf.gz")
	b.ReportAllocs()
	jobs := 0
	for b.Loop() {
		if err := workload.WriteSWF(io.Discard, trace); err != nil {
			b.Fatal(err)
		}
		jobs += len(trace.Records)
	}
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
}
