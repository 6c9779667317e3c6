package localschedv1

import (
	"math"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeQueued converts a submission to an engine. The job is that of the tag.
func EncodeQueued(now protocol.Instant, job localsched.Queued, engine uint64) *EngineSubmitRequest {
	tag, request := encodePlaced(job.Tag, job.Request)
	return &EngineSubmitRequest{Engine: engine, NowMs: int64(now), Tag: tag, Request: request, SinceMs: int64(job.Since)}
}

// DecodeQueued checks and converts a submission to an engine. The error names the
// field.
func DecodeQueued(m *EngineSubmitRequest) (protocol.Instant, localsched.Queued, error) {
	tag, request, err := decodePlaced(m.GetTag(), m.GetRequest())
	queued := localsched.Queued{Request: request, Tag: tag, Since: protocol.Instant(m.GetSinceMs())}
	return protocol.Instant(m.GetNowMs()), queued, wire.First(err, wire.Amount("since_ms", queued.Since))
}

// EncodeActions converts what a driver must do, and the load afterwards.
func EncodeActions(a localsched.Actions, load protocol.Load) *ActionsResponse {
	return &ActionsResponse{
		Starts: wire.Convert(a.Starts, commonv1.EncodeTag), Kills: wire.Convert(a.Kills, commonv1.EncodeTag),
		WakeMs: int64(a.Wake), Load: commonv1.EncodeLoad(load),
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
		wire.Amount("wake_ms", m.GetWakeMs()),
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
	return localsched.Actions{Starts: starts, Kills: kills, Wake: protocol.Instant(m.GetWakeMs())}, load, nil
}

// lastInstant is the start of a job when none is in sight; it travels as -1.
const lastInstant protocol.Instant = math.MaxInt64

// EncodePlanned converts when jobs would start.
func EncodePlanned(planned []localsched.Planned) *PlanResponse {
	return &PlanResponse{Planned: wire.Convert(planned, encodePlanned)}
}

func encodePlanned(one localsched.Planned) *Planned {
	switch {
	case one.Declined != "":
		return &Planned{Declined: wire.Clip(one.Declined, MaxReason)}
	case one.Start == lastInstant:
		one.Start = -1
	case one.Start < 0:
		one.Start = math.MinInt64 // no check passes it
	}
	return &Planned{StartMs: int64(one.Start), Note: wire.Clip(one.Note, protocol.MaxNote)}
}

// DecodePlanned checks and converts when n jobs would start. The error names the
// entry and the field.
func DecodePlanned(m *PlanResponse, n int) ([]localsched.Planned, error) {
	if err := wire.Length("planned", len(m.GetPlanned()), n); err != nil {
		return nil, err
	}
	return wire.Decode("planned", m.GetPlanned(), decodePlanned)
}

func decodePlanned(m *Planned) (localsched.Planned, error) {
	one := localsched.Planned{Start: protocol.Instant(m.GetStartMs()), Declined: m.GetDeclined(), Note: m.GetNote()}
	switch {
	case one.Start < -1:
		return one, wire.Wrong("start_ms", "%d is negative; -1 says that none is in sight", int64(one.Start))
	case one.Declined != "" && one.Start != 0:
		return one, wire.Wrong("start_ms", "is %d, but the job is declined; use 0", int64(one.Start))
	case one.Declined != "" && one.Note != "":
		return one, wire.Wrong("note", "a declined job has none; say it in declined")
	case one.Start == -1:
		one.Start = lastInstant
	}
	return one, wire.First(wire.AtMost("declined", len(one.Declined), MaxReason), wire.AtMost("note", len(one.Note), protocol.MaxNote))
}
