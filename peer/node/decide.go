package node

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// decide asks the policy about a round, and the fallback if the policy fails: jobs
// do not wait for a broken policy to be mended. When ctx has ended nobody waits for either.
func (n *Node) decide(ctx context.Context, in policy.Snapshot, decider policy.Policy) (peer.Result, error) {
	decisions, hint, err := decider.Decide(ctx, in)
	if err == nil {
		return peer.DecideResult{Decisions: decisions, Hint: hint}, nil
	}
	if n.cfg.Fallback == nil || ctx.Err() != nil {
		return nil, err
	}
	in.Hint = nil // it is the other policy's
	decisions, _, failed := n.cfg.Fallback.Decide(ctx, in)
	if failed != nil {
		return nil, fmt.Errorf("%w; and in its stead: %w", err, failed)
	}
	return peer.DecideResult{Decisions: decisions, By: n.cfg.Fallback.Info().Name, Because: err.Error()}, nil
}
