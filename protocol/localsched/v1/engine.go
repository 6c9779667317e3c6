package localschedv1

import (
	"fmt"
	"math"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeQueued converts a submission to an engine. The job is that of the tag.
func EncodeQueued(now protocol.Instant, job localsched.Queued, engine uint64) *EngineSubmitRequest {
	s := shapeOf(&job.Request)
	return &EngineSubmitRequest{
		Engine: engine, Now: int64(now), Tag: commonv1.EncodeTag(job.Tag),
		Cpus: s.cpus, Nodes: s.nodes, MemoryMb: s.memoryMB, WallTime: s.wallTime,
		Power: s.power, Like: s.like, Since: int64(job.Since), Layout: s.layout,
	}
}

// DecodeQueued checks and converts a submission to an engine. The error names the
// field.
func DecodeQueued(m *EngineSubmitRequest) (protocol.Instant, localsched.Queued, error) {
	tag, err := DecodeTag(m.GetTag())
	if err != nil {
		return 0, localsched.Queued{}, err
	}
	request, err := readRequest(shape{
		uint64(tag.Job), m.GetCpus(), m.GetNodes(), m.GetMemoryMb(), m.GetWallTime(), m.GetPower(), m.GetLike(),
		m.GetLayout(),
	})
	if err = wire.First(err, wire.Amount("since", m.GetSince())); err != nil {
		return 0, localsched.Queued{}, err
	}
	queued := localsched.Queued{Request: request, Tag: tag, Since: protocol.Instant(m.GetSince())}
	return protocol.Instant(m.GetNow()), queued, nil
}

// EncodeActions converts what a driver must do, and the load afterwards.
func EncodeActions(a localsched.Actions, load protocol.Load) *ActionsResponse {
	return &ActionsResponse{
		Starts: wire.Convert(a.Starts, commonv1.EncodeTag), Kills: wire.Convert(a.Kills, commonv1.EncodeTag),
		Wake: int64(a.Wake), Load: commonv1.EncodeLoad(load),
	}
}

// EncodeRefusal says that a job would not even run on the empty machine.
func EncodeRefusal(refused *localsched.RefusedError, load protocol.Load) *ActionsResponse {
	return &ActionsResponse{Refused: refusal(refused), Load: commonv1.EncodeLoad(load)}
}

// DecodeActions checks and converts what a driver must do, and the load afterwards.
// The error is a *[localsched.RefusedError], beside the load, when the job would not
// even run on the empty machine.
func DecodeActions(m *ActionsResponse) (localsched.Actions, protocol.Load, error) {
	load, err := decodeLoad(m.GetLoad())
	if err = wire.First(
		err,
		wire.Amount("wake", m.GetWake()),
		wire.AtMost("starts", len(m.GetStarts()), MaxJobs),
		wire.AtMost("kills", len(m.GetKills()), MaxJobs),
		wire.AtMost("refused", len(m.GetRefused()), MaxReason),
	); err != nil {
		return localsched.Actions{}, protocol.Load{}, err
	}
	if m.GetRefused() != "" {
		return localsched.Actions{}, load, &localsched.RefusedError{Reason: m.GetRefused()}
	}
	starts, err := wire.Decode("starts", m.GetStarts(), DecodeTag)
	if err != nil {
		return localsched.Actions{}, protocol.Load{}, err
	}
	kills, err := wire.Decode("kills", m.GetKills(), DecodeTag)
	if err != nil {
		return localsched.Actions{}, protocol.Load{}, err
	}
	return localsched.Actions{Starts: starts, Kills: kills, Wake: protocol.Instant(m.GetWake())}, load, nil
}

// lastInstant is the start of a job when none is in sight; it travels as -1.
const lastInstant protocol.Instant = math.MaxInt64

// EncodePlanned converts when jobs would start.
func EncodePlanned(planned []localsched.Planned) *PlanResponse {
	n := len(planned)
	m := &PlanResponse{Start: make([]int64, n), Declined: make([]string, n), Note: make([]string, n)}
	for i, one := range planned {
		if one.Declined != "" {
			m.Declined[i] = wire.Clip(one.Declined, MaxReason)
			continue
		}
		m.Note[i] = wire.Clip(one.Note, wire.MaxNote)
		switch {
		case one.Start == lastInstant:
			m.Start[i] = -1
		case one.Start < 0:
			m.Start[i] = math.MinInt64 // no check passes it
		default:
			m.Start[i] = int64(one.Start)
		}
	}
	m.Note = wire.Sparse(m.GetNote())
	return m
}

// DecodePlanned checks and converts when n jobs would start. The error names the
// column and the entry.
func DecodePlanned(m *PlanResponse, n int) ([]localsched.Planned, error) {
	if err := wire.First(
		wire.Length("start", len(m.GetStart()), n),
		wire.Length("declined", len(m.GetDeclined()), n),
		wire.SparseLength("note", len(m.GetNote()), n),
	); err != nil || n == 0 {
		return nil, err
	}
	planned, notes := make([]localsched.Planned, n), wire.Dense(m.GetNote(), n)
	for i, start := range m.GetStart() {
		why := m.GetDeclined()[i]
		switch {
		case start < -1:
			return nil, fmt.Errorf("start[%d]: %d is negative; -1 says that none is in sight", i, start)
		case why != "" && start != 0:
			return nil, fmt.Errorf("start[%d]: is %d, but the job is declined; use 0", i, start)
		case len(why) > MaxReason:
			return nil, fmt.Errorf("declined[%d]: has %d bytes, at most %d are allowed", i, len(why), MaxReason)
		case start == -1:
			start = int64(lastInstant)
		}
		if err := checkNote(notes[i], why); err != nil {
			return nil, fmt.Errorf("plans[%d]: %w", i, err)
		}
		planned[i] = localsched.Planned{Start: protocol.Instant(start), Declined: why, Note: notes[i]}
	}
	return planned, nil
}
