package policyv1

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeDescription converts what a policy says of itself. An initiation that does not
// exist becomes one that is never sent, for no check to pass.
func EncodeDescription(d policy.Description) *DescribeResponse {
	return &DescribeResponse{
		Name: d.Name, EnergyPricing: string(d.EnergyPricing), MarginalJobs: int64(d.MarginalJobs), Initiations: wire.Convert(d.Initiations, wireInitiation),
		SkipRoundBelowThreshold: d.SkipsRoundBelowThreshold(), LocalOnly: d.LocalOnly(), DecidesApplications: d.DecidesApplications(), ParetoFront: d.HasParetoFront(),
		Params: wire.Convert(d.Params, func(p policy.Param) *Param { return &Param{Name: p.Name, Value: p.Value} }),
	}
}

// DecodeDescription checks and converts what a policy says of itself. The error names the
// policy or the field.
func DecodeDescription(m *DescribeResponse) (policy.Description, error) {
	if err := wire.First(
		wire.AtMost("params", len(m.GetParams()), maxParams),
		wire.Count("marginal_jobs", m.GetMarginalJobs()),
	); err != nil {
		return policy.Description{}, err
	}
	initiations, err := wire.Decode("initiations", m.GetInitiations(), readInitiation)
	if err != nil {
		return policy.Description{}, err
	}
	params, err := wire.Decode("params", m.GetParams(), readParam)
	if err != nil {
		return policy.Description{}, err
	}
	d := policy.Description{
		Name: m.GetName(), Initiations: initiations, Params: params, Can: readCapabilities(m),
		EnergyPricing: protocol.EnergyPricing(m.GetEnergyPricing()), MarginalJobs: int(m.GetMarginalJobs()),
	}
	if err = d.Check(); err != nil {
		return policy.Description{}, err
	}
	return d, nil
}

func readCapabilities(m *DescribeResponse) (can []policy.Capability) {
	has := map[policy.Capability]bool{
		policy.Applications: m.GetDecidesApplications(), policy.ParetoFronts: m.GetParetoFront(), policy.LocalOnly: m.GetLocalOnly(), policy.SkipRoundBelowThreshold: m.GetSkipRoundBelowThreshold(),
	}
	for _, one := range policy.Capabilities() {
		if has[one] {
			can = append(can, one)
		}
	}
	return can
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
