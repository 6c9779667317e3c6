package wait_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
)

// BenchmarkEvaluate replays the traces of [MC 5.1.1] that are to be had, and
// prints the scores with -v.
func BenchmarkEvaluate(b *testing.B) {
	for _, c := range []struct {
		name, file string
		cpus       int
	}{
		{"CEA-Curie", "CEA-Curie-2011-2.1-cln.swf.gz", 93_312},
		{"SDSC-BLUE", "SDSC-BLUE-2000-4.2-cln.swf.gz", 1152},
		{"SDSC-Par", "SDSC-Par-1996-3.1-cln.swf.gz", 400},
	} {
		b.Run(c.name, func(b *testing.B) {
			past := sharedPast(b, c.file, wait.PastOptions{})
			var scores []wait.Score
			for b.Loop() {
				var err error
				scores, err = wait.Evaluate(past, wait.EvaluateOptions{CPUs: c.cpus, Warm: 1000}, contestants(b)...)
				if err != nil {
					b.Fatal(err)
				}
			}
			var table strings.Builder
			if err := writeScores(&table, scores); err != nil {
				b.Fatal(err)
			}
			if err := writeRanges(&table, scores); err != nil {
				b.Fatal(err)
			}
			b.Logf("\n%s", table.String())
			for _, s := range scores {
				for _, method := range slices.Sorted(maps.Keys(s.Methods)) {
					b.Logf("%s by %s: %d jobs", s.Predictor, method, s.Methods[method])
				}
			}
		})
	}
}
