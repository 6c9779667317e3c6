package sdk

import (
	"context"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

// policyServer serves a policy.
type policyServer struct {
	policyv1.UnimplementedPolicyServer
	made func() (policy.Policy, error)
}

// Describe implements [policyv1.PolicyServer].
func (s *policyServer) Describe(context.Context, *policyv1.DescribeRequest) (*policyv1.DescribeResponse, error) {
	p, err := s.made()
	if err != nil {
		return nil, err
	}
	return policyv1.EncodeInfo(p.Info()), nil
}

// Decide implements [policyv1.PolicyServer].
func (s *policyServer) Decide(ctx context.Context, in *policyv1.DecideRequest) (*policyv1.DecideResponse, error) {
	p, err := s.made()
	if err != nil {
		return nil, err
	}
	snapshot, err := policyv1.DecodeSnapshot(in)
	if err != nil {
		return nil, badRequest(err)
	}
	decisions, hint, err := p.Decide(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	return policyv1.EncodeDecisions(decisions, hint), nil
}
