package sdk_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// claims is a scheduler that says that it can hold room.
type claims struct{ localsched.Scheduler }

func (claims) Describe(context.Context) (localsched.Description, error) {
	return localsched.Description{
		Name: "claims", Capacity: protocol.Capacity{CPUs: 1}, Capabilities: []string{localsched.Delays, localsched.Reserve},
	}, nil
}

// holds is one that can.
type holds struct{ claims }

func (holds) Reserve(_ context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	if hold.Request.CPUs > 1 {
		return 0, &localsched.RefusedError{Reason: "one CPU"}
	}
	return hold.Start, nil
}

func (holds) CancelReservation(context.Context, protocol.Tag) error { return localsched.ErrUnknownJob }

func schedulerClient(t *testing.T, s localsched.Scheduler) localschedv1.SchedulerClient {
	t.Helper()
	return localschedv1.NewSchedulerClient(configured(t, sdk.Scheduler[config]{
		Name: "holds", Version: "1", Make: func(config, sdk.Host) (localsched.Scheduler, error) { return s, nil },
	}, "number = 1"))
}

// An author's scheduler that is a Reserver is served as one, and no other one is.
func TestReserversAreServed(t *testing.T) {
	t.Parallel()
	request := func(cpus int64) *localschedv1.ReserveRequest {
		return &localschedv1.ReserveRequest{
			Tag: &commonv1.Tag{Job: 7, Epoch: 1}, Request: &commonv1.Request{Job: 7, Cpus: cpus, WallTimeMs: 60}, StartMs: 9,
		}
	}
	release := &localschedv1.TagRequest{Tag: &commonv1.Tag{Job: 7, Epoch: 1}}
	can, cannot := schedulerClient(t, holds{}), schedulerClient(t, claims{})
	if reply, err := can.Reserve(t.Context(), request(1)); err != nil || reply.GetStartMs() != 9 || reply.GetRefused() != "" {
		t.Errorf("got %v, %v", reply, err)
	}
	if reply, err := can.Reserve(t.Context(), request(2)); err != nil || reply.GetStartMs() != 0 || reply.GetRefused() != "one CPU" {
		t.Errorf("got %v, %v; a refusal is an answer", reply, err)
	}
	if _, err := can.Reserve(t.Context(), request(-1)); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "hold: request: cpus: -1") {
		t.Errorf("got %v", err)
	}
	if _, err := can.CancelReservation(t.Context(), release); status.Code(err) != codes.NotFound {
		t.Errorf("got %v", err)
	}
	if _, err := cannot.Reserve(t.Context(), request(1)); status.Code(err) != codes.Unimplemented || !strings.Contains(err.Error(), "capability reserve") {
		t.Errorf("got %v", err)
	}
	if _, err := cannot.CancelReservation(t.Context(), release); status.Code(err) != codes.Unimplemented {
		t.Errorf("got %v", err)
	}
	for want, client := range map[bool]localschedv1.SchedulerClient{true: can, false: cannot} {
		reply, err := client.Describe(t.Context(), &localschedv1.DescribeRequest{})
		list := reply.GetCapabilities()
		if err != nil || slices.Contains(list, localsched.Reserve) != want || !slices.Contains(list, localsched.Delays) {
			t.Errorf("got %q, %v; want %v", list, err, want)
		}
	}
}
