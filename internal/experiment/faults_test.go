package experiment_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
)

// TestFaultsAfterTheEnd are named: they change nothing.
func TestFaultsAfterTheEnd(t *testing.T) {
	t.Parallel()
	plan := opened(t, smallPlan+"[[crash]]\nsite = \"busy\"\nat = \"1h\"\nfor = \"1h\"\n[[crash]]\nsite = \"busy\"\nat = \"400d\"\nfor = \"1h\"\n"+
		"[[cut]]\na = \"idle\"\nfrom = \"300d\"\nuntil = \"301d\"\n")
	late := run(t, plan, experiment.Sender, 1).LateFaults()
	if len(late) != 2 || !strings.HasPrefix(late[0], "cut[0] of idle begins at 300d and has no effect: the last job ends after ") ||
		!strings.HasPrefix(late[1], "crash[1] of busy begins at 400d and has no effect") {
		t.Errorf("got %q", late)
	}
}

// TestConstantResults of a trace say that ± 0 is no interval; those of a model do not.
func TestConstantResults(t *testing.T) {
	t.Parallel()
	trace := "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 8\n[[workload]]\nsite = \"a\"\ntrace = '" + hourly(t, 5) + "'\n"
	for text, want := range map[string]bool{trace: true, smallPlan: false} {
		sweep := experiment.Sweep{Plan: opened(t, text), Seeds: 2}
		swept, err := sweep.Run(t.Context(), nil)
		if err != nil || swept.Constant() != want {
			t.Errorf("constant is not %v, %v", want, err)
		}
	}
}

// TestPoliciesInOneTable are compared by the key policy.name.
func TestPoliciesInOneTable(t *testing.T) {
	t.Parallel()
	sweep := experiment.Sweep{Plan: opened(t, smallPlan), Seeds: 1}
	for _, axis := range []string{"policy.name=tc,mcmf,iss", "scheme=sender,local"} {
		if err := sweep.Set(axis); err != nil {
			t.Fatal(err)
		}
	}
	swept, err := sweep.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range swept.Points {
		names = append(names, p.Settings["policy.name"])
	}
	if !slices.Equal(slices.Compact(names), []string{"tc", "mcmf", "iss"}) || len(names) != 6 {
		t.Errorf("got %q", names)
	}
}
