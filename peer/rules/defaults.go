package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// WithDefaults fills in what is zero.
func (c Config) WithDefaults() Config {
	c.Initiation = cmp.Or(c.Initiation, policy.Sender)
	c.LocalWaitThreshold = cmp.Or(c.LocalWaitThreshold, protocol.Minute)
	c.CheckInterval = cmp.Or(c.CheckInterval, 5*protocol.Minute)
	c.VolunteerBelow = cmp.Or(c.VolunteerBelow, 700_000)
	c.QuoteTimeout = cmp.Or(c.QuoteTimeout, 2*protocol.Second)
	c.RoundJobs = cmp.Or(c.RoundJobs, 64)
	c.PartnersPerRound = cmp.Or(c.PartnersPerRound, 16)
	c.RetryInitial = cmp.Or(c.RetryInitial, protocol.Second)
	c.RetryMax = cmp.Or(c.RetryMax, 30*protocol.Second)
	c.SubmitRecheckDelay = cmp.Or(c.SubmitRecheckDelay, 2*protocol.Second)
	c.ReclaimAfter = cmp.Or(c.ReclaimAfter, 15*protocol.Minute)
	c.TombstoneTTL = cmp.Or(c.TombstoneTTL, 7*protocol.Day)
	c.MaxGridJobs = cmp.Or(c.MaxGridJobs, 1_000_000)
	c.MaxUserJobs = cmp.Or(c.MaxUserJobs, 100_000)
	c.MaxArraySize = cmp.Or(c.MaxArraySize, 100_000)
	c.MaxOutput = cmp.Or(c.MaxOutput, 10<<30)
	c.CycleInterval = cmp.Or(c.CycleInterval, protocol.Minute)
	c.PriceSpan = cmp.Or(c.PriceSpan, 7*protocol.Day)
	c.PriceRefresh = cmp.Or(c.PriceRefresh, protocol.Hour)
	c.Margin = cmp.Or(c.Margin, 10*protocol.Second)
	if c.ExportRemote == nil {
		c.ExportRemote = DefaultExportRemote()
	}
	c.Partners = slices.Clone(c.Partners)
	slices.SortFunc(c.Partners, func(a, b Partner) int { return cmp.Compare(a.Site, b.Site) })
	return c
}

// Validate says what of the configuration, with its defaults, cannot be. All problems are joined.
func (c Config) Validate() error {
	problems := []error{c.Site.Validate(), c.Number.Validate()}
	if c.Accounts == nil {
		problems = append(problems, errors.New("the accounts are missing"))
	}
	if !slices.Contains(c.Policy.Initiations, c.Initiation) {
		problems = append(problems, fmt.Errorf("policy %q does not accept initiation %q", c.Policy.Name, c.Initiation))
	}
	if min(c.LocalWaitThreshold, c.CheckInterval, c.FirstCheck, c.QuoteTimeout, c.RetryInitial, c.RetryMax, c.SubmitRecheckDelay, c.ReclaimAfter, c.TombstoneTTL, c.CycleInterval, c.PriceSpan, c.PriceRefresh, c.Protect.Delay, c.Margin, c.Watermark, c.Moves.Interval, c.Moves.Gain, c.Moves.Wait, c.Moves.Pause, c.Requeueable.For) < 0 {
		problems = append(problems, errors.New("a duration is negative; give a positive one, or 0 for the default"))
	}
	if min(c.RoundJobs, c.PartnersPerRound, c.MaxGridJobs, c.VolunteerBelow, c.RecheckJobs, c.JobsPerVolunteer, c.MaxJobsPerCycle, c.Protect.Share, c.MaxUserJobs, c.MaxArraySize, c.Moves.Jobs, c.Moves.GainShare, c.Moves.Most, c.Requeueable.Jobs) < 0 || min(c.Requeueable.Bytes, c.Power, c.MaxOutput, c.MaxStaging, c.MaxUserStaging) < 0 {
		problems = append(problems, errors.New("a count is negative; give a positive one, or 0 for the default"))
	}
	if min(c.DefaultWeights.Alpha, c.DefaultWeights.Beta, c.DefaultWeights.Gamma, c.DefaultWeights.Delta) < 0 {
		problems = append(problems, errors.New("a weight is negative; give a positive one, or 0"))
	}
	for i, one := range c.Partners {
		problems = append(problems, one.Site.Validate())
		if one.Site == c.Site || (i > 0 && one.Site == c.Partners[i-1].Site) {
			problems = append(problems, fmt.Errorf("partner %s is configured twice, or is this site", one.Site))
		}
		if one.Latency < 0 || one.Bandwidth < 0 {
			problems = append(problems, fmt.Errorf("the link to partner %s has a negative latency or bandwidth", one.Site))
		}
	}
	return errors.Join(problems...)
}

// DefaultExportRemote lists the variables that leave with a job unless the site says
// otherwise: how text and times are shown, and how many threads are wanted.
func DefaultExportRemote() []string {
	return []string{"LANG", "LANGUAGE", "LC_*", "OMP_*", "TERM", "TZ"}
}
