package node_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFrontIsByThePolicyThatDecides: the choice that is marked is the one that the round would
// take, by the parameters of [policy.iss].
func TestFrontIsByThePolicyThatDecides(t *testing.T) {
	t.Parallel()
	const hour = protocol.Hour
	component := policy.Job{ID: protocol.NewJobID(1, 1), CPUs: 1, WallTime: 9 * hour, Alpha: protocol.PPM}
	in := policy.Snapshot{ // as printed, z counts what waiting for the short component costs, too
		Currency: "CHF",
		Sites: []policy.Site{
			{Name: "slow", CPUs: 8, Free: 8, Accept: 9, Currency: "CHF"}, {Name: "fast", CPUs: 8, Free: 8, Accept: 9, Currency: "CHF"},
		},
		Applications: []policy.Application{{
			ID: component.ID, Beta: protocol.PPM, MaxCost: protocol.Unlimited, MaxTime: protocol.Never,
			Waiting: []protocol.WaitingRate{{PerHour: protocol.Unit}},
		}},
		Jobs:    []policy.Job{component, component},
		AWT:     make([]protocol.Duration, 4),
		ERT:     []protocol.Duration{8 * hour, 8 * hour, 4 * hour, 2 * hour},
		Cost:    make([]protocol.Micro, 4),
		Use:     []protocol.Micro{0, 0, 0, protocol.Unit},
		Licence: make([]protocol.Micro, 4), Eco: make([]protocol.Micro, 4), Data: make([]protocol.Micro, 4),
	}
	in.Jobs[1].ID++
	printed := iss.Default()
	printed.Double = true
	for name, c := range map[string]struct {
		decider policy.Info
		want    protocol.SiteName
	}{
		"by default":     {made(t, iss.Default()).Info(), "slow"},
		"as printed":     {made(t, printed).Info(), "fast"},
		"another policy": {policy.Info{Name: "tc"}, "slow"},
	} {
		result, err := node.Front(in, c.decider)
		found, ok := result.(peer.FrontResult)
		if err != nil || !ok {
			t.Fatalf("%s: %v, %v", name, result, err)
		}
		for _, point := range found.Front.Points {
			if got := point.Choices[1].Site; point.Chosen && got != c.want {
				t.Errorf("%s: the short component goes to %s, want %s", name, got, c.want)
			}
		}
	}
	if _, err := node.Front(in, policy.Info{Name: iss.Name}); err == nil {
		t.Error("a policy iss without its parameters is one")
	}
}

func made(t *testing.T, cfg iss.Config) *iss.Policy {
	t.Helper()
	p, err := iss.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
