package peertest

import (
	"context"
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Greedy is a policy for tests that serves every initiation and has no use for φ. It
// sends each job, the oldest first, to the site of least turnaround that takes one more;
// among equals to the cheapest, then the first by name.
type Greedy struct {
	EnergyPricing    protocol.EnergyPricing
	MarginalJobs     int  // jobs of a round that it asks the growing wait of
	ApplicationAware bool // it decides about applications: it takes the first shape that a site takes, and groups whole or not at all
}

// Info implements [policy.Policy].
func (g Greedy) Info() policy.Info {
	return policy.Info{
		Name:        "greedy",
		Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle},
	}
}

// Describe implements [policy.Describer]: what it can is the test's choice.
func (g Greedy) Describe() policy.Description {
	info := g.Info()
	d := policy.Description{Name: info.Name, Initiations: info.Initiations, EnergyPricing: g.EnergyPricing, MarginalJobs: g.MarginalJobs}
	if g.ApplicationAware {
		d.Can = []policy.Capability{policy.Applications}
	}
	return d
}

// Decide implements [policy.Policy].
func (g Greedy) Decide(_ context.Context, in policy.Snapshot) (decisions []policy.Decision, hint []byte, err error) {
	sent := make([]int, len(in.Sites))
	for j := range in.Jobs {
		if last := len(decisions) - 1; last >= 0 && in.Jobs[decisions[last].Job].ID == in.Jobs[j].ID {
			continue
		}
		best, least := -1, protocol.Never
		for s := range in.Sites {
			at := in.At(j, s)
			if in.AWT[at] == protocol.Never || sent[s] >= in.Sites[s].MaxJobs {
				continue
			}
			att := in.AWT[at].Plus(in.ERT[at]).Plus(longer(&in.Sites[s], sent[s]))
			if att < least || (best >= 0 && att == least && in.Cost[at] < in.Cost[in.At(j, best)]) {
				best, least = s, att
			}
		}
		if best >= 0 {
			sent[best]++
			decisions = append(decisions, policy.Decision{Job: j, Site: best, Wait: in.AWT[in.At(j, best)], Reason: "greedy"})
		}
	}
	return complete(&in, decisions), nil, nil
}

// complete drops decisions for groups of which some member has no site.
func complete(in *policy.Snapshot, decisions []policy.Decision) []policy.Decision {
	type group struct{ application, number int }
	without := map[group]int{}
	of := func(j int) group { return group{in.Jobs[j].Application, in.Jobs[j].Together} }
	for j := range in.Jobs {
		if j == 0 || in.Jobs[j].ID != in.Jobs[j-1].ID {
			without[of(j)]++
		}
	}
	for _, d := range decisions {
		without[of(d.Job)]--
	}
	return slices.DeleteFunc(decisions, func(d policy.Decision) bool {
		return in.Jobs[d.Job].Together > 0 && without[of(d.Job)] > 0
	})
}

// longer is how much longer a job waits after sent others of its round.
func longer(s *policy.Site, sent int) protocol.Duration {
	if sent == 0 || len(s.MarginalWaits) == 0 {
		return 0
	}
	return s.MarginalWaits[min(sent, len(s.MarginalWaits))-1]
}
