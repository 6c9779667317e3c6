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
func (s *policyServer) Describe(_ context.Context, in *policyv1.DescribeRequest) (*policyv1.DescribeResponse, error) {
	return answer(s.made, in, nothing, func(p policy.Policy, _ struct{}) (*policyv1.DescribeResponse, error) {
		return policyv1.EncodeDescription(policy.Describe(p)), nil
	})
}

// Decide implements [policyv1.PolicyServer].
func (s *policyServer) Decide(ctx context.Context, in *policyv1.DecideRequest) (*policyv1.DecideResponse, error) {
	return answer(s.made, in, policyv1.DecodeSnapshot, func(p policy.Policy, snapshot policy.Snapshot) (*policyv1.DecideResponse, error) {
		decisions, hint, err := p.Decide(ctx, snapshot)
		return policyv1.EncodeDecisions(decisions, hint), err
	})
}

// ParetoFront implements [policyv1.PolicyServer], for a policy that is a [policy.ParetoPolicy].
func (s *policyServer) ParetoFront(ctx context.Context, in *policyv1.DecideRequest) (*policyv1.ParetoFrontResponse, error) {
	return answer(s.fronter, in, policyv1.DecodeSnapshot, func(p policy.ParetoPolicy, snapshot policy.Snapshot) (*policyv1.ParetoFrontResponse, error) {
		front, err := p.ParetoFront(ctx, snapshot)
		return policyv1.EncodeFront(&front), err
	})
}

// fronter is the policy as one that lays out choices.
func (s *policyServer) fronter() (policy.ParetoPolicy, error) {
	p, err := s.made()
	if err != nil {
		return nil, err
	}
	fronter, ok := p.(policy.ParetoPolicy)
	if !ok {
		return nil, status.Error(codes.Unimplemented, "the policy lays out no choices between cost and time")
	}
	return fronter, nil
}
