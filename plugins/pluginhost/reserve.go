package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// findReserver asks a scheduler that serves a site whether it has the capability
// [localsched.Reserve]. One that cannot say so now has it not.
func (p *Plugin) findReserver(ctx context.Context, life *instance, kind Kind) {
	if kind != SchedulerKind || p.spec.Host.Site == "" {
		return
	}
	reply, err := localschedv1.NewSchedulerClient(life.conn).Describe(ctx, &localschedv1.DescribeRequest{})
	if err != nil {
		return
	}
	description, err := localschedv1.DecodeDescription(reply)
	if err != nil || !slices.Contains(description.Capabilities, localsched.Reserve) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserves = true
}

// canReserve reports whether the plugin has ever had the capability [localsched.Reserve].
func (p *Plugin) canReserve() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reserves
}

// remoteReserver is a local scheduler in another process that makes reservations.
type remoteReserver struct{ remoteScheduler }

// Reserve implements [localsched.Reserver]. After any error but a refusal and a
// [*DownError] it is open whether the room is held.
func (r remoteReserver) Reserve(ctx context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	request, err := localschedv1.EncodeReservation(hold)
	if err != nil {
		return 0, fmt.Errorf("%s: Reserve: %w", r.spec, err)
	}
	var refused *localsched.RefusedError
	read := func(reply *localschedv1.ReserveResponse) (protocol.Instant, error) {
		start, wrong := localschedv1.DecodeReservedFrom(reply, hold.Start)
		if errors.As(wrong, &refused) {
			return 0, nil // an answer like others
		}
		return start, wrong
	}
	start, err := ask(ctx, r.calls, "Reserve", client.Reserve, request, read)
	if err == nil && refused != nil {
		return 0, fmt.Errorf("%s: Reserve: %w", r.spec, refused)
	}
	return start, err
}

// CancelReservation implements [localsched.Reserver].
func (r remoteReserver) CancelReservation(ctx context.Context, tag protocol.Tag) error {
	_, err := ask(ctx, r.calls, "Release", client.CancelReservation, about(tag), done)
	return err
}

// checkedReserver is a built-in local scheduler that holds room.
type checkedReserver struct {
	checkedScheduler

	reserver localsched.Reserver
}

// Reserve implements [localsched.Reserver].
func (c checkedReserver) Reserve(ctx context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	call := func() (protocol.Instant, error) { return c.reserver.Reserve(ctx, hold) }
	return guarded(scheduler, "Reserve", call, func(start protocol.Instant) error {
		_, err := localschedv1.DecodeReservedFrom(localschedv1.EncodeReservedFrom(start), hold.Start)
		return err
	})
}

// CancelReservation implements [localsched.Reserver].
func (c checkedReserver) CancelReservation(ctx context.Context, tag protocol.Tag) error {
	call := func() (struct{}, error) { return struct{}{}, c.reserver.CancelReservation(ctx, tag) }
	_, err := guarded(scheduler, "Release", call, anything)
	return err
}
