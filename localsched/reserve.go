package localsched

import (
	"context"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Reserve is the capability of a [Scheduler] that is a [Reserver].
const Reserve = "reserve"

// Reserver holds room for jobs firmly, so that the components of an application can start
// together at several sites.
type Reserver interface {
	// Reserve holds room for a placement, durably before it returns, from the first
	// instant on, not before Hold.Start, at which the room is free for all of the wall
	// time without delaying what is promised already. It returns that instant. Repeating
	// a tag returns the same one. A later Submit of the tag takes the room and starts the
	// job then, or at once if that is past. A *RefusedError says that there is no such room.
	Reserve(ctx context.Context, hold Reservation) (protocol.Instant, error)
	// CancelReservation gives a hold up that has not been taken. There need not be one.
	CancelReservation(ctx context.Context, tag protocol.Tag) error
}

// Reservation is a request to set CPUs aside for one placement.
type Reservation struct {
	Tag     protocol.Tag
	Request protocol.Request
	Start   protocol.Instant // not before it
	Account string           // that will run the job
}

// EngineReserver is an [Engine] that holds room. What it holds counts for its plans and passes as
// a job that runs from then on.
type EngineReserver interface {
	// Reserve keeps room as [Reserver.Reserve] does. The error is a *RefusedError when there
	// is none. With exactly the instant is hold.Start whatever has been promised since, as
	// after a restart.
	Reserve(now protocol.Instant, hold Reservation, exactly bool) (protocol.Instant, Actions, error)
	// CancelReservation gives a hold up. There need not be one.
	CancelReservation(now protocol.Instant, tag protocol.Tag) (Actions, error)
}
