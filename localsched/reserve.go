package localsched

import (
	"context"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Reserve is the capability of a [Scheduler] that is a [Reserver].
const Reserve = "reserve"

// Reserver makes advance reservations, so that the components of a co-allocation group can start
// together at several sites.
type Reserver interface {
	// Reserve makes an advance reservation for a placement, durably before it returns. It begins at
	// the first instant, not before Reservation.Start, from which the CPUs are free for the whole time
	// limit without delaying other reservations. Reserve returns that instant. Repeating a tag returns
	// the same one. A later Submit of the tag uses the reservation: the job starts when it begins, or
	// immediately if that is past. A *RefusedError says that no reservation is possible.
	Reserve(ctx context.Context, reservation Reservation) (protocol.Instant, error)
	// CancelReservation cancels a reservation whose job has not come. It need not exist.
	CancelReservation(ctx context.Context, tag protocol.Tag) error
}

// Reservation is a request to set CPUs aside for one placement.
type Reservation struct {
	Tag     protocol.Tag
	Request protocol.Request
	Start   protocol.Instant // earliest start
	Account string           // that will run the job

	Association protocol.Association `json:",omitzero"` // of the job, by its names at this site
}

// EngineReserver is an [Engine] that makes advance reservations. Plans and passes count one as a job
// that runs from its start on.
type EngineReserver interface {
	// Reserve makes a reservation as [Reserver.Reserve] does. With exactly it begins at
	// reservation.Start, whatever has been reserved since, as after a restart.
	Reserve(now protocol.Instant, reservation Reservation, exactly bool) (protocol.Instant, Actions, error)
	// CancelReservation cancels a reservation. It need not exist.
	CancelReservation(now protocol.Instant, tag protocol.Tag) (Actions, error)
}
