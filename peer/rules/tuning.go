package rules

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RuntimeConfig is the part of a [Config] that may change while the peer runs. The zero
// value of a duration or count means the default, as there.
type RuntimeConfig struct {
	Policy             policy.Description
	Initiation         policy.Initiation
	LocalWaitThreshold protocol.Duration
	CheckInterval      protocol.Duration
	VolunteerBelow     int
	RecheckJobs        int
	JobsPerVolunteer   int
	StayLocal          bool
	QuoteTimeout       protocol.Duration
	RoundJobs          int
	PartnersPerRound   int
	CycleInterval      protocol.Duration
	MaxJobsPerCycle    int
	MaxUserStaging     int64
	Moves              Moves
}

// WithRuntime is the configuration with another tuning.
func (c Config) WithRuntime(t RuntimeConfig) Config {
	c.Policy, c.Initiation = t.Policy, t.Initiation
	c.LocalWaitThreshold, c.CheckInterval, c.VolunteerBelow = t.LocalWaitThreshold, t.CheckInterval, t.VolunteerBelow
	c.RecheckJobs, c.JobsPerVolunteer, c.StayLocal = t.RecheckJobs, t.JobsPerVolunteer, t.StayLocal
	c.QuoteTimeout, c.RoundJobs, c.PartnersPerRound = t.QuoteTimeout, t.RoundJobs, t.PartnersPerRound
	c.CycleInterval, c.MaxJobsPerCycle, c.MaxUserStaging, c.Moves = t.CycleInterval, t.MaxJobsPerCycle, t.MaxUserStaging, t.Moves
	return c
}

// Runtime is the part of the configuration that may change while the peer runs.
func (c Config) Runtime() RuntimeConfig {
	return RuntimeConfig{
		Policy: c.Policy, Initiation: c.Initiation,
		LocalWaitThreshold: c.LocalWaitThreshold, CheckInterval: c.CheckInterval, VolunteerBelow: c.VolunteerBelow,
		RecheckJobs: c.RecheckJobs, JobsPerVolunteer: c.JobsPerVolunteer, StayLocal: c.StayLocal,
		QuoteTimeout: c.QuoteTimeout, RoundJobs: c.RoundJobs, PartnersPerRound: c.PartnersPerRound,
		CycleInterval: c.CycleInterval, MaxJobsPerCycle: c.MaxJobsPerCycle, MaxUserStaging: c.MaxUserStaging, Moves: c.Moves,
	}
}
