package localschedv1_test

import (
	"encoding/hex"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// stays checks that bytes that a released version wrote are read as what they were, and
// that this is written as it was.
func stays[M proto.Message, N any](t *testing.T, old string, into M, decode func(M) (N, error), encode func(N) M, want N) {
	t.Helper()
	data, err := hex.DecodeString(old)
	if err != nil {
		t.Fatal(err)
	}
	if err = proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	got, err := decode(into)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	now, err := proto.MarshalOptions{Deterministic: true}.Marshal(encode(want))
	if err != nil || hex.EncodeToString(now) != old {
		t.Errorf("%T is now %x, %v, was %s", into, now, err, old)
	}
}

// Plugins of the version before applications serve this host, and plugins of this one that
// host.
func TestReleasedMessagesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	at := protocol.Tag{Job: 1, Epoch: 2}
	stays(t, "0a0164120e08011002180320012804300538061a0178", &localschedv1.DescribeResponse{},
		localschedv1.DecodeDescription, localschedv1.EncodeDescription,
		localsched.Description{
			Name: "d", Capabilities: []string{"x"},
			Capacity: protocol.Capacity{CPUs: 1, Nodes: 2, MemoryMB: 3, WholeNode: true, MaxWallTime: 4, MHz: 5, Mflops: 6},
		})
	stays(t, "0a040801100212280801100318042005280632016e3a01754201734801500758086009680a700b790c000000000000001a130a01781201611a02453d2201772a016f3201652201672a01633001",
		&localschedv1.SubmitRequest{}, localschedv1.DecodeSubmission, submitRequest(t),
		localsched.Submission{
			Tag: at,
			Spec: protocol.Spec{
				Request: protocol.Request{Job: 1, CPUs: 3, Nodes: 4, MemoryMB: 5, WallTime: 6, Power: 10, Like: 12},
				Name:    "n", User: "u", Sites: []protocol.SiteName{"s"}, Requeue: true, Submitted: 7, MHz: 8, Mflops: 9, Data: 11,
			},
			Payload: &protocol.Payload{
				Script: []byte("x"), Args: []string{"a"}, Env: []string{"E="}, WorkDir: "w", Stdout: "o", Stderr: "e",
			},
			Origin: "g", Account: "c", Guest: true,
		})
	stays(t, "0a420a040801100210041a017220052a3308041006220173280730083a26080210091a2000000000000000000000000000000000000000000000000000000000000000001201631a080801100218032004",
		&localschedv1.WatchResponse{}, localschedv1.DecodeWatched, localschedv1.EncodeWatched,
		localsched.Watched{
			Cursor: "c", Load: protocol.Load{CPUs: 1, Busy: 2, QueuedJobs: 3, QueuedWork: 4},
			Changes: []localsched.Change{{
				Tag: at, State: protocol.Failed, Reason: "r", Started: 5,
				Outcome: protocol.Outcome{
					State: protocol.Failed, ExitCode: 6, Reason: "s", Waited: 7, Ran: 8,
					Files: []protocol.File{{Stream: protocol.Stderr, Size: 9}},
				},
			}},
		})
}

// submitRequest is the encoder of submissions that can travel.
func submitRequest(t *testing.T) func(localsched.Submission) *localschedv1.SubmitRequest {
	t.Helper()
	return func(s localsched.Submission) *localschedv1.SubmitRequest {
		m, err := localschedv1.EncodeSubmission(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// The fields and messages that came with applications.
func TestWireFormOfApplicationsIsPinned(t *testing.T) {
	t.Parallel()
	at := protocol.Tag{Job: 1, Epoch: 2}
	stays(t, "0801420a08021003180420052801", &localschedv1.Capacity{}, localschedv1.DecodeCapacity, localschedv1.EncodeCapacity,
		protocol.Capacity{CPUs: 1, Machine: protocol.Machine{Flops: 2, Words: 3, Network: 4, Latency: 5, Bus: true}})
	stays(t, "0a0408011002122508018001028a01050a016110068a01050a0162100792010170980103a00104a80105b001081a00220167", &localschedv1.SubmitRequest{}, localschedv1.DecodeSubmission, submitRequest(t),
		localsched.Submission{
			Tag: at, Origin: "g", Payload: &protocol.Payload{},
			Spec: protocol.Spec{
				Request: protocol.Request{Job: 1}, DataOut: 2, Priority: "p", Expected: 3, Intensity: 4, Computing: 5, Draws: 8,
				Licences: []protocol.Licence{{Name: "a", Count: 6}, {Name: "b", Count: 7}},
			},
		})
	stays(t, "0a200a040801100210032a16080342120801100218032004280530063807400848091a020801", &localschedv1.WatchResponse{}, localschedv1.DecodeWatched, localschedv1.EncodeWatched,
		localsched.Watched{
			Load: protocol.Load{CPUs: 1},
			Changes: []localsched.Change{{Tag: at, State: protocol.Completed, Outcome: protocol.Outcome{
				State: protocol.Completed,
				Usage: protocol.Usage{CPU: 1, MemoryMB: 2, Energy: 3, Mflop: 4, Mwords: 5, Sent: 6, Messages: 7, MHz: 8, Power: 9},
			}}},
		})
	stays(t, "0a04080110021002180320042805300639070000000000000040084a0163", &localschedv1.ReserveRequest{}, localschedv1.DecodeHold,
		func(h localsched.Hold) *localschedv1.ReserveRequest {
			m, err := localschedv1.EncodeHold(h)
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
		localsched.Hold{
			Tag: at, Start: 8, Account: "c",
			Request: protocol.Request{Job: 1, CPUs: 2, Nodes: 3, MemoryMB: 4, WallTime: 5, Power: 6, Like: 7},
		})
	stays(t, "0809", &localschedv1.ReserveResponse{},
		func(m *localschedv1.ReserveResponse) (protocol.Instant, error) { return localschedv1.DecodeHeld(m, 9) },
		localschedv1.EncodeHeld, 9)
}

// The fields that came with layouts.
func TestWireFormOfLayoutsIsPinned(t *testing.T) {
	t.Parallel()
	at := protocol.Tag{Job: 1, Epoch: 2}
	divided := protocol.Request{Job: 1, CPUs: 12, Nodes: 2, Layout: protocol.Layout{TasksPerNode: 3, CPUsPerTask: 2, MaxNodes: 2}}
	stays(t, "0a0301020312030c04011a0302000022030000002a030000004206100318022002420208044200", &localschedv1.Requests{}, localschedv1.DecodeRequests, localschedv1.EncodeRequests,
		[]protocol.Request{divided, {Job: 2, CPUs: 4, Layout: protocol.Layout{Tasks: 4}}, {Job: 3, CPUs: 1}})
	stays(t, "0a0408011002120f0801100c1802ba01061003180220021a00220167", &localschedv1.SubmitRequest{}, localschedv1.DecodeSubmission, submitRequest(t),
		localsched.Submission{Tag: at, Origin: "g", Payload: &protocol.Payload{}, Spec: protocol.Spec{Request: divided}})
	stays(t, "080810024804", &localschedv1.Capacity{}, localschedv1.DecodeCapacity, localschedv1.EncodeCapacity, protocol.Capacity{CPUs: 8, Nodes: 2, NodeCPUs: 4})
	_, err := localschedv1.DecodeRequests(&localschedv1.Requests{
		Job: []uint64{1}, Cpus: []int64{3}, Nodes: []int64{0}, MemoryMb: []int64{0}, WallTime: []int64{1},
		Layout: []*localschedv1.Layout{{Tasks: 2}},
	})
	refused(t, err, "entry 0: layout: asks for 3 CPUs, but its 2 tasks")
}
