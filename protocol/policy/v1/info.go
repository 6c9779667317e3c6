package policyv1

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeInfo converts what a policy says of itself. An initiation that does not
// exist becomes one that is never sent, for no check to pass.
func EncodeInfo(info policy.Info) *DescribeResponse {
	return &DescribeResponse{
		Name: info.Name, Reckon: string(info.Reckon), Extra: int64(info.Extra), Initiations: wire.Convert(info.Initiations, wireInitiation),
		Shortcut: info.Shortcut, Alone: info.Alone, Whole: info.Whole, Front: info.Front,
		Params: wire.Convert(info.Params, func(p policy.Param) *Param { return &Param{Name: p.Name, Value: p.Value} }),
	}
}

// DecodeInfo checks and converts what a policy says of itself. The error names the
// policy or the field.
func DecodeInfo(m *DescribeResponse) (policy.Info, error) {
	if err := wire.First(
		wire.AtMost("params", len(m.GetParams()), maxParams),
		wire.Count("extra", m.GetExtra()),
	); err != nil {
		return policy.Info{}, err
	}
	initiations, err := wire.Decode("initiations", m.GetInitiations(), readInitiation)
	if err != nil {
		return policy.Info{}, err
	}
	params, err := wire.Decode("params", m.GetParams(), readParam)
	if err != nil {
		return policy.Info{}, err
	}
	info := policy.Info{
		Name: m.GetName(), Initiations: initiations, Shortcut: m.GetShortcut(), Alone: m.GetAlone(), Params: params,
		Reckon: protocol.Reckoning(m.GetReckon()), Extra: int(m.GetExtra()), Whole: m.GetWhole(), Front: m.GetFront(),
	}
	if err = info.Check(); err != nil {
		return policy.Info{}, err
	}
	return info, nil
}

func readParam(m *Param) (policy.Param, error) {
	return policy.Param{Name: m.GetName(), Value: m.GetValue()}, wire.First(
		wire.AtMost("name", len(m.GetName()), maxParam),
		wire.AtMost("value", len(m.GetValue()), maxParam),
	)
}

func wireInitiation(i policy.Initiation) Initiation {
	switch i {
	case policy.Sender:
		return Initiation_INITIATION_SENDER
	case policy.Receiver:
		return Initiation_INITIATION_RECEIVER
	case policy.Symmetric:
		return Initiation_INITIATION_SYMMETRIC
	case policy.Cycle:
		return Initiation_INITIATION_CYCLE
	default:
		return Initiation_INITIATION_UNSPECIFIED
	}
}

func readInitiation(w Initiation) (policy.Initiation, error) {
	switch w {
	case Initiation_INITIATION_SENDER:
		return policy.Sender, nil
	case Initiation_INITIATION_RECEIVER:
		return policy.Receiver, nil
	case Initiation_INITIATION_SYMMETRIC:
		return policy.Symmetric, nil
	case Initiation_INITIATION_CYCLE:
		return policy.Cycle, nil
	case Initiation_INITIATION_UNSPECIFIED:
	}
	return "", fmt.Errorf("%d is unknown or missing", int32(w))
}
