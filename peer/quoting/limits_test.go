package quoting_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/quoting"
)

func TestReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits quoting.Limits
		cpus   int
		want   string
	}{
		"no jobs are taken":  {quoting.Limits{}, 1, "b has 0 jobs here, and max_jobs of its [[partner]] is 0"},
		"one more":           {quoting.Limits{MaxJobs: 2, Jobs: 1}, 1, ""},
		"as many as it may":  {quoting.Limits{MaxJobs: 2, Jobs: 2}, 1, "b has 2 jobs here, and max_jobs of its [[partner]] is 2"},
		"any number of CPUs": {quoting.Limits{MaxJobs: 1, CPUs: 1000}, 1000, ""},
		"the last CPUs":      {quoting.Limits{MaxJobs: 1, MaxCPUs: 8, CPUs: 5}, 3, ""},
		"one CPU too many": {
			quoting.Limits{MaxJobs: 1, MaxCPUs: 8, CPUs: 5},
			4,
			"jobs of b have 5 CPUs here, this one asks for 4 more, and max_cpus of its [[partner]] is 8",
		},
	} {
		if got := c.limits.Reason("b", c.cpus); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	const half = 500_000
	for name, c := range map[string]struct {
		limits quoting.Limits
		cpus   int
		want   string
	}{
		"not looked at":    {quoting.Limits{Site: 10, Guests: 10}, 10, ""},
		"up to the share":  {quoting.Limits{Share: half, Site: 10, Guests: 3}, 2, ""},
		"one CPU more":     {quoting.Limits{Share: half, Site: 10, Guests: 3}, 3, "guests would have 60.0 % of the CPUs, the site allows 50.0 %"},
		"of an odd number": {quoting.Limits{Share: half, Site: 11}, 5, ""},
		"and more of it":   {quoting.Limits{Share: half, Site: 11}, 6, "guests would have 54.5 % of the CPUs, the site allows 50.0 %"},
		"no machine":       {quoting.Limits{Share: half}, 1, "guests would have 100.0 % of the CPUs, the site allows 50.0 %"},
	} {
		if got := c.limits.ShareReason(c.cpus); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestMostCPUs: what a partner is told is what is declined: not a CPU more, not one less.
func TestMostCPUs(t *testing.T) {
	t.Parallel()
	for site := 1; site <= 40; site++ {
		for share := 1; share <= 1_000_000; share += 9_973 {
			l := quoting.Limits{MaxJobs: 1, Share: share, Site: site}
			most := l.MostCPUs()
			if l.ShareReason(most) != "" && most != 1 { // the least that can be told, since 0 is any number
				t.Fatalf("%d ppm of %d CPUs: told %d, and that is declined", share, site, most)
			}
			if most < site && l.ShareReason(most+1) == "" {
				t.Fatalf("%d ppm of %d CPUs: told %d, and more is taken", share, site, most)
			}
		}
	}
	for name, c := range map[string]struct {
		limits     quoting.Limits
		jobs, cpus int
	}{
		"no limits":                {quoting.Limits{MaxJobs: 5}, 5, 0},
		"a period takes less":      {quoting.Limits{MaxJobs: 5, MaxQ: 3}, 3, 0},
		"a period takes more":      {quoting.Limits{MaxJobs: 5, MaxQ: 7}, 5, 0},
		"its own":                  {quoting.Limits{MaxCPUs: 4}, 0, 4},
		"the share is less":        {quoting.Limits{MaxCPUs: 4, Share: 300_000, Site: 10}, 0, 3},
		"its own is less":          {quoting.Limits{MaxCPUs: 2, Share: 300_000, Site: 10}, 0, 2},
		"a share of less than one": {quoting.Limits{Share: 1, Site: 10}, 0, 1},
		"what it has is no matter": {quoting.Limits{MaxCPUs: 4, CPUs: 3, Guests: 9, Share: 500_000, Site: 10}, 0, 4},
	} {
		if jobs, cpus := c.limits.MostJobs(), c.limits.MostCPUs(); jobs != c.jobs || cpus != c.cpus {
			t.Errorf("%s: %d jobs and %d CPUs, want %d and %d", name, jobs, cpus, c.jobs, c.cpus)
		}
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits       quoting.Limits
		left         int // in this period
		accept, cpus int
	}{
		"any number of CPUs":   {quoting.Limits{MaxJobs: 5, Jobs: 2}, 100, 3, 0},
		"the period has less":  {quoting.Limits{MaxJobs: 5, Jobs: 2}, 1, 1, 0},
		"more than it may":     {quoting.Limits{MaxJobs: 5, Jobs: 7}, 100, 0, 0},
		"its own":              {quoting.Limits{MaxJobs: 1, MaxCPUs: 8, CPUs: 3}, 1, 1, 5},
		"all of its own":       {quoting.Limits{MaxJobs: 1, MaxCPUs: 8, CPUs: 9}, 1, 1, 0},
		"the share":            {quoting.Limits{MaxJobs: 1, Share: 500_000, Site: 10, Guests: 3}, 1, 1, 2},
		"the share is used up": {quoting.Limits{MaxJobs: 1, Share: 500_000, Site: 10, Guests: 8}, 1, 1, 0},
		"the share is less":    {quoting.Limits{MaxJobs: 1, MaxCPUs: 8, CPUs: 3, Share: 500_000, Site: 10, Guests: 3}, 1, 1, 2},
		"its own is less":      {quoting.Limits{MaxJobs: 1, MaxCPUs: 4, CPUs: 3, Share: 500_000, Site: 10, Guests: 3}, 1, 1, 1},
	} {
		if accept, cpus := c.limits.Accept(c.left), c.limits.CPUsLeft(); accept != c.accept || cpus != c.cpus {
			t.Errorf("%s: %d jobs and %d CPUs, want %d and %d", name, accept, cpus, c.accept, c.cpus)
		}
	}
}
