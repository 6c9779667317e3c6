package peerv1_test

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// released are messages as the version before applications wrote them.
func released() map[string]protocol.Message {
	old := with(spec, func(s *protocol.Spec) {
		s.Nodes, s.MemoryMB, s.Sites, s.Requeue = 2, 3, []protocol.SiteName{"aurora"}, true
		s.MHz, s.Mflops, s.Power, s.Data, s.Like = 4, 5, 6, 7, 8
	})
	return map[string]protocol.Message{
		"1a4108aae08d84ddcb011010180220032880dddb01320570726f62653a0361646142066175726f726148015080d095ffbc315804600568067007790800000000000000": protocol.QuoteRequest{
			Jobs: []protocol.Spec{old},
		},
		"0a4108aae08d84ddcb011010180220032880dddb01320570726f62653a0361646142066175726f726148015080d095ffbc31580460056806700779080000000000000010031a200a0a23212f62696e2f73680a1201611a034e3d3122022f772a022f6f32022f65": protocol.Offer{
			Spec: old, Epoch: 3,
			Payload: &protocol.Payload{
				Script: payload.Script, Args: []string{"a"}, Env: []string{"N=1"}, WorkDir: "/w", Stdout: "/o", Stderr: "/e",
			},
		},
		"0a0a08aae08d84ddcb011003": protocol.Prepared{Tag: tag},
		"0a0a08aae08d84ddcb011003100418012a0172300238034226080110041a200000000000000000000000000000000000000000000000000000000000000000": protocol.Result{
			Tag: tag,
			Outcome: protocol.Outcome{
				State: protocol.Failed, ExitCode: 1, Reason: "r", Waited: 2, Ran: 3,
				Files: []protocol.File{{Stream: protocol.Stdout, Size: 4}},
			},
		},
	}
}

// Sites are not updated at once: what one of before sends is read, and what says nothing
// new is sent as it was before.
func TestReleasedMessagesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for old, want := range released() {
		body, err := hex.DecodeString(old)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := peerv1.Decode(want.Kind(), body); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", want.Kind(), got, err, want)
		}
		if now, err := peerv1.Encode(want); err != nil || hex.EncodeToString(now) != old {
			t.Errorf("%s is now %x, %v, was %s", want.Kind(), now, err, old)
		}
	}
}

func TestReleasedCardsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const old = "0a046365726e10011a385541414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141" +
		"414141414141414141200228033201733801420e0804100518062001280730083809480a"
	want := protocol.Card{
		Site: "cern", Number: 1, PublicKey: "U" + strings.Repeat("A", 55), FirstStart: 2, Incarnation: 3, Software: "s", Protocol: 1,
		Capacity: protocol.Capacity{CPUs: 4, Nodes: 5, MemoryMB: 6, WholeNode: true, MaxWallTime: 7, MHz: 8, Mflops: 9},
		SeenSeq:  10,
	}
	data, err := hex.DecodeString(old)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := peerv1.DecodeCard(data); err != nil || got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if now, err := peerv1.EncodeCard(want); err != nil || hex.EncodeToString(now) != old {
		t.Errorf("it is now %x, %v", now, err)
	}
}

// A site of before reads a prepared message as the notice that it was.
func TestPreparedIsStillANotice(t *testing.T) {
	t.Parallel()
	body, err := peerv1.Encode(protocol.Prepared{Tag: tag, Start: 5})
	if err != nil {
		t.Fatal(err)
	}
	var notice peerv1.Notice
	if err = proto.Unmarshal(body, &notice); err != nil || peerv1.ReadTag(notice.GetTag()) != tag {
		t.Errorf("got %v, %v", &notice, err)
	}
}

// The fields that came with applications.
func TestWireFormOfApplicationsIsPinned(t *testing.T) {
	t.Parallel()
	cases := map[string]protocol.Message{
		"1a4508aae08d84ddcb0110102880dddb01320570726f62653a036164615080d095ffbc318001018a01050a016110028a01050a0162100392010170980104a00105a80106b00107": protocol.QuoteRequest{Jobs: []protocol.Spec{with(spec, func(s *protocol.Spec) {
			s.DataOut, s.Licences, s.Priority = 1, []protocol.Licence{{Name: "a", Count: 2}, {Name: "b", Count: 3}}, "p"
			s.Expected, s.Intensity, s.Computing, s.Draws = 4, 5, 6, 7
		})}},
		"0a2208aae08d84ddcb0110102880dddb01320570726f62653a036164615080d095ffbc3110011a0c0a0a23212f62696e2f73680a2007": protocol.Offer{Spec: spec, Epoch: 1, Payload: &payload, Start: 7},
		"0a2208aae08d84ddcb0110102880dddb01320570726f62653a036164615080d095ffbc3110011a0c0a0a23212f62696e2f73680a2801": protocol.Offer{Spec: spec, Epoch: 1, Payload: &payload, Forced: true},
		"0a0a08aae08d84ddcb0110031008": protocol.Prepared{Tag: tag, Start: 8},
		"0a0a08aae08d84ddcb01100310034a12080110021803200428053006380740084809": result(func(o *protocol.Outcome) {
			o.Usage = protocol.Usage{CPU: 1, MemoryMB: 2, Energy: 3, Mflop: 4, Mwords: 5, Sent: 6, Messages: 7, MHz: 8, Power: 9}
		}),
	}
	for want, m := range cases {
		body, err := peerv1.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(body); got != want {
			t.Errorf("%s is now %s, was %s", m.Kind(), got, want)
		}
	}
	card, err := peerv1.EncodeCard(protocol.Card{
		Site: "cern", Number: 1, PublicKey: "U" + strings.Repeat("A", 55), Protocol: 1, Reserves: true,
		Capacity: protocol.Capacity{Machine: protocol.Machine{Flops: 1, Words: 2, Network: 3, Latency: 4, Bus: true}},
	})
	const end = "3801420c420a080110021803200428015001"
	if got := hex.EncodeToString(card); err != nil || !strings.HasSuffix(got, end) {
		t.Errorf("the card is now %s, %v", got, err)
	}
}

// The fields that came with layouts.
func TestWireFormOfLayoutsIsPinned(t *testing.T) {
	t.Parallel()
	body, err := peerv1.Encode(request(func(s *protocol.Spec) {
		s.Nodes, s.Layout = 2, protocol.Layout{Tasks: 8, TasksPerNode: 4, CPUsPerTask: 2, MaxNodes: 3}
	}))
	const wire = "1a2208aae08d84ddcb0110102880dddb01320570726f62653a036164615080d095ffbc311a2f08aae08d84ddcb01101018022880dddb01320570726f62653a036164615080d095ffbc31ba01080808100418022003"
	if got := hex.EncodeToString(body); err != nil || got != wire {
		t.Errorf("a layout is now %s, %v", got, err)
	}
	card, err := peerv1.EncodeCard(protocol.Card{
		Site: "cern", Number: 1, PublicKey: "U" + strings.Repeat("A", 55), Protocol: 1, Capacity: protocol.Capacity{CPUs: 8, Nodes: 2, NodeCPUs: 4},
	})
	const end = "4206080810024804"
	if got := hex.EncodeToString(card); err != nil || !strings.HasSuffix(got, end) {
		t.Errorf("the card is now %s, %v", got, err)
	}
}

// The fields that came with bills.
func TestWireFormOfBillsIsPinned(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]protocol.Message{
		"0a0a08aae08d84ddcb0110031a1a0a0345555212130a036370751001180220032a02040632020a0d": prepared(protocol.Charge{Name: "cpu", Once: 1, Units: 2, Per: 3, Steps: []protocol.PriceStep{{From: 4, PerHour: 5}, {From: 6, PerHour: -7}}}),
		"0a0a08aae08d84ddcb011003100358016210080212034555521a070a03637075100368047005": protocol.Result{Tag: tag, Ended: 1, Started: 4, At: 5, Outcome: protocol.Outcome{State: protocol.Completed, Bill: &protocol.Bill{
			Start: 2, Currency: "EUR", Terms: []protocol.Term{{Name: "cpu", Amount: 3}},
		}}},
	} {
		body, err := peerv1.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(body); got != want {
			t.Errorf("%s is now %s, was %s", m.Kind(), got, want)
		}
	}
}
