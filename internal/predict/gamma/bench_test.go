package gamma_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
)

// BenchmarkLearn draws knowledge from as many runs as are ever kept, on all machines.
func BenchmarkLearn(b *testing.B) {
	c, sites := classes(b)[1], park(b)
	truth := truths(&c)[0]
	stated := truth.wrong()
	var runs []gamma.Execution
	for i := range gamma.KeepAll {
		s := sites[i%len(sites)]
		s.name += "-" + sites[i/len(sites)%4].name
		runs = append(runs, truth.runs(1, &s, []int{c.cpus >> (i % 3)}, all())...)
	}
	b.ReportAllocs()
	for b.Loop() {
		gamma.Learn(stated, runs)
	}
}

// BenchmarkExpect asks for the run time at one site.
func BenchmarkExpect(b *testing.B) {
	c, sites := classes(b)[1], park(b)
	truth := truths(&c)[0]
	k := gamma.Learn(truth.wrong(), truth.runs(gamma.Keep, &sites[1], []int{c.cpus}, all()))
	b.ReportAllocs()
	for b.Loop() {
		k.Expect(sites[1].name, sites[1].machine, c.cpus)
	}
}
