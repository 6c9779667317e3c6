package rules

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Runtime is the part of a [Config] that may change while the peer runs. The zero
// value of a duration or count means the default, as there.
type RuntimeConfig struct {
	Policy     policy.Description
	Initiation policy.Initiation
	Phi        protocol.Duration
	Sigma      protocol.Duration
	Delta      int
	Recheck    int
	Draw       int
	Stay       bool
	Deadline   protocol.Duration
	RoundJobs  int
	Ask        int
	Cycle      protocol.Duration
	MaxQ       int
}

// WithRuntime is the configuration with another tuning.
func (c Config) WithRuntime(t RuntimeConfig) Config {
	c.Policy, c.Initiation = t.Policy, t.Initiation
	c.Phi, c.Sigma, c.Delta = t.Phi, t.Sigma, t.Delta
	c.Recheck, c.Draw, c.Stay = t.Recheck, t.Draw, t.Stay
	c.Deadline, c.RoundJobs, c.Ask = t.Deadline, t.RoundJobs, t.Ask
	c.Cycle, c.MaxQ = t.Cycle, t.MaxQ
	return c
}

// Runtime is the part of the configuration that may change while the peer runs.
func (c Config) Runtime() RuntimeConfig {
	return RuntimeConfig{
		Policy: c.Policy, Initiation: c.Initiation,
		Phi: c.Phi, Sigma: c.Sigma, Delta: c.Delta,
		Recheck: c.Recheck, Draw: c.Draw, Stay: c.Stay,
		Deadline: c.Deadline, RoundJobs: c.RoundJobs, Ask: c.Ask,
		Cycle: c.Cycle, MaxQ: c.MaxQ,
	}
}
