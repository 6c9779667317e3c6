package peertest

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Greedy is a policy for tests that serves every initiation and has no use for φ. It
// sends each job, the oldest first, to the site of least turnaround that takes one more;
// among equals to the cheapest, then the first by name.
type Greedy struct {
	Reckon protocol.Reckoning
	Extra  int // jobs of a round that it asks the growing wait of
}

// Info implements [policy.Policy].
func (g Greedy) Info() policy.Info {
	return policy.Info{
		Name:        "greedy",
		Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle},
		Reckon:      g.Reckon, Extra: g.Extra,
	}
}

// Decide implements [policy.Policy].
func (g Greedy) Decide(in policy.Snapshot) (decisions []policy.Decision, hint []byte, err error) {
	sent := make([]int, len(in.Sites))
	for j := range in.Jobs {
		best, least := -1, protocol.Never
		for s := range in.Sites {
			at := in.At(j, s)
			if in.AWT[at] == protocol.Never || sent[s] >= in.Sites[s].Accept {
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
	return decisions, nil, nil
}

// longer is how much longer a job waits after so many others of its round.
func longer(s *policy.Site, sent int) protocol.Duration {
	if sent == 0 || len(s.Extra) == 0 {
		return 0
	}
	return s.Extra[min(sent, len(s.Extra))-1]
}
