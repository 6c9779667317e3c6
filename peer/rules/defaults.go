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
	c.Phi = cmp.Or(c.Phi, protocol.Minute)
	c.Sigma = cmp.Or(c.Sigma, 5*protocol.Minute)
	c.Delta = cmp.Or(c.Delta, 700_000)
	c.Deadline = cmp.Or(c.Deadline, 2*protocol.Second)
	c.RoundJobs = cmp.Or(c.RoundJobs, 64)
	c.Ask = cmp.Or(c.Ask, 16)
	c.Retry = cmp.Or(c.Retry, protocol.Second)
	c.RetryMax = cmp.Or(c.RetryMax, 30*protocol.Second)
	c.Settle = cmp.Or(c.Settle, 2*protocol.Second)
	c.Reclaim = cmp.Or(c.Reclaim, 15*protocol.Minute)
	c.Remember = cmp.Or(c.Remember, 7*protocol.Day)
	c.MaxGridJobs = cmp.Or(c.MaxGridJobs, 1_000_000)
	c.MaxUserJobs = cmp.Or(c.MaxUserJobs, 100_000)
	c.MaxOutput = cmp.Or(c.MaxOutput, 10<<30)
	c.Cycle = cmp.Or(c.Cycle, protocol.Minute)
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
	if min(c.Phi, c.Sigma, c.Deadline, c.Retry, c.RetryMax, c.Settle, c.Reclaim, c.Remember, c.Cycle, c.PriceSpan, c.PriceRefresh, c.Protect.Delay, c.Margin, c.Watermark) < 0 {
		problems = append(problems, errors.New("a duration is negative; give a positive one, or 0 for the default"))
	}
	if min(c.RoundJobs, c.Ask, c.MaxGridJobs, c.Delta, c.Recheck, c.Draw, c.MaxQ, c.Protect.Share, c.MaxUserJobs) < 0 || min(c.Power, c.MaxOutput) < 0 {
		problems = append(problems, errors.New("a count is negative; give a positive one, or 0 for the default"))
	}
	if min(c.Weighing.Alpha, c.Weighing.Beta, c.Weighing.Gamma, c.Weighing.Delta) < 0 {
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
