package localschedv1

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeHold converts room to be held. The job is that of the tag. The error is a
// *[localsched.RefusedError] as that of [EncodeSubmission].
func EncodeHold(hold localsched.Reservation) (*ReserveRequest, error) {
	if err := checkAccount(hold.Account); err != nil {
		return nil, &localsched.RefusedError{Reason: err.Error()}
	}
	tag, request := encodePlaced(hold.Tag, hold.Request)
	return &ReserveRequest{Tag: tag, Request: request, StartMs: int64(hold.Start), Account: hold.Account}, nil
}

// DecodeHold checks and converts room to be held. The error names the field.
func DecodeHold(m *ReserveRequest) (localsched.Reservation, error) {
	tag, request, err := decodePlaced(m.GetTag(), m.GetRequest())
	hold := localsched.Reservation{Tag: tag, Request: request, Start: protocol.Instant(m.GetStartMs()), Account: m.GetAccount()}
	if err = wire.First(err, wire.Amount("start_ms", hold.Start), checkAccount(hold.Account)); err != nil {
		return localsched.Reservation{}, fmt.Errorf("hold: %w", err)
	}
	return hold, nil
}

// EncodeHeld says since when the room is held.
func EncodeHeld(start protocol.Instant) *ReserveResponse {
	return &ReserveResponse{StartMs: int64(start)}
}

// EncodeNoRoom says that there is no room to hold.
func EncodeNoRoom(refused *localsched.RefusedError) *ReserveResponse {
	return &ReserveResponse{Refused: refusal(refused)}
}

// DecodeHeld checks and converts since when room is held that was asked for. The error
// is a *[localsched.RefusedError] when there is none.
func DecodeHeld(m *ReserveResponse, asked protocol.Instant) (protocol.Instant, error) {
	start := protocol.Instant(m.GetStartMs())
	switch {
	case m.GetRefused() != "" && start != 0:
		return 0, errors.New("refused: is set, and start_ms too; use one")
	case m.GetRefused() != "":
		if err := wire.AtMost("refused", len(m.GetRefused()), MaxReason); err != nil {
			return 0, err
		}
		return 0, &localsched.RefusedError{Reason: m.GetRefused()}
	case start == 0:
		return 0, errors.New("start_ms: is missing, and refused too; use one")
	case start < asked:
		return 0, fmt.Errorf("start_ms: %d is before the %d that was asked for", start, asked)
	}
	return start, nil
}
