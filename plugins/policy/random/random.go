// Package random is the policy that draws a site for each job, every one that has
// quoted it and has room with the same chance. It shows what a policy is worth that
// knows more.
package random

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config are the policy's parameters.
type Config struct{ Seed uint64 }

// Policy implements [policy.Policy].
type Policy struct{ Config }

// New returns the policy.
func New(cfg Config) Policy { return Policy{cfg} }

// Restore returns the policy with these parameters, as [Policy.Info] listed them.
func Restore(params []policy.Param) (Policy, error) {
	if len(params) != 1 || params[0].Name != seedName {
		return Policy{}, fmt.Errorf("policy random: the parameters are %q; it has one, %s", params, seedName)
	}
	seed, err := strconv.ParseUint(params[0].Value, 10, 64)
	if err != nil {
		return Policy{}, fmt.Errorf("policy random: its parameter %s is %q, not a number from 0 on", seedName, params[0].Value)
	}
	return New(Config{Seed: seed}), nil
}

const seedName = "seed"

// Info implements [policy.Policy].
func (p Policy) Info() policy.Info {
	return policy.Info{
		Name:        "random",
		Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle},
		Params:      []policy.Param{{Name: seedName, Value: strconv.FormatUint(p.Seed, 10)}},
	}
}

// Decide implements [policy.Policy]. Each job has random numbers of its own, by the seed,
// its id and what it has waited: what is drawn for it does not depend on the jobs around
// it, but for those that took a site's last room. One that is requeued is sampled again, or it
// would be sent for ever to a site that refuses it.
func (p Policy) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	var decisions []policy.Decision
	sent := make([]int, len(in.Sites))
	open := make([]int, 0, len(in.Sites))
	for j := range in.Jobs {
		open = open[:0]
		for s := range in.Sites {
			if in.AWT[in.At(j, s)] != protocol.Never && sent[s] < in.Sites[s].MaxJobs {
				open = append(open, s)
			}
		}
		if len(open) == 0 {
			continue
		}
		s := open[p.draw(&in.Jobs[j], len(open))]
		sent[s]++
		decisions = append(decisions, policy.Decision{
			Job: j, Site: s, Wait: in.AWT[in.At(j, s)], Reason: fmt.Sprintf("drawn from %d sites with room", len(open)),
		})
	}
	return decisions, nil, nil
}

// draw is a number below n for a job.
func (p Policy) draw(job *policy.Job, n int) int {
	own := uint64(job.ID) ^ mixed(uint64(job.Waited)) //nolint:gosec // bits to mix
	return rand.New(rand.NewPCG(mixed(p.Seed), mixed(own))).IntN(n)
}

// mixed is the finaliser of SplitMix64: a PCG that starts at neighbouring states gives
// related numbers.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
