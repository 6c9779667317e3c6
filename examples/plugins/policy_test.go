package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policytest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPolicyConformance: in a process of their own both do what all policies must.
func TestPolicyConformance(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(testing.TB) example{
		"go":     func(testing.TB) example { return goPolicy() },
		"python": pythonPolicy,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, log := find(t).spec(t, ""), logOf(t)
			policytest.Test(t, policytest.Target{Open: func(ctx context.Context) (policy.Policy, error) {
				plugin, err := pluginhost.Open(spec, log) //nolint:contextcheck // it runs until it is closed
				if err != nil {
					return nil, err
				}
				if err = plugin.Wait(ctx); err != nil {
					return nil, errors.Join(err, plugin.Close())
				}
				return openPolicy{plugin.Policy(), plugin}, nil
			}})
		})
	}
}

// TestPythonDecidesAlike: whatever the snapshot, both policies decide the same, to the
// letter of the reasons.
func TestPythonDecidesAlike(t *testing.T) {
	t.Parallel()
	const config = `wait_limit = "20m"`
	python := pythonPolicy(t).open(t, config).Policy()
	original := goPolicy().open(t, config).Policy()
	if a, b := fmt.Sprintf("%+v", policy.Describe(python)), fmt.Sprintf("%+v", policy.Describe(original)); a != b {
		t.Errorf("in Python it says it is %s, in Go %s", a, b)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := drawSnapshot(t)
		got, gotHint, gotErr := python.Decide(t.Context(), in)
		want, wantHint, wantErr := original.Decide(t.Context(), in)
		if gotErr != nil || wantErr != nil || gotHint != nil || wantHint != nil {
			t.Fatalf("hints %v, %v; errors %v, %v", gotHint, wantHint, gotErr, wantErr)
		}
		if len(got) != len(want) {
			t.Fatalf("%d decisions in Python, %d in Go", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("decision %d is %+v in Python, %+v in Go", i, got[i], want[i])
			}
		}
	})
}

// drawSnapshot draws small numbers, that there be ties, and the largest.
func drawSnapshot(t *rapid.T) policy.Snapshot {
	count := rapid.OneOf(rapid.IntRange(0, 8), rapid.IntRange(0, math.MaxInt32))
	span := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, int64(protocol.Day)), rapid.Int64Range(0, math.MaxInt64))
	money := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64())
	var in policy.Snapshot
	for s := range rapid.IntRange(0, 5).Draw(t, "sites") {
		in.Sites = append(in.Sites, policy.Site{
			Name: protocol.SiteName(rune('a' + s)), CPUs: count.Draw(t, "cpus"), Free: count.Draw(t, "free"),
			MaxJobs: count.Draw(t, "accept"), Currency: rapid.SampledFrom([]string{"", "EUR", "USD"}).Draw(t, "currency"),
		})
	}
	in.Self = rapid.IntRange(-1, len(in.Sites)-1).Draw(t, "self")
	for j := range rapid.IntRange(0, 8).Draw(t, "jobs") {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: count.Draw(t, "job cpus")})
		for range in.Sites {
			awt, ert, cost := protocol.Never, protocol.Never, protocol.Micro(0)
			if rapid.IntRange(0, 3).Draw(t, "declined") > 0 {
				awt, ert = protocol.Duration(span.Draw(t, "awt")), protocol.Duration(span.Draw(t, "ert"))
				cost = protocol.Micro(money.Draw(t, "cost"))
			}
			if awt == protocol.Never {
				ert, cost = protocol.Never, 0
			}
			in.AWT, in.ERT, in.Cost = append(in.AWT, awt), append(in.ERT, ert), append(in.Cost, cost)
		}
	}
	return in
}

// TestConfigurations: mistakes are told with line and key, by either plugin.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(testing.TB) example{
		"go":     func(testing.TB) example { return goPolicy() },
		"python": pythonPolicy,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plugin := find(t)
			for config, want := range map[string]string{
				"\n\nwait_limit = \"0s\"":                     "plugin.toml:3: wait_limit: is 0",
				"# none\nwait_limit = 5":                      "plugin.toml:2: wait_limit: is ",
				"wait_limit = \"soon\"":                       "plugin.toml:1: wait_limit: is not a valid duration",
				"wait_limit = \"200000d\"":                    "plugin.toml:1: wait_limit: is more than a hundred years",
				"wait_limit = \"1h\"\n\nwait_limits = \"2h\"": "plugin.toml:3: wait_limits: unknown key",
				"wait_limit = \"1h\"\n[limits]\nwait = 1":     "plugin.toml:2: limits: unknown key",
				"wait_limit = \"1h\"\nwait_limit":             "plugin.toml:2: not TOML: ",
			} {
				if err := failure(t, plugin, config); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q: got %v, want %q", config, err, want)
				}
			}
			for config, want := range map[string]string{
				"":                        "3600000",
				"wait_limit = \"1h30m\"":  "5400000",
				"wait_limit = \"2d\"":     "172800000",
				"\"wait_limit\" = '1.5s'": "1500",
			} {
				if got := plugin.open(t, config).Policy().Info().Params; len(got) != 1 || got[0].Value != want {
					t.Errorf("%q: the parameters are %v, want %s", config, got, want)
				}
			}
		})
	}
}

// failure is why a plugin does not start with a configuration.
func failure(t *testing.T, e example, config string) error {
	t.Helper()
	plugin, err := pluginhost.Open(e.spec(t, config), logOf(t))
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(plugin.Wait(t.Context()), plugin.Close())
}

// TestByHand: a plugin that people start says what it is.
func TestByHand(t *testing.T) {
	t.Parallel()
	for _, e := range []example{goPolicy(), goScheduler(), pythonPolicy(t)} {
		out, err := exec.CommandContext(t.Context(), e.path).CombinedOutput()
		exit := new(exec.ExitError)
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "switchyard plugin check") {
			t.Errorf("%s: %v\n%s", e.path, err, out)
		}
	}
}
