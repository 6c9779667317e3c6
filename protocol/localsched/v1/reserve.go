package localschedv1

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeHold converts room to be held. The job is that of the tag. The error is a
// *[localsched.RefusedError] as that of [EncodeSubmission].
func EncodeHold(hold localsched.Hold) (*ReserveRequest, error) {
	if err := checkAccount(hold.Account); err != nil {
		return nil, &localsched.RefusedError{Reason: err.Error()}
	}
	s := shapeOf(&hold.Request)
	return &ReserveRequest{
		Tag: commonv1.EncodeTag(hold.Tag), Cpus: s.cpus, Nodes: s.nodes, MemoryMb: s.memoryMB, WallTime: s.wallTime,
		Power: s.power, Like: s.like, Start: int64(hold.Start), Account: hold.Account, Layout: s.layout,
	}, nil
}

// DecodeHold checks and converts room to be held. The error names the field.
func DecodeHold(m *ReserveRequest) (localsched.Hold, error) {
	tag, err := DecodeTag(m.GetTag())
	if err != nil {
		return localsched.Hold{}, fmt.Errorf("hold: %w", err)
	}
	request, err := readRequest(shape{
		uint64(tag.Job), m.GetCpus(), m.GetNodes(), m.GetMemoryMb(), m.GetWallTime(), m.GetPower(), m.GetLike(),
		m.GetLayout(),
	})
	if err = wire.First(
		err,
		wire.Amount("start", m.GetStart()),
		wire.UnixString("account", m.GetAccount(), maxID),
	); err != nil {
		return localsched.Hold{}, fmt.Errorf("hold: %w", err)
	}
	return localsched.Hold{
		Tag: tag, Request: request, Start: protocol.Instant(m.GetStart()), Account: m.GetAccount(),
	}, nil
}

// EncodeHeld says since when the room is held.
func EncodeHeld(start protocol.Instant) *ReserveResponse {
	return &ReserveResponse{Start: int64(start)}
}

// EncodeNoRoom says that there is no room to hold.
func EncodeNoRoom(refused *localsched.RefusedError) *ReserveResponse {
	return &ReserveResponse{Refused: refusal(refused)}
}

// DecodeHeld checks and converts since when room is held that was asked for. The error
// is a *[localsched.RefusedError] when there is none.
func DecodeHeld(m *ReserveResponse, asked protocol.Instant) (protocol.Instant, error) {
	start := protocol.Instant(m.GetStart())
	switch {
	case m.GetRefused() != "" && start != 0:
		return 0, errors.New("refused: is set, and start too; use one")
	case m.GetRefused() != "":
		if err := wire.AtMost("refused", len(m.GetRefused()), MaxReason); err != nil {
			return 0, err
		}
		return 0, &localsched.RefusedError{Reason: m.GetRefused()}
	case start == 0:
		return 0, errors.New("start: is missing, and refused too; use one")
	case start < asked:
		return 0, fmt.Errorf("start: %d is before the %d that was asked for", start, asked)
	}
	return start, nil
}
