package localschedv1

import (
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeSubmission converts a submission, whose script it shares. The error is a
// *[localsched.RefusedError] when the job has a name that is not UTF-8, which cannot
// travel, and would not when repeated.
func EncodeSubmission(s localsched.Submission) (*SubmitRequest, error) {
	if err := checkUTF8(&s); err != nil {
		return nil, &localsched.RefusedError{Reason: err.Error()}
	}
	return &SubmitRequest{
		Tag: EncodeTag(s.Tag), Spec: wireSpec(&s.Spec), Payload: wirePayload(s.Payload),
		Origin: string(s.Origin), Account: s.Account, Guest: s.Guest, StartBy: int64(s.StartBy),
	}, nil
}

// DecodeSubmission checks and converts a submission, whose script it shares. The
// error names the field.
func DecodeSubmission(m *SubmitRequest) (localsched.Submission, error) {
	tag, err := DecodeTag(m.GetTag())
	if err != nil {
		return localsched.Submission{}, fmt.Errorf("submission: %w", err)
	}
	spec, err := readSpec(m.GetSpec())
	if err = wire.First(
		wire.Present("spec", m.GetSpec() != nil),
		wire.In("spec", err),
		sameJob(spec.Job, tag.Job),
		wire.Present("payload", m.GetPayload() != nil),
		wire.In("payload", checkPayload(m.GetPayload())),
		wire.In("origin", protocol.SiteName(m.GetOrigin()).Validate()),
		wire.UnixString("account", m.GetAccount(), maxID),
		wire.Amount("start_by", m.GetStartBy()),
	); err != nil {
		return localsched.Submission{}, fmt.Errorf("submission: %w", err)
	}
	return localsched.Submission{
		Tag: tag, Spec: spec, Payload: wire.DecodePayload(m.GetPayload()),
		Origin: protocol.SiteName(m.GetOrigin()), Account: m.GetAccount(), Guest: m.GetGuest(), StartBy: protocol.Instant(m.GetStartBy()),
	}, nil
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
		return "", errors.New("refused: is set, and local_id too; use one")
	}
	if m.GetRefused() == "" && m.GetLocalId() == "" {
		return "", errors.New("local_id: is missing, and refused too; use one")
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
	case localsched.Unclear:
	}
	return m
}

// DecodePresence checks and converts what is known of a job.
func DecodePresence(m *FindByTagResponse) (localsched.Presence, localsched.LocalID, error) {
	if err := wire.AtMost("local_id", len(m.GetLocalId()), maxID); err != nil {
		return localsched.Unclear, "", err
	}
	id := localsched.LocalID(m.GetLocalId())
	switch m.GetPresence() {
	case FindByTagResponse_PRESENCE_PRESENT:
		return localsched.Present, id, nil
	case FindByTagResponse_PRESENCE_ABSENT:
		return localsched.Absent, id, nil
	case FindByTagResponse_PRESENCE_UNSPECIFIED:
		return localsched.Unclear, id, nil
	}
	return localsched.Unclear, "", fmt.Errorf("presence: %d is unknown", int32(m.GetPresence()))
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
	return 0, fmt.Errorf("withdrawal: %d is unknown or missing", int32(m.GetWithdrawal()))
}

func sameJob(job, of protocol.JobID) error {
	if job != of {
		return fmt.Errorf("spec: job: is %v, but the tag's is %v", job, of)
	}
	return nil
}

// checkUTF8 finds the first text that cannot travel.
func checkUTF8(s *localsched.Submission) error {
	for _, licence := range s.Spec.Licences {
		if err := valid("licences", licence.Name); err != nil {
			return err
		}
	}
	return wire.First(
		valid("name", s.Spec.Name), valid("user", s.Spec.User), valid("priority", s.Spec.Priority), valid("account", s.Account),
	)
}

func valid(field, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s: %.64q is not UTF-8, which plugins cannot take", field, text)
	}
	return nil
}
