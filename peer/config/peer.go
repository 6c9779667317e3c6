package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/policy/random"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Parts is what a peer needs besides its configuration, and what is known only
// when it starts.
type Parts struct {
	PublicKey string            // of the site's key
	Software  string            // name and version
	Capacity  protocol.Capacity // as the local scheduler describes it
	Reserves  bool              // as it does, too: it holds room
	Accounts  rules.Accounts

	TakesFiles bool // the local scheduler takes files with guests, and gives them back

	Witness protocol.Life      // what the witness file remembers
	Machine string             // where state_dir is
	Policy  policy.Description // of the policy that decides

	QueueApart bool // nothing of the local queue is in state_dir
}

// watermark is how often partners are sent how far the store has come.
const watermark = 10 * protocol.Second

// Peer returns the configuration of the state machine.
func (c *Config) Peer(parts Parts) rules.Config {
	out := rules.Config{
		Site:               c.Site.Name,
		Number:             c.Site.Number,
		PublicKey:          parts.PublicKey,
		Software:           parts.Software,
		Capacity:           parts.Capacity,
		Reserves:           parts.Reserves,
		RetryInitial:       c.Handoff.RetryInitial,
		RetryMax:           c.Handoff.RetryMax,
		SubmitRecheckDelay: c.Handoff.SubmitRecheckDelay,
		Margin:             c.Handoff.StartMargin,
		ReclaimAfter:       c.Handoff.ReclaimAfter,
		TombstoneTTL:       c.Handoff.TombstoneTTL,
		PlannedStarts:      c.Handoff.PlannedStartsInterval,
		Accounts:           parts.Accounts,
		Associations:       c.AssociationTable(),
		AskUnreliableLast:  true,
		MaxGridJobs:        c.Limits.MaxActiveJobs,
		MaxUserJobs:        c.Limits.MaxJobsPerUser,
		PrivateJobs:        c.API.Private,
		MaxArraySize:       c.Limits.MaxArraySize,
		FairShare:          c.FairShare.Rules(),
		Limits:             c.Limits.Rules(),
		Prioritize:         c.LocalSched.Plugin == Process, // whatever the policy, which a reload may change
		MaxOutput:          c.Results.MaxOutput.Bytes(),
		MaxStaging:         c.Staging.MaxBytes.Bytes(),
		Requeueable:        c.Retention.Rules(),
		Watermark:          watermark,
		Witness:            parts.Witness,
		Machine:            parts.Machine,
		QueueApart:         parts.QueueApart,

		ExportRemote: append([]string{}, c.Submit.ExportRemote...),

		Tariff:       c.SiteTariff(),
		Area:         c.Prices.Area,
		Power:        c.Power.WattsPerCPU.Milliwatts(),
		Spread:       true,
		PriceSpan:    c.Prices.Horizon,
		PriceRefresh: c.Prices.RefreshInterval,
		Protect:      c.GuestLimits.Protection(),
	}
	out.NoGuestFiles = !parts.TakesFiles
	out.Partners = c.PeerPartners()
	c.brokered(&out)
	return out.WithRuntime(c.Runtime(parts.Policy))
}

// Node returns how long the node keeps what is over.
func (r *Retention) Node() node.Retention {
	return node.Retention{
		FinishedJobs: r.FinishedJobs, MaxFinishedJobs: r.MaxFinishedJobs,
		FinishedGuests: r.FinishedGuests, MaxFinishedGuests: r.MaxFinishedGuests, Events: r.Events,
	}
}

// Rules returns which jobs that have ended can be requeued.
func (r *Retention) Rules() rules.Requeueable {
	return rules.Requeueable{For: r.Requeueable, Jobs: r.MaxRequeueable, Bytes: r.MaxRequeueableBytes.Bytes()}
}

// PeerPartners returns the state machine's partners, sorted by name.
func (c *Config) PeerPartners() (out []rules.Partner) {
	for _, p := range c.Partners {
		out = append(out, rules.Partner{
			Site: p.Name, PublicKey: p.PublicKey, NextPublicKey: p.NextPublicKey, MaxJobs: p.MaxJobs, MaxCPUs: p.MaxCPUs, MaxStaging: p.MaxStaging.Bytes(),
			Latency: p.Latency, Bandwidth: int64(p.Bandwidth), PerGB: protocol.Micro(p.PerGB), PerHour: protocol.Micro(p.PerHour),
			Shared: slices.Sorted(slices.Values(p.Shared)),
		})
	}
	slices.SortFunc(out, func(a, b rules.Partner) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// Runtime returns the part of the state machine's configuration that may change while
// it runs, with the policy that decides.
func (c *Config) Runtime(decides policy.Description) rules.RuntimeConfig {
	runtime := c.Rounds.Runtime()
	runtime.Policy, runtime.MaxUserStaging, runtime.Moves = decides, c.Staging.MaxUserBytes.Bytes(), c.Moves.Rules()
	return runtime
}

// Runtime is the table as the state machine has it.
func (o *Rounds) Runtime() rules.RuntimeConfig {
	return rules.RuntimeConfig{
		Initiation:         o.Initiation,
		LocalWaitThreshold: o.LocalWaitThreshold,
		CheckInterval:      o.CheckInterval,
		VolunteerBelow:     int(o.VolunteerBelow),
		RecheckJobs:        o.RecheckJobs,
		JobsPerVolunteer:   o.JobsPerVolunteer,
		StayLocal:          o.StayLocal,
		QuoteTimeout:       o.QuoteTimeout,
		RoundJobs:          o.RoundJobs,
		PartnersPerRound:   o.PartnersPerRound,
		CycleInterval:      o.CycleInterval,
		MaxJobsPerCycle:    o.MaxJobsPerCycle,
	}
}

// Protection is the table as the state machine has it.
func (p *GuestLimits) Protection() rules.Protection {
	return rules.Protection{Delay: p.MaxOwnerDelay, Share: int(p.MaxCPUShare)}
}

// BuiltIn returns the built-in policy of this name with its parameters, or nil if there
// is none. Its random choices are seeded by the site's seed.
func (c *Config) BuiltIn(name string) policy.Policy {
	made, err := c.Policy.Parameters(c.Site.Seed, c.Currency()).Make(name)
	if err != nil {
		return nil
	}
	return made
}

// Parameters are those of the built-in policies. The seed is that of their random choices.
func (p *Policy) Parameters(seed int, currency string) builtin.Config {
	return builtin.Config{
		TC:     tc.Config{Epsilon: p.TC.TurnaroundTolerance},
		MCMF:   p.MCMF.config(mcmf.Full, currency),
		ISS:    p.ISS.config(),
		Random: random.Config{Seed: uint64(seed)}, //nolint:gosec // any number will do
	}
}

func (m MCMF) config(variant mcmf.Variant, currency string) mcmf.Config {
	return mcmf.Config{
		Variant: variant, Weight: int(m.Weight), ByPrice: m.Normalise == mcmf.ByPrice,
		DelayPrice: protocol.Micro(m.DelayPrice), Currency: currency, Scale: m.CostSteps, Marginal: m.MarginalJobs,
	}
}

func (i ISS) config() iss.Config {
	return iss.Config{Gap: int(i.MaxGap), Nodes: i.MaxSearchNodes, Double: i.PaperObjective}
}

// InitiationFor returns what opens rounds where the configuration does not say: cycles
// with a built-in policy that decides about all jobs at once, and the sender else.
func InitiationFor(name string) policy.Initiation {
	about, known := aboutPolicy(name)
	if known && !about.SkipsRoundBelowThreshold() && slices.Contains(about.Initiations, policy.Cycle) {
		return policy.Cycle
	}
	return policy.Sender
}

// aboutPolicy is what a built-in policy says of itself, whatever its parameters.
func aboutPolicy(name string) (about policy.Description, known bool) {
	made, err := builtin.Default().Make(name)
	if err != nil {
		return policy.Description{}, false
	}
	return policy.Describe(made), true
}

// Plugin returns the table of the plugin of this name and kind, or nil if there is
// none.
func (c *Config) Plugin(kind, name string) *Plugin {
	for i := range c.Plugins {
		if p := &c.Plugins[i]; p.Kind == kind && p.Name == name {
			return p
		}
	}
	return nil
}

// PolicyNames lists what [Config.BuiltIn] knows.
func PolicyNames() []string { return builtin.Names() }

// Initiations lists the values of [Rounds.Initiation].
func Initiations() []string {
	return []string{string(policy.Sender), string(policy.Receiver), string(policy.Symmetric), string(policy.Cycle)}
}

// Trusted returns the partners' public keys, for gossip.
func (c *Config) Trusted() map[protocol.SiteName][]string {
	trusted := make(map[protocol.SiteName][]string, len(c.Partners))
	for i := range c.Partners {
		trusted[c.Partners[i].Name] = c.Partners[i].PublicKeys()
	}
	return trusted
}

// PublicKeys are those that are accepted of the partner: public_key, and next_public_key if it is set.
func (p *Partner) PublicKeys() []string {
	if p.NextPublicKey == "" {
		return []string{p.PublicKey}
	}
	return []string{p.PublicKey, p.NextPublicKey}
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
func (l *LocalSched) Capacity(cpusHere int) protocol.Capacity {
	cpus := cmp.Or(l.CPUs, cpusHere)
	c := protocol.Capacity{
		CPUs:        cpus,
		Nodes:       l.Nodes,
		NodeCPUs:    cpus / max(1, l.Nodes),
		MemoryMB:    int64(l.Memory),
		MHz:         l.MHz,
		Mflops:      l.Mflops,
		WholeNode:   l.Machine == WholeNode,
		MaxWallTime: l.MaxWallTime,
		Exclusive:   l.Machine == PerCPU && l.Nodes == 1,
	}
	if len(l.Devices)+len(l.Features) > 0 {
		c.Groups = []protocol.NodeGroup{{
			Nodes: c.Nodes, CPUs: c.NodeCPUs, MemoryMB: c.MemoryMB,
			Resources: l.nodeResources(), Features: slices.Sorted(slices.Values(l.Features)),
		}}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Licenses)) {
		c.Shared = append(c.Shared, protocol.Resource{Name: protocol.License, Type: name, Count: l.Licenses[name]})
	}
	return c
}

// SiteTariff returns what the site charges.
func (c *Config) SiteTariff() localsched.Tariff {
	return localsched.Tariff{CPUHour: protocol.Micro(c.Tariff.CPUHour), Currency: c.Tariff.Currency}
}
