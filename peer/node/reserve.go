package node

import (
	"context"
	"errors"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// errNoReserver answers what no peer asks of a batch system that holds no room.
var errNoReserver = errors.New("the local scheduler holds no room: it has no capability reserve")

// reserve has the batch system hold room.
func (n *Node) reserve(ctx context.Context, hold localsched.Reservation) (event.Result, error) {
	reserver, ok := n.cfg.Scheduler.(localsched.Reserver)
	if !ok {
		return nil, errNoReserver
	}
	start, err := reserver.Reserve(ctx, hold)
	if refused, no := errors.AsType[*localsched.RefusedError](err); no {
		return event.ReserveResult{Refused: refused.Reason}, nil
	}
	return event.ReserveResult{Start: start}, err
}

// giveUp gives room up that the batch system holds.
func (n *Node) giveUp(ctx context.Context, tag protocol.Tag) (event.Result, error) {
	reserver, ok := n.cfg.Scheduler.(localsched.Reserver)
	if !ok {
		return nil, errNoReserver
	}
	return event.CancelReservationResult{}, reserver.CancelReservation(ctx, tag)
}
