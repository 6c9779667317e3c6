package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Parts is what a peer needs besides its configuration, and what is known only
// when it starts.
type Parts struct {
	PublicKey string            // of the site's key
	Software  string            // name and version
	Capacity  protocol.Capacity // as the local scheduler describes it
	Policy    policy.Info
	Accounts  peer.Accounts
}

// Peer returns what the state machine is told.
func (c *Config) Peer(parts Parts) peer.Config {
	out := peer.Config{
		Site:        c.Site.Name,
		Number:      c.Site.Number,
		PublicKey:   parts.PublicKey,
		Software:    parts.Software,
		Capacity:    parts.Capacity,
		Policy:      parts.Policy,
		Initiation:  c.Rounds.Initiation,
		Phi:         c.Rounds.Phi,
		Sigma:       c.Rounds.Sigma,
		Deadline:    c.Rounds.Deadline,
		RoundJobs:   c.Rounds.RoundJobs,
		Ask:         c.Rounds.Ask,
		Retry:       c.Handoff.Retry,
		RetryMax:    c.Handoff.RetryMax,
		Settle:      c.Handoff.Settle,
		Reclaim:     c.Handoff.ReclaimAfter,
		Remember:    c.Handoff.Remember,
		Accounts:    parts.Accounts,
		MaxGridJobs: c.Limits.MaxJobs,
	}
	for _, p := range c.Partners {
		out.Partners = append(out.Partners, peer.Partner{
			Site: p.Name, PublicKey: p.PublicKey, MaxJobs: p.MaxJobs, MaxCPUs: p.MaxCPUs,
		})
	}
	slices.SortFunc(out.Partners, func(a, b peer.Partner) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// Trusted returns the partners' public keys, for gossip.
func (c *Config) Trusted() map[protocol.SiteName]string {
	trusted := make(map[protocol.SiteName]string, len(c.Partners))
	for _, p := range c.Partners {
		trusted[p.Name] = p.PublicKey
	}
	return trusted
}

// Guests returns the partners' tables of users, for accounts.Tables.
func (c *Config) Guests() map[protocol.SiteName]map[string]string {
	guests := make(map[protocol.SiteName]map[string]string, len(c.Partners))
	for _, p := range c.Partners {
		guests[p.Name] = maps.Clone(p.Users)
	}
	return guests
}

// Capacity returns the machine that the table describes, on a computer with so
// many CPUs.
func (l LocalSched) Capacity(cpusHere int) protocol.Capacity {
	return protocol.Capacity{
		CPUs:        cmp.Or(l.CPUs, cpusHere),
		Nodes:       l.Nodes,
		MemoryMB:    int64(l.Memory),
		WholeNode:   l.Machine == WholeNode,
		MaxWallTime: l.MaxWallTime,
	}
}
