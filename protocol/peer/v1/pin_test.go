package peerv1_test

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// pinned are messages with all of their fields, and how they travel. The nouns in them are
// pinned in protocol/common/v1.
func pinned() map[string]protocol.Message {
	return map[string]protocol.Message{
		"080110021a240a0f08aae08d84ddcb0110102880dddb01120570726f62651a036164613080d095ffbc3122036e6f772803": protocol.QuoteRequest{Round: 1, Deadline: 2, Jobs: []protocol.Spec{spec}, EnergyPricing: protocol.AtOnce, MarginalJobs: 3},
		"0801121008aae08d84ddcb01180a20052814301e1a0208022003280430053a0206074008": protocol.QuoteReply{
			Round: 1, Quotes: []protocol.Quote{quote}, Load: protocol.Load{CPUs: 2}, MaxJobs: 3, Valid: 4, Free: 5,
			MarginalWaits: []protocol.Duration{6, 7}, MaxCPUs: 8,
		},
		"0a0208011002": protocol.Volunteer{Load: protocol.Load{CPUs: 1}, Valid: 2},
		"0a240a0f08aae08d84ddcb0110102880dddb01120570726f62651a036164613080d095ffbc3110011a0c0a0a23212f62696e2f73680a200728013008": protocol.Offer{Spec: spec, Epoch: 1, Payload: &payload, Start: 7, Forced: true, Tolerance: 8},
		"0a0a08aae08d84ddcb0110031a1a0a0345555212130a036370751001180220032a02040632020a0d":                                         prepared(protocol.Charge{Name: "cpu", Once: 1, Units: 2, Per: 3, Steps: []protocol.PriceStep{{From: 4, PerHour: 5}, {From: 6, PerHour: -7}}}),
		"0a0a08aae08d84ddcb0110031008":                                                       protocol.Prepared{Tag: tag, Start: 8},
		"0a0a08aae08d84ddcb011003":                                                           protocol.Grant{Tag: tag},
		"0a0a08aae08d84ddcb0110031201721801":                                                 protocol.Refused{Tag: tag, Reason: "r", Full: true},
		"0a0a08aae08d84ddcb01100310011802220172280230033804":                                 protocol.Status{Tag: tag, Seq: 1, State: protocol.Running, Reason: "r", Waited: 2, Ran: 3, At: 4},
		"0a0e0a0a08aae08d84ddcb01100310070a170a0a08aae08d84ddcb01100310ffffffffffffffffff01": protocol.PlannedStarts{Starts: []protocol.PlannedStart{{Tag: tag, Wait: 7}, {Tag: tag, Wait: protocol.Never}}},
		"0a0a08aae08d84ddcb0110031002":                                                       protocol.StatusAck{Tag: tag, Seq: 2},
		"0a0a08aae08d84ddcb011003122a08033a26080110011a2000000000000000000000000000000000000000000000000000000000000000001a0178200128023003": protocol.Result{
			Tag: tag, Started: 1, Ended: 2, At: 3, Contents: [][]byte{[]byte("x")},
			Outcome: protocol.Outcome{State: protocol.Completed, Files: []protocol.File{{Stream: protocol.Stdout, Size: 1}}},
		},
		"0a0a08aae08d84ddcb0110031001":           protocol.Recall{Tag: tag, Cancel: true},
		"08aae08d84ddcb01":                       protocol.OutcomeQuery{Job: tag.Job},
		"08aae08d84ddcb011203616461":             protocol.OutcomeQuery{Job: tag.Job, User: "ada"},
		"08aae08d84ddcb012a03616461":             protocol.JobOutcome{Job: tag.Job, User: "ada", Started: protocol.Never},
		"08aae08d84ddcb01100318032005":           protocol.JobOutcome{Job: tag.Job, State: protocol.Completed, Started: 2, Ended: 5},
		"08aae08d84ddcb0112036164611a0400ac0203": protocol.ElementsQuery{Array: tag.Job, User: "ada", Elements: protocol.Indexes{{First: 0, Last: 300, Step: 3}}},
		"08aae08d84ddcb0112036164611801":         protocol.ElementsOutcome{Array: tag.Job, User: "ada", Unknown: true},
		"08aae08d84ddcb012001":                   protocol.ElementsOutcome{Array: tag.Job, NoArray: true},
		"08aae08d84ddcb012a030101013203020301":   protocol.ElementsOutcome{Array: tag.Job, Completed: protocol.IndexesOf(1), Others: protocol.IndexesOf(2, 3)},
		"080110021a0d0a01621201631a017520032804": protocol.UseReport{At: 1, HalfLife: 2, Uses: []protocol.Use{{Origin: "b", Account: "c", User: "u", Period: 3, Amount: 4}}},
		"080110021a0c0a01621a0175200328043005":   protocol.UseReport{At: 1, HalfLife: 2, Uses: []protocol.Use{{Origin: "b", User: "u", Period: 3, Amount: 4, Remaining: 5}}},
		"0a0a08aae08d84ddcb0110031004":           protocol.Fenced{Tag: tag, Current: 4},
		"0a4a08011002180320042a4005000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000120408061007180822040809100a28013001": protocol.Watermark{
			Life: protocol.Life{Incarnation: 1, Boot: 2, Begun: 3, Generation: 4, Proof: protocol.Proof{5}},
			Seen: protocol.Life{Incarnation: 6, Boot: 7}, SeenSeq: 8, Twin: protocol.Life{Incarnation: 9, Boot: 10}, Overlapped: true, Stopped: true,
		},
	}
}

// Sites are not updated at once: a released message never changes on the wire.
func TestWireFormIsPinned(t *testing.T) {
	t.Parallel()
	for want, m := range pinned() {
		body, err := peerv1.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(body); got != want {
			t.Errorf("%s is now %s, was %s", m.Kind(), got, want)
		}
		if back, err := peerv1.Decode(m.Kind(), body); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%s: got %+v, %v", m.Kind(), back, err)
		}
	}
}

func TestWireFormOfCardsIsPinned(t *testing.T) {
	t.Parallel()
	const want = "0a046365726e10011a38554141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414120022803320173380142020804480a5001580d600e680f72040811101278018201401000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000088010b90010c"
	card := protocol.Card{
		Site: "cern", Number: 1, PublicKey: "U" + strings.Repeat("A", 55), FirstStart: 2, Incarnation: 3, Software: "s", Protocol: 1,
		Capacity: protocol.Capacity{CPUs: 4}, SeenSeq: 10, Reserves: true, MaxJobs: 11, MaxCPUs: 12,
		Boot: 13, Begun: 14, Generation: 15, Proof: protocol.Proof{16}, Seen: protocol.Life{Incarnation: 17, Boot: 18}, Stopped: true,
	}
	data, err := peerv1.EncodeCard(card)
	if got := hex.EncodeToString(data); err != nil || got != want {
		t.Errorf("it is now %s, %v", got, err)
	}
	if back, err := peerv1.DecodeCard(data); err != nil || !reflect.DeepEqual(back, card) {
		t.Errorf("got %+v, %v", back, err)
	}
}
