package wait_test

import (
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
)

// BenchmarkPredict asks about the jobs that follow on 4,000 that started, and
// learns from none. The target is 0.3 ms.
func BenchmarkPredict(b *testing.B) {
	for _, c := range []struct {
		name, file string
		cpus       int
	}{
		{"CEA-Curie", "CEA-Curie-2011-2.1-cln.swf.gz", 93_312},
		{"SDSC-BLUE", "SDSC-BLUE-2000-4.2-cln.swf.gz", 1152},
		{"SDSC-Par", "SDSC-Par-1996-3.1-cln.swf.gz", 400},
	} {
		past := sharedPast(b, c.file, wait.PastOptions{})
		for i, predictor := range rivals(b) {
			b.Run(c.name+"/"+predictor.Name(), func(b *testing.B) {
				keeper := &recorder{Predictor: predictor}
				if _, err := wait.Evaluate(past[:5000], wait.EvaluateOptions{CPUs: c.cpus}, keeper); err != nil {
					b.Fatal(err)
				}
				asked := keeper.arrivals[4000:]
				b.ReportAllocs()
				before := cpuSeconds(b)
				for n := 0; b.Loop(); n++ {
					predictor.Predict(asked[n%len(asked)])
				}
				each := (cpuSeconds(b) - before) / float64(b.N)
				b.ReportMetric(1e6*each, "cpu-µs/op")
				if i == 0 {
					b.ReportMetric(0.3e-3/each, "of-target")
				}
			})
		}
	}
}

// recorder keeps the arrivals that a predictor is asked about.
type recorder struct {
	wait.Predictor
	arrivals []wait.Arrival
}

func (r *recorder) Predict(a wait.Arrival) wait.Prediction {
	r.arrivals = append(r.arrivals, a)
	return r.Predictor.Predict(a)
}

// cpuSeconds is what the process has used, user and system.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return float64(used.Utime.Sec+used.Stime.Sec) + float64(used.Utime.Usec+used.Stime.Usec)/1e6
}
