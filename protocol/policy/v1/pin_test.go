package policyv1_test

import (
	"encoding/hex"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

// Plugins are built once and run for years: a released message never changes on
// the wire.
func TestWireFormIsPinned(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Self:  -1,
		Sites: []policy.Site{{Name: "a", RUS: 1, Age: 2, CPUs: 3, Free: 4, MaxJobs: 5, Currency: "EUR"}, {Name: "b"}},
		Jobs:  []policy.Job{{ID: 6, CPUs: 7, WallTime: 8, Waited: 9}},
		AWT:   []protocol.Duration{10, protocol.Never}, ERT: []protocol.Duration{11, protocol.Never}, Cost: []protocol.Micro{-12, 0},
		Hint: []byte("h"),
	}
	linked := policy.Snapshot{
		Sites: []policy.Site{{Name: "a", Latency: 1, Bandwidth: 2, MarginalWaits: []protocol.Duration{3, protocol.Never}}, {Name: "b"}},
		Jobs:  []policy.Job{{ID: 4, Data: 5}, {ID: 6}},
	}
	dark := policy.Snapshot{Sites: []policy.Site{{Name: "a", Currency: "EUR", NoEnergy: true}, {Name: "b"}}}
	whole := policy.Snapshot{
		Self: -1, Currency: "CHF",
		Sites: []policy.Site{{Name: "a"}},
		Jobs:  []policy.Job{{ID: 1}, {ID: 2, Application: 1, Together: 3, Alpha: 4, Gamma: 5, Delta: 6, DataOut: 7}},
		AWT:   []protocol.Duration{0, 0}, ERT: []protocol.Duration{0, 0}, Cost: []protocol.Micro{0, 0},
		Applications: []policy.Application{
			{ID: 1, MaxCost: protocol.Unlimited, MaxTime: protocol.Never, WaitingCost: []protocol.WaitingRate{{PerHour: 8}, {From: 9, PerHour: 10}}},
			{ID: 2, Beta: 11, MaxCost: 12, MaxTime: 13, Elapsed: 14, Spent: -15, CommittedUntil: 16},
		},
		UsageCost: []protocol.Micro{17, 0}, LicenseCost: []protocol.Micro{0, 18}, EnergyCost: []protocol.Micro{19, 0}, DataCost: []protocol.Micro{0, -20},
	}
	equipped := policy.Snapshot{
		Sites: []policy.Site{{Name: "a", Resources: []protocol.Resource{{Name: "gpu", Type: "a100", Count: 1}, {Name: "nic", Count: 2}}}, {Name: "b"}},
		Jobs:  []policy.Job{{ID: 3}, {ID: 4, Nodes: 5, Features: "f", Exclusive: true, Resources: []protocol.Resource{{Name: "gpu", Count: 6, Per: protocol.PerTask}}}},
	}
	cases := map[string]proto.Message{
		"1201611201621a020000220200002a020000320200003a020000420042004a020304520200005a0200006202000092030202009a03086770753a613130309a03036e6963a203020102aa03020005b203020001ba0303677075c2030106ca03047461736bd20300d2030166da03020001":                                                                                                                                                                                                                                                                                             policyv1.EncodeSnapshot(&equipped),
		"08011201611a01002201002a01003201003a010042004a020102520200005a020000620200006a10000000000000000000000000000000007210000000000000000000000000000000007a1000000000000000000000000000000000ba01020007c20103434846ca01020102d20102000bda01020118e20102011aea0102000ef20102001dfa0102002082020202008a02020009920202080a9a02020001a202020003aa02020004b202020005ba02020006c2021011000000000000000000000000000000ca021000000000000000001200000000000000d2021013000000000000000000000000000000da02100000000000000000ecffffffffffffff": policyv1.EncodeSnapshot(&whole),
		"0a01701201044001":                 policyv1.EncodeDescription(policy.Description{Name: "p", Initiations: []policy.Initiation{policy.Cycle}, Can: []policy.Capability{policy.Applications}}),
		"0a01011205ffffffff0f1a0100220172": policyv1.EncodeDecisions([]policy.Decision{{Job: 1, Site: policy.NoSite, Reason: "r"}}, nil),
		"1201611201621a020000220200002a020000320200003a020000420042004a020406520200005a020000620200008a0102010092010202009a01020200a2010b03ffffffffffffffffff01aa01020500": policyv1.EncodeSnapshot(&linked),
		"1201611201621a020000220200002a020000320200003a02000042034555524200b201020100":                                                                                     policyv1.EncodeSnapshot(&dark),
		"0a017012010432036e6f773807": policyv1.EncodeDescription(policy.Description{
			Name: "p", Initiations: []policy.Initiation{policy.Cycle}, EnergyPricing: protocol.AtOnce, MarginalJobs: 7,
		}),
		"08011201611201621a020100220202002a020300320204003a020500420345555242004a01065201075a01086201096a100a00000000000000ffffffffffffffff72100b00000000000000ffffffffffffffff7a10f4ffffffffffffff000000000000000082010168": policyv1.EncodeSnapshot(&in),
		"0a01011201021a01032201722a0168": policyv1.EncodeDecisions(
			[]policy.Decision{{Job: 1, Site: 2, Wait: 3, Reason: "r"}}, []byte("h")),
		"0a017012020104180120012a060a016b120176": policyv1.EncodeDescription(policy.Description{
			Name: "p", Initiations: []policy.Initiation{policy.Sender, policy.Cycle}, Can: []policy.Capability{policy.LocalOnly, policy.SkipRoundBelowThreshold},
			Params: []policy.Param{{Name: "k", Value: "v"}},
		}),
	}
	for want, m := range cases {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(data); got != want {
			t.Errorf("%T is now %s, was %s", m, got, want)
		}
	}
}
