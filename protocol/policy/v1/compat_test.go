package policyv1_test

import (
	"encoding/hex"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

// released reads what a version wrote that knew no applications.
func released[M proto.Message](t *testing.T, old string, into M) M {
	t.Helper()
	data, err := hex.DecodeString(old)
	if err == nil {
		err = proto.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
	return into
}

// Plugins that know no applications serve this host, and plugins of this version a host that
// knows none. (That they are written as they were is pinned.)
func TestReleasedMessagesAreRead(t *testing.T) {
	t.Parallel()
	wantIn := policy.Snapshot{
		Self:  -1,
		Sites: []policy.Site{{Name: "a", RUS: 1, Age: 2, CPUs: 3, Free: 4, MaxJobs: 5, Currency: "EUR"}, {Name: "b"}},
		Jobs:  []policy.Job{{ID: 6, CPUs: 7, WallTime: 8, Waited: 9}},
		AWT:   []protocol.Duration{10, protocol.Never}, ERT: []protocol.Duration{11, protocol.Never}, Cost: []protocol.Micro{-12, 0},
		Hint: []byte("h"),
	}
	in, err := policyv1.DecodeSnapshot(released(t,
		"08011201611201621a020100220202002a020300320204003a020500420345555242004a01065201075a01086201096a100a00000000000000ffffffffffffffff72100b00000000000000ffffffffffffffff7a10f4ffffffffffffff000000000000000082010168",
		&policyv1.DecideRequest{}))
	if err != nil || !reflect.DeepEqual(in, wantIn) {
		t.Errorf("got %+v, %v\nwant %+v", in, err, wantIn)
	}
	wantInfo := policy.Description{
		Name: "p", Initiations: []policy.Initiation{policy.Sender, policy.Cycle}, Can: []policy.Capability{policy.LocalOnly, policy.SkipRoundBelowThreshold},
		Params: []policy.Param{{Name: "k", Value: "v"}},
	}
	info, err := policyv1.DecodeDescription(released(t, "0a017012020104180120012a060a016b120176", &policyv1.DescribeResponse{}))
	if err != nil || !reflect.DeepEqual(info, wantInfo) {
		t.Errorf("got %+v, %v", info, err)
	}
	wantDecisions := []policy.Decision{{Job: 1, Site: 2, Wait: 3, Reason: "r"}}
	decisions, hint, err := policyv1.DecodeDecisions(released(t, "0a01011201021a01032201722a0168", &policyv1.DecideResponse{}))
	if err != nil || !reflect.DeepEqual(decisions, wantDecisions) || string(hint) != "h" {
		t.Errorf("got %+v, %q, %v", decisions, hint, err)
	}
}
