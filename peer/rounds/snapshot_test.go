package rounds_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestSnapshot(t *testing.T) {
	t.Parallel()
	term := func(name string, amount protocol.Micro) []protocol.Term {
		return []protocol.Term{{Name: name, Amount: amount}}
	}
	r := &rounds.Round{
		Specs: []protocol.Spec{spec(1, 4), spec(2, 8)},
		Home: []protocol.Quote{
			{Job: 1, AWT: 10, ERT: 20, Terms: term("use", 3), Currency: "EUR"},
			{Job: 2, AWT: protocol.Never, ERT: 20, Terms: term("use", 9), Currency: "USD"},
		},
		Extra: []protocol.Duration{5},
	}
	r.Specs[0].Submitted, r.Specs[0].Data, r.Specs[0].DataOut = 60, 7, 8
	r.Specs[1].Submitted = 200 // by a clock that is ahead
	asked, has := []protocol.Resource{{Name: "gpu", Count: 2, Per: protocol.PerNode}}, []protocol.Resource{{Name: "gpu", Type: "a100", Count: 4}}
	r.Specs[1].Nodes, r.Specs[1].Resources, r.Specs[1].Features, r.Specs[1].Exclusive = 1, asked, "ssd", true
	later := &rounds.Ask{
		Partner: &partner.Partner{Partner: rules.Partner{Site: "c", Latency: 1, Bandwidth: 2}, LoadAt: 90, Load: protocol.Load{CPUs: 1}}, Jobs: []int{0, 1},
		Reply: &protocol.QuoteReply{
			Load: protocol.Load{CPUs: 10, Busy: 5}, Free: 4, MaxJobs: 3, MarginalWaits: []protocol.Duration{6},
			Quotes: []protocol.Quote{{Job: 1, Declined: "no", AWT: 1, Terms: term(pricing.EnergyTerm, 1)}, {Job: 2, AWT: 30, ERT: 40, Terms: term(pricing.EnergyTerm, 5), Currency: "SEK"}},
		},
	}
	earlier := &rounds.Ask{
		Partner: at("a"), Jobs: []int{1}, Reply: &protocol.QuoteReply{Quotes: []protocol.Quote{{Job: 2, AWT: 1, ERT: 2}}},
	}
	r.Asks = []*rounds.Ask{earlier, later, {Partner: at("d"), Jobs: []int{0}}}
	later.Partner.Card = &protocol.Card{Capacity: protocol.Capacity{Groups: []protocol.NodeGroup{{Nodes: 2, Resources: []protocol.Resource{{Name: "gpu", Type: "a100", Count: 2}}}}}}
	got := r.Snapshot(rounds.Own{Site: "b", Load: protocol.Load{CPUs: 8, Busy: 8}, Free: 1, Accept: 2, Resources: has}, 100)
	never := protocol.Never
	want := policy.Snapshot{
		Self: 1,
		Sites: []policy.Site{
			{Name: "a", RUS: 1_000_000, Age: 100, NoEnergy: true},
			{Name: "b", RUS: 1_000_000, CPUs: 8, Free: 1, MaxJobs: 2, Currency: "EUR", NoEnergy: true, MarginalWaits: []protocol.Duration{5}, Resources: has},
			{Name: "c", RUS: 500_000, Age: 10, CPUs: 10, Free: 4, MaxJobs: 3, Currency: "SEK", Latency: 1, Bandwidth: 2, MarginalWaits: []protocol.Duration{6}, Resources: has},
		},
		Jobs: []policy.Job{
			{ID: 1, CPUs: 4, WallTime: protocol.Hour, Waited: 40, Data: 7, DataOut: 8}, {ID: 2, CPUs: 8, WallTime: protocol.Hour, Nodes: 1, Resources: asked, Features: "ssd", Exclusive: true},
		},
		AWT:  []protocol.Duration{never, 10, never, 1, never, 30},
		ERT:  []protocol.Duration{never, 20, never, 2, never, 40},
		Cost: []protocol.Micro{0, 3, 0, 0, 0, 5},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the snapshot is\n%+v, want\n%+v", got, want)
	}
}

func TestExplained(t *testing.T) {
	t.Parallel()
	of := []policy.Decision{{Job: 1, Reason: "least wait"}}
	if got := rounds.Explained(of, "tc decided"); got[0].Reason != "least wait; the policy failed, tc decided" || got[0].Job != 1 {
		t.Errorf("%+v", got)
	}
	if of[0].Reason != "least wait" {
		t.Error("the other policy's own decisions are changed")
	}
}
