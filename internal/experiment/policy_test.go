package experiment_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
)

// set changes a plan, which must be possible.
func set(t *testing.T, plan *experiment.Plan, settings ...experiment.Setting) *experiment.Plan {
	t.Helper()
	changed, err := plan.With(settings...)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestBuiltInPolicies: each decides rounds under sender, and in its own way.
func TestBuiltInPolicies(t *testing.T) {
	t.Parallel()
	plan := opened(t, smallPlan)
	seen := map[string]string{}
	for _, name := range builtin.Names() {
		outcome := run(t, set(t, plan, experiment.Setting{Key: "policy.name", Value: name}), experiment.Sender, 1)
		if outcome.Metrics.Jobs == 0 || outcome.Unplaced > 0 {
			t.Errorf("%s: %d jobs ran, %d were not placed", name, outcome.Metrics.Jobs, outcome.Unplaced)
		}
		if name != builtin.MCMF && name != builtin.TwoPrice && name != builtin.ISS { // alike without prices and objectives
			if other := seen[outcome.Hash]; other != "" {
				t.Errorf("%s places jobs as %s does", name, other)
			}
			seen[outcome.Hash] = name
		}
	}
}

// TestPoliciesServeTheirInitiations only.
func TestPoliciesServeTheirInitiations(t *testing.T) {
	t.Parallel()
	plan := set(t, opened(t, smallPlan), experiment.Setting{Key: "policy.name", Value: builtin.MCMF})
	_, err := plan.Run(t.Context(), experiment.Receiver, 1, nil)
	want := `the policy mcmf does not serve rounds that are opened by receiver, only by "sender" or "cycle"`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	for _, scheme := range []experiment.Scheme{experiment.Local, experiment.Central, experiment.Ideal} {
		run(t, plan, scheme, 1) // asks no policy
	}
}

// TestParametersOfPolicies are set as other keys are, and checked.
func TestParametersOfPolicies(t *testing.T) {
	t.Parallel()
	plan := opened(t, smallPlan)
	changed := set(t, plan,
		experiment.Setting{Key: "normalise", Value: "round"}, experiment.Setting{Key: "weight", Value: "0.4"}, experiment.Setting{Key: "cost_steps", Value: "1000000"},
		experiment.Setting{Key: "marginal_jobs", Value: "8"})
	if p := changed.Policy.MCMF; p.Weight != 400_000 || p.CostSteps != 1_000_000 || p.MarginalJobs != 8 {
		t.Errorf("got %+v", p)
	}
	for _, tt := range []struct{ key, value, at, word string }{
		{"weight", "1.5", "weight", "0 to 1"},
		{"weight", "much", "weight", "number"},
		{"weight", "0.4", "policy.mcmf.weight", `set normalise = "round"`},
		{"normalise", "best", "policy.mcmf.normalise", `"price", "round"`},
		{"delay_price", "-1", "policy.mcmf.delay_price", "0 to 1000000"},
		{"cost_steps", "0", "policy.mcmf.cost_steps", "1 to 1000000"},
		{"marginal_jobs", "1", "policy.mcmf.marginal_jobs", "2 to 64"},
		{"policy.name", "best", "policy.name", `"tc", "local", "mcmf"`},
	} {
		_, err := plan.With(experiment.Setting{Key: tt.key, Value: tt.value})
		problemstest.Check(t, err, problemstest.Key(tt.at, tt.word))
	}
}
