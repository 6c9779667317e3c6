package experiment_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// TestFitKeepsLoadAndWait: jobs drawn from the model of each log have its load within
// 3 % and its mean wait under EASY within a factor of 1.5, as docs/simulator.md says. Short
// tests look at the small logs.
func TestFitKeepsLoadAndWait(t *testing.T) {
	t.Parallel()
	for _, log := range []struct {
		name  string
		large bool
	}{
		{"5K_sample_clean", false},
		{"ANL-Intrepid-2009-1.first10000", true},
		{"CEA-Curie-2011-2.1-cln", true},
		{"KTH-SP2-1996-2.1-cln", false},
		{"LCG", true},
		{"SDSC-BLUE-2000-4.2-cln", true},
		{"SDSC-Par-1996-3.1-cln", true},
		{"SDSC-SP2-1998-4.2-cln", true},
		{"SDSC-SP2-5K_sample", false},
		{"lublin_256_est", false},
		{"lublin_256_perfect", true},
		{"xsede-sample-4100", false},
	} {
		t.Run(log.name, func(t *testing.T) {
			t.Parallel()
			if log.large && testing.Short() {
				t.Skip("a large log, in short tests")
			}
			path := filepath.Join("..", "..", "..", "shared", "data", "traces", log.name+".swf.gz")
			if _, err := os.Stat(path); err != nil && os.Getenv("CI") != "true" {
				t.Skip(err)
			}
			trace, err := experiment.ReadTrace(path, "", false)
			if err != nil {
				t.Fatal(err)
			}
			f, err := experiment.FitTrace(path, trace, experiment.FitOptions{
				Machine: workload.Machine{Name: "log", CPUsPerNode: 1, MHz: 1000}, Replays: 3,
			})
			if err != nil {
				t.Fatal(err)
			}
			if warning := f.Warning(); warning != "" {
				t.Error(warning)
			}
			got := f.Result()
			if got.Drawn.Jobs != got.Measured.Jobs || len(got.Waits.Drawn) != 3 {
				t.Errorf("drew %d jobs of %d, %d times", got.Drawn.Jobs, got.Measured.Jobs, len(got.Waits.Drawn))
			}
			for i, wait := range got.Waits.Drawn {
				if wait > 1.5*got.Waits.Trace || wait < got.Waits.Trace/1.5 {
					t.Errorf("seed %d: a mean wait of %.0f s, the log's is %.0f s", i+1, wait, got.Waits.Trace)
				}
			}
		})
	}
}
