package sdk

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// Reserve implements [localschedv1.SchedulerServer], for a scheduler that is a
// [localsched.Reserver]. A refusal is an answer. It takes turns with Submit and Release:
// what the host has given up and then released must not be held after all.
func (s *schedulerServer) Reserve(ctx context.Context, in *localschedv1.ReserveRequest) (*localschedv1.ReserveResponse, error) {
	return answer(s.reserver, in, localschedv1.DecodeReservation, func(of localsched.Reserver, hold localsched.Reservation) (*localschedv1.ReserveResponse, error) {
		end, err := s.turns.take(ctx, hold.Tag)
		if err != nil {
			return nil, err
		}
		defer end()
		start, err := of.Reserve(ctx, hold)
		if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
			return localschedv1.EncodeNoReservation(refused), nil
		}
		return localschedv1.EncodeReservedFrom(start), err
	})
}

// CancelReservation implements [localschedv1.SchedulerServer], as Reserve does.
func (s *schedulerServer) CancelReservation(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.CancelReservationResponse, error) {
	return answer(s.reserver, in.GetTag(), localschedv1.DecodeTag, func(of localsched.Reserver, tag protocol.Tag) (*localschedv1.CancelReservationResponse, error) {
		end, err := s.turns.take(ctx, tag)
		if err != nil {
			return nil, err
		}
		defer end()
		return &localschedv1.CancelReservationResponse{}, of.CancelReservation(ctx, tag)
	})
}

// reserver is the scheduler as one that holds room.
func (s *schedulerServer) reserver() (localsched.Reserver, error) {
	scheduler, err := s.made()
	if err != nil {
		return nil, err
	}
	reserver, ok := scheduler.(localsched.Reserver)
	if !ok {
		return nil, status.Errorf(codes.Unimplemented, "the scheduler holds no room: it lacks the capability %s", localsched.Reserve)
	}
	return reserver, nil
}

// without drops the capability to hold room of a scheduler that is no
// [localsched.Reserver]: it may wrap one that is.
func without(capabilities []string, scheduler localsched.Scheduler) []string {
	if _, ok := scheduler.(localsched.Reserver); ok {
		return capabilities
	}
	return slices.DeleteFunc(slices.Clone(capabilities), func(one string) bool { return one == localsched.Reserve })
}
