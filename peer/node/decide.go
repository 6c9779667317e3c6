package node

import (
	"fmt"
	"runtime/debug"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// decide asks the policy about a round, and the fallback if the policy fails: jobs
// do not wait for a broken policy to be mended.
func (n *Node) decide(in policy.Snapshot, decider policy.Policy) (peer.Result, error) {
	result, err := n.propose(in, decider)
	if err == nil || n.cfg.Fallback == nil {
		return result, err
	}
	in.Hint = nil // it is the other policy's
	stead, failed := n.propose(in, n.cfg.Fallback)
	if failed != nil {
		return nil, fmt.Errorf("%w; and in its stead: %w", err, failed)
	}
	stead.Hint = nil
	stead.By, stead.Because = n.cfg.Fallback.Info().Name, err.Error()
	return stead, nil
}

// propose is a policy's answer if it is one that a policy may give.
func (n *Node) propose(in policy.Snapshot, decider policy.Policy) (result peer.DecideResult, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			n.log.Error("policy_panicked", "reason", reason, "stack", string(debug.Stack()))
			result, err = peer.DecideResult{}, fmt.Errorf("the policy panicked: %v", reason)
		}
	}()
	decisions, hint, err := decider.Decide(in)
	if err == nil {
		err = in.Check(decisions)
	}
	if err != nil {
		return peer.DecideResult{}, err
	}
	return peer.DecideResult{Decisions: decisions, Hint: hint}, nil
}
