package localschedv1

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeSubmission converts a submission, whose script it shares. The error is a
// *[localsched.RefusedError] when the job cannot travel, as with a name that is not UTF-8, and
// would not when repeated.
func EncodeSubmission(s localsched.Submission) (*SubmitRequest, error) {
	if err := wire.First(wire.In("spec", commonv1.CheckSpec(s.Spec)), checkAccount(s.Account)); err != nil {
		return nil, &localsched.RefusedError{Reason: err.Error()}
	}
	return &SubmitRequest{
		Tag: commonv1.EncodeTag(s.Tag), Spec: commonv1.EncodeSpec(s.Spec), Payload: commonv1.EncodePayload(s.Payload),
		Origin: string(s.Origin), Account: s.Account, Guest: s.Guest, StartByMs: int64(s.StartBy),
	}, nil
}

// DecodeSubmission checks and converts a submission, whose script it shares. The
// error names the field.
func DecodeSubmission(m *SubmitRequest) (localsched.Submission, error) {
	s := localsched.Submission{
		Tag: commonv1.DecodeTag(m.GetTag()), Spec: commonv1.DecodeSpec(m.GetSpec()), Payload: commonv1.DecodePayload(m.GetPayload()),
		Origin: protocol.SiteName(m.GetOrigin()), Account: m.GetAccount(), Guest: m.GetGuest(), StartBy: protocol.Instant(m.GetStartByMs()),
	}
	if err := wire.First(
		commonv1.CheckTag(s.Tag),
		wire.Present("spec", m.GetSpec() != nil),
		wire.In("spec", wire.First(commonv1.CheckSpec(s.Spec), sameJob(s.Spec.Job, s.Tag.Job))),
		commonv1.CheckPayload(s.Payload),
		wire.In("origin", s.Origin.Validate()),
		checkAccount(s.Account),
		wire.Amount("start_by_ms", s.StartBy),
	); err != nil {
		return localsched.Submission{}, wire.In("submission", err)
	}
	return s, nil
}

// checkAccount checks the name of a local account, which is a C string and travels as text.
func checkAccount(name string) error {
	return wire.First(wire.UnixString("account", name, maxID), wire.Text("account", name, maxID))
}

// EncodeSubmitted says that the batch system has the job.
func EncodeSubmitted(id localsched.LocalID) *SubmitResponse {
	return &SubmitResponse{LocalId: wire.Clip(string(id), maxID)}
}

// EncodeRefused says that the batch system will never take the job.
func EncodeRefused(refused *localsched.RefusedError) *SubmitResponse {
	return &SubmitResponse{Refused: refusal(refused)}
}

// DecodeSubmitted checks and converts the answer to a submission. The error is a
// *[localsched.RefusedError] when the batch system will never take the job.
func DecodeSubmitted(m *SubmitResponse) (localsched.LocalID, error) {
	if m.GetRefused() != "" && m.GetLocalId() != "" {
		return "", wire.Wrong("refused", "is set, and local_id too; use one")
	}
	if m.GetRefused() == "" && m.GetLocalId() == "" {
		return "", wire.Wrong("local_id", "is missing, and refused too; use one")
	}
	if err := wire.First(
		wire.AtMost("local_id", len(m.GetLocalId()), maxID),
		wire.AtMost("refused", len(m.GetRefused()), MaxReason),
	); err != nil {
		return "", err
	}
	if m.GetRefused() != "" {
		return "", &localsched.RefusedError{Reason: m.GetRefused()}
	}
	return localsched.LocalID(m.GetLocalId()), nil
}

// refusal is never empty, since that would mean that the job was taken.
func refusal(refused *localsched.RefusedError) string {
	return cmp.Or(wire.Clip(refused.Reason, MaxReason), "no reason was given")
}

// EncodePresence converts what is known of a job.
func EncodePresence(p localsched.Presence, id localsched.LocalID) *FindByTagResponse {
	m := &FindByTagResponse{LocalId: wire.Clip(string(id), maxID)}
	switch p {
	case localsched.Present:
		m.Presence = FindByTagResponse_PRESENCE_PRESENT
	case localsched.Absent:
		m.Presence = FindByTagResponse_PRESENCE_ABSENT
	case localsched.PresenceUnknown:
	}
	return m
}

// DecodePresence checks and converts what is known of a job.
func DecodePresence(m *FindByTagResponse) (localsched.Presence, localsched.LocalID, error) {
	if err := wire.AtMost("local_id", len(m.GetLocalId()), maxID); err != nil {
		return localsched.PresenceUnknown, "", err
	}
	id := localsched.LocalID(m.GetLocalId())
	switch m.GetPresence() {
	case FindByTagResponse_PRESENCE_PRESENT:
		return localsched.Present, id, nil
	case FindByTagResponse_PRESENCE_ABSENT:
		return localsched.Absent, id, nil
	case FindByTagResponse_PRESENCE_UNSPECIFIED:
		return localsched.PresenceUnknown, id, nil
	}
	return localsched.PresenceUnknown, "", wire.Wrong("presence", "%d is unknown", int32(m.GetPresence()))
}

// EncodeWithdrawal converts what became of a withdrawal.
func EncodeWithdrawal(w localsched.Withdrawal) *WithdrawResponse {
	m := &WithdrawResponse{}
	switch w {
	case localsched.Withdrawn:
		m.Withdrawal = WithdrawResponse_WITHDRAWAL_WITHDRAWN
	case localsched.Started:
		m.Withdrawal = WithdrawResponse_WITHDRAWAL_STARTED
	}
	return m
}

// DecodeWithdrawal checks and converts what became of a withdrawal.
func DecodeWithdrawal(m *WithdrawResponse) (localsched.Withdrawal, error) {
	switch m.GetWithdrawal() {
	case WithdrawResponse_WITHDRAWAL_WITHDRAWN:
		return localsched.Withdrawn, nil
	case WithdrawResponse_WITHDRAWAL_STARTED:
		return localsched.Started, nil
	case WithdrawResponse_WITHDRAWAL_UNSPECIFIED:
	}
	return 0, wire.Wrong("withdrawal", "%d is unknown or missing", int32(m.GetWithdrawal()))
}
