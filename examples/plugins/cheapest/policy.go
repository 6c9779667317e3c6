package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Policy implements [policy.Policy].
type Policy struct{ waitLimit protocol.Duration }

// New returns the policy with a limit, in ms, of the wait for which a low price makes
// up.
func New(waitLimit protocol.Duration) *Policy { return &Policy{waitLimit: waitLimit} }

// Info implements [policy.Policy]. No job stays at home without a round, however
// short its wait there: another site may be cheaper.
func (p *Policy) Info() policy.Info {
	return policy.Info{
		Name:        "cheapest",
		Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle},
		Params:      []policy.Param{{Name: "wait_limit_ms", Value: strconv.FormatInt(int64(p.waitLimit), 10)}},
	}
}

// Decide implements [policy.Policy]. Jobs are placed in the order of the queue. One
// that no site takes stays in it.
func (p *Policy) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	r := newRound(&in)
	var decisions []policy.Decision
	for j := range in.Jobs {
		offers := r.offers(j)
		if len(offers) == 0 {
			continue
		}
		best, reason := p.choose(offers)
		decisions = append(decisions, policy.Decision{Job: j, Site: best.site, Wait: best.wait, Reason: reason})
		r.send(j, best.site)
	}
	return decisions, nil, nil
}

// choose is the best of some offers, and why.
func (p *Policy) choose(offers []offer) (best offer, reason string) {
	soon := make([]offer, 0, len(offers))
	for _, o := range offers {
		if o.wait <= p.waitLimit {
			soon = append(soon, o)
		}
	}
	if len(soon) == 0 {
		best = slices.MinFunc(offers, faster)
		return best, fmt.Sprintf("no site starts it within %v; least turnaround, %v", p.waitLimit, best.turnaround)
	}
	best = slices.MinFunc(soon, cheaper)
	if best.noPrice {
		return best, fmt.Sprintf("no site that starts it within %v has a price to compare; least turnaround, %v",
			p.waitLimit, best.turnaround)
	}
	return best, fmt.Sprintf("cheapest of those that start it within %v (%d of %d sites): %s %s, wait %v",
		p.waitLimit, len(soon), len(offers), amount(best.cost), best.currency, best.wait)
}

// offer is what one site offers one job, now that the round has sent others there.
type offer struct {
	site       int
	wait       protocol.Duration
	turnaround protocol.Duration // wait and run time
	noPrice    bool              // that could be compared
	cost       protocol.Micro    // 0 without a price
	currency   string
	sent       int  // jobs that the round has sent there
	away       bool // it is not the own site
}

// cheaper orders offers by their price; those without one come last.
func cheaper(a, b offer) int {
	return cmp.Or(falseFirst(a.noPrice, b.noPrice), cmp.Compare(a.cost, b.cost), faster(a, b))
}

// faster orders offers by their turnaround. At a tie the round's jobs are spread, and
// then stay at home. What is left is the order of the sites.
func faster(a, b offer) int {
	return cmp.Or(
		cmp.Compare(a.turnaround, b.turnaround), cmp.Compare(a.sent, b.sent),
		falseFirst(a.away, b.away), cmp.Compare(a.site, b.site),
	)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// amount prints an amount of money exactly: 40,000 millionths are "0.04".
func amount(m protocol.Micro) string {
	const unit = 1_000_000
	whole, rest := m/unit, m%unit
	sign := ""
	if m < 0 {
		whole, rest, sign = -whole, -rest, "-"
	}
	text := fmt.Sprintf("%s%d.%06d", sign, whole, rest)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
