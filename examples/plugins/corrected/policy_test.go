package main

import (
	"context"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policytest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	policytest.Test(t, policytest.Target{Open: func(context.Context) (policy.Policy, error) { return Policy{}, nil }})
}

// TestLateSiteIsCorrected: site a quotes the shorter wait, and jobs go there until its outcomes
// say that they wait far longer; the hint keeps that when the outcomes are gone.
func TestLateSiteIsCorrected(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Sites: []policy.Site{{Name: "a", CPUs: 8, MaxJobs: 9}, {Name: "b", CPUs: 8, MaxJobs: 9}},
		Jobs:  []policy.Job{{ID: protocol.NewJobID(1, 1), CPUs: 1, WallTime: protocol.Hour}},
		AWT:   []protocol.Duration{protocol.Minute, 10 * protocol.Minute}, ERT: []protocol.Duration{protocol.Hour, protocol.Hour},
		Cost: []protocol.Micro{0, 0},
	}
	late := policy.Outcome{Site: "a", QuotedWait: protocol.Minute, Wait: 2 * protocol.Hour, State: protocol.Completed}
	never := policy.Outcome{Site: "b", QuotedWait: protocol.Minute, Wait: protocol.Never, State: protocol.Cancelled}
	for round, tt := range []struct {
		outcomes []policy.Outcome
		site     int
	}{{nil, 0}, {[]policy.Outcome{never}, 0}, {[]policy.Outcome{late, never}, 1}, {nil, 1}} {
		in.Outcomes = tt.outcomes
		decisions, hint, err := Policy{}.Decide(t.Context(), in)
		if err != nil || len(decisions) != 1 || decisions[0].Site != tt.site {
			t.Fatalf("round %d: %+v, %v, want site %d", round, decisions, err, tt.site)
		}
		in.Hint = hint
	}
}
