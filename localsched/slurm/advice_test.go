package slurm_test

import (
	"os"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
)

// TestAdvice: which settings of Slurm withhold something.
func TestAdvice(t *testing.T) {
	t.Parallel()
	hidden := []string{"slurm_hides_jobs"}
	if os.Geteuid() == 0 { // who sees all jobs
		hidden = nil
	}
	for config, want := range map[string][]string{
		"JobCompType = jobcomp/filetxt\nJobCompLoc = /a\nEnforcePartLimits = ALL\nPrivateData = none": nil,
		"JobCompType = jobcomp/none\nEnforcePartLimits = ALL":                                         {"slurm_forgets_ends"},
		"JobCompType = jobcomp/filetxt\nJobCompLoc = /a\nEnforcePartLimits = NO":                      {"slurm_accepts_impossible_jobs"},
		"JobCompType = jobcomp/filetxt\nJobCompLoc = /a\nPrivateData = usage,jobs":                    hidden,
	} {
		if got := slurm.AdviceOn(config); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", config, got, want)
		}
	}
}
