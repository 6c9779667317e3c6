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

// Plugins are built once and run for years: a released message never changes on
// the wire.
func TestWireFormIsPinned(t *testing.T) {
	t.Parallel()
	at := protocol.Tag{Job: 1, Epoch: 2}
	shape := protocol.Request{Job: 1, CPUs: 3, Nodes: 4, MemoryMB: 5, WallTime: 6}
	quotes, err := localschedv1.EncodeQuotes([]protocol.Request{{Job: 1}, {Job: 2}}, []protocol.Quote{
		{Job: 1, AWT: 2, AWTLow: 1, AWTHigh: protocol.Never, ERT: 3, Terms: []protocol.Term{{Name: "cpu", Amount: -4}}, Currency: "EUR"},
		{Job: 2, Declined: "no"},
	})
	if err != nil {
		t.Fatal(err)
	}
	bounded, err := localschedv1.EncodeQuotes([]protocol.Request{{Job: 1}, {Job: 2}}, []protocol.Quote{
		{Job: 1, Bound: 3, Delay: protocol.Never}, {Job: 2, Declined: "no"},
	})
	if err != nil {
		t.Fatal(err)
	}
	drawing, err := localschedv1.EncodeSubmission(localsched.Submission{
		Tag: at, Spec: protocol.Spec{Request: with(shape, func(r *protocol.Request) { r.Power = 10 }), Mflops: 9, Data: 11}, Payload: &protocol.Payload{}, Origin: "g",
	})
	if err != nil {
		t.Fatal(err)
	}
	submission, err := localschedv1.EncodeSubmission(localsched.Submission{
		Tag: at,
		Spec: protocol.Spec{
			Request: shape, Name: "n", User: "u", Sites: []protocol.SiteName{"s"}, Requeue: true, Submitted: 7, MHz: 8,
		},
		Payload: &protocol.Payload{
			Script: []byte("x"), Args: []string{"a"}, Env: []string{"E="}, WorkDir: "w", Stdout: "o", Stderr: "e",
		},
		Origin: "g", Account: "c", Guest: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	powered := with(shape, func(r *protocol.Request) { r.Power, r.Like = 7, 8 })
	liked, err := localschedv1.EncodeSubmission(localsched.Submission{Tag: at, Spec: protocol.Spec{Request: powered}, Payload: &protocol.Payload{}, Origin: "g"})
	if err != nil {
		t.Fatal(err)
	}
	noted, err := localschedv1.EncodeQuotes([]protocol.Request{{Job: 1}, {Job: 2}}, []protocol.Quote{{Job: 1, Note: "n"}, {Job: 2}})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		want string
		m    proto.Message
	}{
		{"0a0164120c0801100218032001280430051a0178", localschedv1.EncodeDescription(localsched.Description{
			Name: "d", Capabilities: []string{"x"},
			Capacity: protocol.Capacity{CPUs: 1, Nodes: 2, MemoryMB: 3, WholeNode: true, MaxWallTime: 4, MHz: 5},
		})},
		{"0a0f0a01011201031a01042201052a0106120f0a01011201031a01042201052a01061a0102", localschedv1.EncodeQuery(localsched.Query{
			Jobs: []protocol.Request{shape}, Ahead: []localsched.Promise{{Tag: at, Request: shape}},
		})},
		{"0a000a026e6f120204001a020200220201002a02060032090a03637075120207003a03455552", quotes},
		{"0a040801100212190801100318042005280632016e3a01754201734801500758081a130a01781201611a02453d2201772a016f3201652201672a01633001", submission},
		{"0a000a026e6f120200001a020000220200002a020000420206004a020100", bounded},
		{"0a04080110021210080110031804200528066009680a700b1a00220167", drawing},
		{"08013802", localschedv1.EncodeCapacity(protocol.Capacity{CPUs: 1, Mflops: 2})},
		{"0a0012002007", localschedv1.EncodeQuery(localsched.Query{Guard: 7})},
		{"0a2a0a020101120203031a020404220205052a020606320200073a1000000000000000000800000000000000121c0a01011201031a01042201052a01063201073a0808000000000000001a0102", localschedv1.EncodeQuery(localsched.Query{
			Jobs: []protocol.Request{shape, powered}, Ahead: []localsched.Promise{{Tag: at, Request: powered}},
		})},
		{"0a040801100212150801100318042005280668077908000000000000001a00220167", liked},
		{"0a000a00120200001a020000220200002a02000052016e5200", noted},
		{"0801280230033804", localschedv1.EncodeLoad(protocol.Load{CPUs: 1, Withheld: 2, Draw: 3, Budget: 4})},
		{"080a10091a04080110022003280430053806400b4807510800000000000000", localschedv1.EncodeQueued(9, localsched.Queued{Request: powered, Tag: at, Since: 11}, 10)},
		{"0a020204120012001a016e1a00", localschedv1.EncodePlanned([]localsched.Planned{{Start: 1, Note: "n"}, {Start: 2}})},
		{"0a0169", localschedv1.EncodeSubmitted("i")},
		{"120172", localschedv1.EncodeRefused(&localsched.RefusedError{Reason: "r"})},
		{"0802", localschedv1.EncodePresence(localsched.Absent, "")},
		{"0802", localschedv1.EncodeWithdrawal(localsched.Started)},
		{"0a420a040801100210041a017220052a3308041006220173280730083a26080210091a2000000000000000000000000000000000000000000000000000000000000000001201631a080801100218032004", localschedv1.EncodeWatched(localsched.Watched{
			Cursor: "c", Load: protocol.Load{CPUs: 1, Busy: 2, QueuedJobs: 3, QueuedWork: 4},
			Changes: []localsched.Change{{
				Tag: at, State: protocol.Failed, Reason: "r", Started: 5,
				Outcome: protocol.Outcome{
					State: protocol.Failed, ExitCode: 6, Reason: "s", Waited: 7, Ran: 8,
					Files: []protocol.File{{Stream: protocol.Stderr, Size: 9}},
				},
			}},
		})},
		{"080a10091a04080110022003280430053806", localschedv1.EncodeQueued(9, localsched.Queued{Request: shape, Tag: at}, 10)},
		{"0a0408011002120408011002180122020801", localschedv1.EncodeActions(localsched.Actions{Starts: []protocol.Tag{at}, Kills: []protocol.Tag{at}, Wake: 1}, protocol.Load{CPUs: 1})},
		{"220208012a0172", localschedv1.EncodeRefusal(&localsched.RefusedError{Reason: "r"}, protocol.Load{CPUs: 1})},
		{"0a03020001120012016e1200", localschedv1.EncodePlanned([]localsched.Planned{{Start: 1}, {Declined: "n"}, {Start: math.MaxInt64}})},
	}
	for _, c := range cases {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.m)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(data); got != c.want {
			t.Errorf("%T is now %s, was %s", c.m, got, c.want)
		}
	}
}
