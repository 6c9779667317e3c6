package commonv1_test

import (
	"encoding/hex"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
)

// Sites and plugins are not updated at once: a released message never changes on the wire.
func TestWireFormIsPinned(t *testing.T) {
	t.Parallel()
	want := []string{
		"08011002",
		"0a350801100818032004280530063907000000000000004208080410091802200a4a0f0a0367707512046131303018152002520166580112016e1a01752201732801300b380c400d480e500f620170681170127813800114",
		"28ffffffffffffffffff01",
		"280142082801300238034001",
		"0a01781201611a02453d2201772a016f320165",
		"3a016940014a080801100218012001",
		"0a00ca010163",
		"6001",
		"08011002180320042805300638074008",
		"08011802200128ffffffffffffffffff0130033a100a0363707510fcffffffffffffffff014203455552480552016e58066007",
		"080212026e6f",
		"080410011802220172280330043a26080210051a20000000000000000000000000000000000000000000000000000000000000000042120801100218032004280530063807400848094a10080612034555521a070a036370751007",
		"0801100218032001280430053806420a080110021803200428014807521508081009180a220a0a03677075120174180b2a01665a050a016c180c6801",
	}
	for i, m := range pinned() {
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
func pinned() []proto.Message {
	return []proto.Message{
		commonv1.EncodeTag(protocol.Tag{Job: 1, Epoch: 2}),
		commonv1.EncodeSpec(protocol.Spec{
			Request: protocol.Request{
				Job: 1, CPUs: 8, Nodes: 3, MemoryMB: 4, WallTime: 5, Power: 6, PowerClass: 7,
				Layout:    protocol.Layout{Tasks: 4, TasksPerNode: 9, CPUsPerTask: 2, MaxNodes: 10},
				Resources: []protocol.Resource{{Name: "gpu", Type: "a100", Count: 21, Per: protocol.PerTask}}, Features: "f", Exclusive: true,
			},
			Name: "n", User: "u", Sites: []protocol.SiteName{"s"}, Requeue: true, Submitted: 11, MHz: 12, Mflops: 13, Data: 14, DataOut: 15,
			Association: protocol.Association{QOS: "p"}, PredictedRunTime: 17, Intensity: 18, Computing: 19, MeasuredPower: 20,
		}),
		commonv1.EncodeRequest(protocol.Request{WallTime: protocol.Never}),
		commonv1.EncodeRequest(protocol.Request{WallTime: 1, Layout: protocol.Layout{MemoryPerCPU: 1, MemoryPerGPU: 2, CPUsPerGPU: 3, GPUsPerNode: true}}),
		commonv1.EncodePayload(&protocol.Payload{Script: []byte("x"), Args: []string{"a"}, Env: []string{"E="}, WorkDir: "w", Stdout: "o", Stderr: "e"}),
		commonv1.EncodePayload(&protocol.Payload{
			Input: "i", AppendOutput: true, LimitSignal: protocol.LimitSignal{Signal: 1, Before: 2, ScriptOnly: true, OverlapReservation: true},
		}),
		commonv1.EncodeSpec(protocol.Spec{Container: "c"}),
		commonv1.EncodeCapacity(protocol.Capacity{Containers: true}),
		commonv1.EncodeLoad(protocol.Load{CPUs: 1, Busy: 2, QueuedJobs: 3, QueuedWork: 4, Benefit: 5, PowerIdledCPUs: 6, Draw: 7, Budget: protocol.ActiveBudget(8)}),
		commonv1.EncodeQuote(protocol.Quote{
			Job: 1, AWT: 2, AWTLow: 1, AWTMedian: 7, AWTHigh: protocol.Never, ERT: 3, Bound: 5, Delay: 6, Note: "n",
			Terms: []protocol.Term{{Name: "cpu", Amount: -4}}, Currency: "EUR",
		}),
		commonv1.EncodeQuote(protocol.Quote{Job: 2, Declined: "no"}),
		commonv1.EncodeOutcome(protocol.Outcome{
			State: protocol.Failed, ExitCode: 1, Signal: 2, Reason: "r", Waited: 3, Ran: 4,
			Files: []protocol.File{{Stream: protocol.Stderr, Size: 5}},
			Usage: protocol.Usage{CPU: 1, MemoryMB: 2, Energy: 3, Mflop: 4, Mwords: 5, Sent: 6, Messages: 7, MHz: 8, Power: 9},
			Bill:  &protocol.Bill{Start: 6, Currency: "EUR", Terms: []protocol.Term{{Name: "cpu", Amount: 7}}},
		}),
		commonv1.EncodeCapacity(protocol.Capacity{
			CPUs: 1, Nodes: 2, MemoryMB: 3, WholeNode: true, MaxWallTime: 4, MHz: 5, Mflops: 6, NodeCPUs: 7,
			Machine: protocol.Machine{Flops: 1, Words: 2, Network: 3, Latency: 4, Bus: true},
			Groups:  []protocol.NodeGroup{{Nodes: 8, CPUs: 9, MemoryMB: 10, Resources: []protocol.Resource{{Name: "gpu", Type: "t", Count: 11}}, Features: []string{"f"}}},
			Shared:  []protocol.Resource{{Name: "l", Count: 12}}, Exclusive: true,
		}),
	}
}
