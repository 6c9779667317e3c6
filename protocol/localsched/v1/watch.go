package localschedv1

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeWatched converts what has happened. Native texts that are not UTF-8, or
// longer than [MaxReason], are repaired and cut.
func EncodeWatched(w localsched.Watched) *WatchResponse {
	return &WatchResponse{
		Cursor: string(w.Cursor), Load: commonv1.EncodeLoad(w.Load), Changes: wire.Convert(w.Changes, encodeChange),
	}
}

// DecodeWatched checks and converts what has happened. The error names the change
// and the field.
func DecodeWatched(m *WatchResponse) (localsched.Watched, error) {
	load, err := decodeLoad(m.GetLoad())
	if err = wire.First(
		err,
		wire.AtMost("cursor", len(m.GetCursor()), maxCursor),
		wire.AtMost("changes", len(m.GetChanges()), MaxJobs),
	); err != nil {
		return localsched.Watched{}, err
	}
	changes, err := wire.Decode("changes", m.GetChanges(), decodeChange)
	if err != nil {
		return localsched.Watched{}, err
	}
	return localsched.Watched{Changes: changes, Cursor: localsched.Cursor(m.GetCursor()), Load: load}, nil
}

func encodeChange(c localsched.Change) *Change {
	m := &Change{
		Tag: commonv1.EncodeTag(c.Tag), State: commonv1.EncodeState(c.State),
		Reason: wire.Clip(c.Reason, MaxReason), StartedMs: int64(c.Started), TimeLimitMs: wire.EncodeSpan(c.TimeLimit),
	}
	if c.State.Terminal() {
		c.Outcome.Reason = wire.Clip(c.Outcome.Reason, MaxReason)
		m.Outcome = commonv1.EncodeOutcome(c.Outcome)
	}
	return m
}

func decodeChange(m *Change) (localsched.Change, error) {
	change := localsched.Change{
		Tag: commonv1.DecodeTag(m.GetTag()), State: commonv1.DecodeState(m.GetState()),
		Reason: m.GetReason(), Started: protocol.Instant(m.GetStartedMs()), TimeLimit: wire.DecodeSpan(m.GetTimeLimitMs()),
	}
	if err := wire.First(
		commonv1.CheckTag(change.Tag),
		commonv1.CheckState(change.State),
		wire.AtMost("reason", len(change.Reason), MaxReason),
		wire.Amount("started_ms", change.Started),
		wire.Amount("time_limit_ms", change.TimeLimit),
	); err != nil {
		return localsched.Change{}, err
	}
	last, there := change.State.Terminal(), m.GetOutcome() != nil
	switch {
	case last && !there:
		return localsched.Change{}, wire.Wrong("outcome", "is missing, though %v is a last state", change.State)
	case !last && there:
		return localsched.Change{}, wire.Wrong("outcome", "is there, though %v is not a last state", change.State)
	case !last:
		return change, nil
	}
	var err error
	change.Outcome, err = commonv1.DecodeOutcome(m.GetOutcome())
	return change, wire.First(err, commonv1.CheckOutcome(change.Outcome), sameEnd(&change))
}

func sameEnd(c *localsched.Change) error {
	switch {
	case c.Outcome.State != c.State:
		return wire.In("outcome", wire.Wrong("state", "is %v, but the change's is %v", c.Outcome.State, c.State))
	case c.Outcome.Bill != nil:
		return wire.In("outcome", wire.Wrong("bill", "is there, and a local scheduler makes none"))
	}
	return nil
}
