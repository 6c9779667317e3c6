package sdk

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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
	return policyv1.EncodeDescription(policy.Describe(p)), nil
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

// Front implements [policyv1.PolicyServer], for a policy that is a [policy.Fronter].
func (s *policyServer) Front(ctx context.Context, in *policyv1.DecideRequest) (*policyv1.FrontResponse, error) {
	p, err := s.made()
	if err != nil {
		return nil, err
	}
	fronter, ok := p.(policy.Fronter)
	if !ok {
		return nil, status.Error(codes.Unimplemented, "the policy lays out no choices between cost and time")
	}
	snapshot, err := policyv1.DecodeSnapshot(in)
	if err != nil {
		return nil, badRequest(err)
	}
	front, err := fronter.Front(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	return policyv1.EncodeFront(&front), nil
}
