// Package local is the policy that keeps every job at the site where it was
// submitted: the local scheme of [SS 4], and what a site falls back to.
package local

import (
	"context"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Policy implements [policy.Policy].
type Policy struct{}

// New returns the policy.
func New() Policy { return Policy{} }

// Info implements [policy.Policy]. It serves every initiation, so that it can take
// the place of any policy at once.
func (Policy) Info() policy.Info {
	return policy.Info{
		Name:        "local",
		Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle},
	}
}

// SkipsRoundBelowThreshold implements [policy.ThresholdPolicy].
func (Policy) SkipsRoundBelowThreshold() {}

// LocalOnly implements [policy.LocalPolicy].
func (Policy) LocalOnly() {}

// Decide implements [policy.Policy]. A job that its own site has declined gets no
// decision.
func (Policy) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	if in.Self == policy.NoSite {
		return nil, nil, nil
	}
	decisions := make([]policy.Decision, 0, len(in.Jobs))
	room := in.Sites[in.Self].MaxJobs
	for j := range in.Jobs {
		wait := in.AWT[in.At(j, in.Self)]
		if wait == protocol.Never || room == 0 {
			continue
		}
		room--
		decisions = append(decisions, policy.Decision{
			Job: j, Site: in.Self, Wait: wait, Reason: "jobs stay at their own site; wait " + wait.Text(),
		})
	}
	return decisions, nil, nil
}
