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
		Sites: []policy.Site{{Name: "a", RUS: 1, Age: 2, CPUs: 3, Free: 4, Accept: 5, Currency: "EUR"}, {Name: "b"}},
		Jobs:  []policy.Job{{ID: 6, CPUs: 7, WallTime: 8, Waited: 9}},
		AWT:   []protocol.Duration{10, protocol.Never}, ERT: []protocol.Duration{11, protocol.Never}, Cost: []protocol.Micro{-12, 0},
		Hint: []byte("h"),
	}
	linked := policy.Snapshot{
		Sites: []policy.Site{{Name: "a", Latency: 1, Bandwidth: 2, Extra: []protocol.Duration{3, protocol.Never}}, {Name: "b"}},
		Jobs:  []policy.Job{{ID: 4, Data: 5}, {ID: 6}},
	}
	dark := policy.Snapshot{Sites: []policy.Site{{Name: "a", Currency: "EUR", NoEnergy: true}, {Name: "b"}}}
	cases := map[string]proto.Message{
		"1201611201621a020000220200002a020000320200003a020000420042004a020406520200005a020000620200008a0102010092010202009a01020200a2010b03ffffffffffffffffff01aa01020500": policyv1.EncodeSnapshot(&linked),
		"1201611201621a020000220200002a020000320200003a02000042034555524200b201020100":                                                                                     policyv1.EncodeSnapshot(&dark),
		"0a017012010432036e6f773807": policyv1.EncodeInfo(policy.Info{
			Name: "p", Initiations: []policy.Initiation{policy.Cycle}, Reckon: protocol.AtOnce, Extra: 7,
		}),
		"08011201611201621a020100220202002a020300320204003a020500420345555242004a01065201075a01086201096a100a00000000000000ffffffffffffffff72100b00000000000000ffffffffffffffff7a10f4ffffffffffffff000000000000000082010168": policyv1.EncodeSnapshot(&in),
		"0a01011201021a01032201722a0168": policyv1.EncodeDecisions(
			[]policy.Decision{{Job: 1, Site: 2, Wait: 3, Reason: "r"}}, []byte("h")),
		"0a017012020104180120012a060a016b120176": policyv1.EncodeInfo(policy.Info{
			Name: "p", Initiations: []policy.Initiation{policy.Sender, policy.Cycle}, Shortcut: true, Alone: true,
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
