package localschedv1_test

import (
	"encoding/hex"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// Plugins are built once and run for years: a released message never changes on the wire. The
// nouns in it are pinned in protocol/common/v1.
func TestWireFormIsPinned(t *testing.T) {
	t.Parallel()
	want := []string{
		"0a0164120208011a0178",
		"0a020801",
		"0a0408011003120c0a04080110021204080110031807",
		"0a04080118020a06080212026e6f",
		"0a040801100212090a040801100312016e1a002201672a016330013804",
		"0a0169",
		"120172",
		"0a04080110021204080110031808220163",
		"0809",
		"0802120169",
		"0802",
		"0a130a040801100210041a017220052a04080410061201631a020801",
		"080a10091a0408011002220408011003280b",
		"0a0408011002120408011002180122020801",
		"220208012a0172",
		"0a0508011a016d0a0312016e0a0b08ffffffffffffffffff01",
	}
	for i, m := range pinned(t) {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(data); got != want[i] {
			t.Errorf("%T is now %s, was %s", m, got, want[i])
		}
	}
}

// pinned are messages with all of their fields.
func pinned(t *testing.T) []proto.Message {
	t.Helper()
	at := protocol.Tag{Job: 1, Epoch: 2}
	shape := protocol.Request{Job: 1, CPUs: 3}
	submission, err := localschedv1.EncodeSubmission(localsched.Submission{
		Tag: at, Spec: protocol.Spec{Request: shape, Name: "n"}, Payload: &protocol.Payload{}, Origin: "g", Account: "c", Guest: true, StartBy: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	hold, err := localschedv1.EncodeReservation(localsched.Reservation{Tag: at, Request: shape, Start: 8, Account: "c"})
	if err != nil {
		t.Fatal(err)
	}
	quotes, err := localschedv1.EncodeQuotes([]protocol.Request{{Job: 1}, {Job: 2}}, []protocol.Quote{{Job: 1, AWT: 2}, {Job: 2, Declined: "no"}})
	if err != nil {
		t.Fatal(err)
	}
	return []proto.Message{
		localschedv1.EncodeDescription(localsched.Description{Name: "d", Capabilities: []string{"x"}, Capacity: protocol.Capacity{CPUs: 1}}),
		localschedv1.EncodeLoad(protocol.Load{CPUs: 1}),
		localschedv1.EncodeQuery(localsched.Query{Jobs: []protocol.Request{shape}, Ahead: []localsched.Tentative{{Tag: at, Request: shape}}, ProtectSite: new(protocol.SiteNumber(7))}),
		quotes,
		submission,
		localschedv1.EncodeSubmitted("i"),
		localschedv1.EncodeRefused(&localsched.RefusedError{Reason: "r"}),
		hold,
		localschedv1.EncodeReservedFrom(9),
		localschedv1.EncodePresence(localsched.Absent, "i"),
		localschedv1.EncodeWithdrawal(localsched.Started),
		localschedv1.EncodeWatched(localsched.Watched{
			Cursor: "c", Load: protocol.Load{CPUs: 1},
			Changes: []localsched.Change{{
				Tag: at, State: protocol.Failed, Reason: "r", Started: 5, Outcome: protocol.Outcome{State: protocol.Failed, ExitCode: 6},
			}},
		}),
		localschedv1.EncodeQueued(9, localsched.Queued{Request: shape, Tag: at, Since: 11}, 10),
		localschedv1.EncodeActions(localsched.Actions{Starts: []protocol.Tag{at}, Kills: []protocol.Tag{at}, Wake: 1}, protocol.Load{CPUs: 1}),
		localschedv1.EncodeRefusal(&localsched.RefusedError{Reason: "r"}, protocol.Load{CPUs: 1}),
		localschedv1.EncodePlanned([]localsched.Planned{{Start: 1, Note: "m"}, {Declined: "n"}, {Start: math.MaxInt64}}),
	}
}
