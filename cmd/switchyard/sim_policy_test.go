package main

import (
	"strings"
	"testing"
)

// TestStandaloneElectricityPolicies: as plugins of their own the policies of [MC] place
// jobs as they do in this process.
func TestStandaloneElectricityPolicies(t *testing.T) {
	t.Parallel()
	mcmf := builtInPlugin(t, "mcmf")
	sameSchedule(t, []string{"--policy", mcmf}, "--policy", "mcmf")
	config := tempFile(t, "inst.toml", "variant = \"inst\"\n")
	sameSchedule(t, []string{"--policy", mcmf, "--policy-config", config}, "--policy", "inst")
	sameSchedule(t, []string{"--policy", builtInPlugin(t, "stable")}, "--policy", "stable")
	sameSchedule(t, []string{"--policy", builtInPlugin(t, "iss")}, "--policy", "iss")
}

// TestSimPolicyByName: a built-in policy has no configuration file, and decides only
// rounds that it serves.
func TestSimPolicyByName(t *testing.T) {
	t.Parallel()
	const plan = "testdata/plugins.toml"
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--policy", "mcmf", "--policy-config", "mcmf.toml"}, 2, "set the parameters of mcmf in the table [policy.mcmf]"},
		{[]string{"--policy", "mcmf", "--scheme", "receiver"}, 2, "the policy mcmf does not serve rounds that are opened by receiver"},
	} {
		got := simulate(t, append([]string{"run", plan}, tt.args...)...)
		if got.code != tt.code || !strings.Contains(got.stderr, tt.want) {
			t.Errorf("%v: exit code %d\n%s", tt.args, got.code, got.stderr)
		}
	}
}
