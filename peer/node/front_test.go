package node_test

import (
	"testing"
	"testing/synctest"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFrontIsByThePolicyThatDecides: the choice that is marked is the one that the round would
// take, by the parameters of [policy.iss]; where the policy lays none out, a built-in one does.
func TestFrontIsByThePolicyThatDecides(t *testing.T) {
	const hour = protocol.Hour
	component := policy.Job{ID: protocol.NewJobID(1, 1), CPUs: 1, WallTime: 9 * hour, Alpha: protocol.PPM}
	in := policy.Snapshot{ // as printed, z counts what waiting for the short component costs, too
		Currency: "CHF",
		Sites: []policy.Site{
			{Name: "slow", CPUs: 8, Free: 8, MaxJobs: 9, Currency: "CHF"}, {Name: "fast", CPUs: 8, Free: 8, MaxJobs: 9, Currency: "CHF"},
		},
		Applications: []policy.Application{{
			ID: component.ID, Beta: protocol.PPM, MaxCost: protocol.Unlimited, MaxTime: protocol.Never,
			WaitingCost: []protocol.WaitingRate{{PerHour: protocol.Unit}},
		}},
		Jobs:        []policy.Job{component, component},
		AWT:         make([]protocol.Duration, 4),
		ERT:         []protocol.Duration{8 * hour, 8 * hour, 4 * hour, 2 * hour},
		Cost:        make([]protocol.Micro, 4),
		UsageCost:   []protocol.Micro{0, 0, 0, protocol.Unit},
		LicenseCost: make([]protocol.Micro, 4), EnergyCost: make([]protocol.Micro, 4), DataCost: make([]protocol.Micro, 4),
	}
	in.Jobs[1].ID++
	printed := iss.Default()
	printed.Double = true
	for name, c := range map[string]struct {
		decider policy.Policy
		builtIn bool
		want    protocol.SiteName
	}{
		"by default":     {made(t, iss.Default()), false, "slow"},
		"as printed":     {made(t, printed), false, "fast"},
		"another policy": {tc.New(tc.Config{}), true, "slow"},
	} {
		synctest.Test(t, func(t *testing.T) {
			core := caller(event.ParetoOp{Snapshot: in, BuiltIn: c.builtIn})
			r := start(t, core, func(cfg *node.Config) {
				cfg.Policy = pluginhost.CheckedPolicy(c.decider)
				cfg.Fronter, _ = builtin.Fronter().(policy.ParetoPolicy)
			})
			synctest.Wait()
			got := answers(core)[0]
			found, ok := got.Result.(event.ParetoResult)
			if got.Err != nil || !ok {
				t.Fatalf("%s: %+v", name, got)
			}
			chosen := 0
			for _, point := range found.Front.Points {
				if got := in.Sites[point.Choices[1].Site].Name; point.Chosen && got != c.want {
					t.Errorf("%s: the short component goes to %s, want %s", name, got, c.want)
				}
				if point.Chosen {
					chosen++
				}
			}
			if chosen != 1 {
				t.Errorf("%s: %d points are chosen", name, chosen)
			}
			_ = r.end()
		})
	}
	if _, err := iss.Restore(nil); err == nil {
		t.Error("a policy iss without its parameters is one")
	}
}

// Without a policy that lays choices out the call fails.
func TestPolicyWithoutChoices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := caller(event.ParetoOp{}, event.ParetoOp{BuiltIn: true})
		r := start(t, core)
		synctest.Wait()
		for _, got := range answers(core) {
			if got.Err == nil || got.Err.Error() != "the policy lays out no choices" {
				t.Errorf("%+v", got)
			}
		}
		_ = r.end()
	})
}

func made(t *testing.T, cfg iss.Config) *iss.Policy {
	t.Helper()
	p, err := iss.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
