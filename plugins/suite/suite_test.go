package suite_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/plugins/suite"
)

// config has no key.
type config struct{}

// With an argument, the test's binary is a policy plugin: a good one, or one that claims
// more than it does.
func TestMain(m *testing.M) {
	served := sdk.Policy[config]{Name: "local", Version: "1.0.0"}
	switch {
	case len(os.Args) > 1 && os.Args[1] == "good":
		served.Make = func(config, sdk.Host) (policy.Policy, error) { return local.New(), nil }
		sdk.Main(served)
	case len(os.Args) > 1 && os.Args[1] == "wrong":
		served.Make = func(config, sdk.Host) (policy.Policy, error) { return hasty{local.New()}, nil }
		sdk.Main(served)
	}
	os.Exit(m.Run())
}

// hasty decides on each job twice.
type hasty struct{ policy.Policy }

// Decide implements [policy.Policy].
func (h hasty) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	decisions, hint, err := h.Policy.Decide(ctx, in)
	return append(decisions, decisions...), hint, err
}

func TestRun(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for as, holds := range map[string]bool{"good": true, "wrong": false} {
		spec, err := pluginhost.SpecOf(self, "", sdk.Host{Software: "test"})
		if err != nil {
			t.Fatal(err)
		}
		spec.Args = []string{as}
		var shown, failed int
		s := suite.Suite{Spec: spec, Log: &bytes.Buffer{}}
		results, err := s.Run(t.Context(), func(conformance.Result) { shown++ })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Err != nil {
				failed++
				t.Logf("%s: %s: %v", as, r.Name, r.Err)
			}
		}
		if shown != len(results) || shown < 10 || (failed == 0) != holds || s.Spec.Kind != pluginhost.PolicyKind {
			t.Errorf("%s: %d of %d cases failed, %d were shown, of kind %s", as, failed, len(results), shown, s.Spec.Kind)
		}
	}
}
