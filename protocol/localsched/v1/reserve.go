package localschedv1

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeReservation converts a request for a reservation. The job is that of the tag. The error is a
// *[localsched.RefusedError] as that of [EncodeSubmission].
func EncodeReservation(hold localsched.Reservation) (*ReserveRequest, error) {
	if err := checkAccount(hold.Account); err != nil {
		return nil, &localsched.RefusedError{Reason: err.Error()}
	}
	tag, request := encodePlaced(hold.Tag, hold.Request)
	m := &ReserveRequest{Tag: tag, Request: request, StartMs: int64(hold.Start), Account: hold.Account}
	if hold.Association != (protocol.Association{}) {
		m.Association = commonv1.EncodeAssociation(hold.Association)
	}
	return m, nil
}

// DecodeReservation checks and converts a request for a reservation. The error names the field.
func DecodeReservation(m *ReserveRequest) (localsched.Reservation, error) {
	tag, request, err := decodePlaced(m.GetTag(), m.GetRequest())
	association, wrong := commonv1.DecodeAssociation(m.GetAssociation())
	hold := localsched.Reservation{Tag: tag, Request: request, Start: protocol.Instant(m.GetStartMs()), Account: m.GetAccount(), Association: association}
	if err = wire.First(err, wire.Amount("start_ms", hold.Start), checkAccount(hold.Account), wire.In("association", wrong)); err != nil {
		return localsched.Reservation{}, wire.In("hold", err)
	}
	return hold, nil
}

// EncodeReservedFrom converts the start of a reservation.
func EncodeReservedFrom(start protocol.Instant) *ReserveResponse {
	return &ReserveResponse{StartMs: int64(start)}
}

// EncodeNoReservation converts the refusal of a reservation.
func EncodeNoReservation(refused *localsched.RefusedError) *ReserveResponse {
	return &ReserveResponse{Refused: refusal(refused)}
}

// DecodeReservedFrom checks and converts the start of a reservation, not before the one that was
// asked for. The error is a *[localsched.RefusedError] if there is none.
func DecodeReservedFrom(m *ReserveResponse, asked protocol.Instant) (protocol.Instant, error) {
	start := protocol.Instant(m.GetStartMs())
	switch {
	case m.GetRefused() != "" && start != 0:
		return 0, wire.Wrong("refused", "is set, and start_ms too; use one")
	case m.GetRefused() != "":
		if err := wire.AtMost("refused", len(m.GetRefused()), MaxReason); err != nil {
			return 0, err
		}
		return 0, &localsched.RefusedError{Reason: m.GetRefused()}
	case start == 0:
		return 0, wire.Wrong("start_ms", "is missing, and refused too; use one")
	case start < asked:
		return 0, wire.Wrong("start_ms", "%d is before the %d that was asked for", start, asked)
	}
	return start, nil
}
