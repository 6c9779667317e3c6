package policy_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

// Three jobs; site b declined the second, and takes one job only.
func TestSnapshotCheck(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Sites: []policy.Site{{Name: "a", MaxJobs: 3}, {Name: "b", MaxJobs: 1}},
		Jobs:  []policy.Job{{ID: 11}, {ID: 12}, {ID: 13}},
		AWT:   []protocol.Duration{0, 0, 0, protocol.Never, 0, 0},
	}
	right := map[string][]policy.Decision{
		"none":        nil,
		"some":        {{Job: 2, Site: 1}},
		"any order":   {{Job: 2, Site: 0}, {Job: 0, Site: 1}, {Job: 1, Site: 0}},
		"late starts": {{Job: 0, Site: 0, Wait: protocol.Never}},
	}
	for name, decisions := range right {
		if err := in.Check(decisions); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := map[string][]policy.Decision{
		"decision for job 3 at site 0, counted from 0, of 3 jobs and 2 sites": {{Job: 3}},
		"decision for job -1 at site 0":                                       {{Job: -1}},
		"decision for job 0 at site 2":                                        {{Site: 2}},
		"decision for job 0 at site -2":                                       {{Site: -2}},
		"two decisions for job 11":                                            {{Job: 0}, {Job: 1}, {Job: 0}},
		"a wait of -1ms for job 11":                                           {{Wait: -1}},
		"job 12 sent to b, which declined it":                                 {{Job: 1, Site: 1}},
		"more jobs sent to b than the 1 that it takes":                        {{Job: 0, Site: 1}, {Job: 2, Site: 1}},
	}
	for want, decisions := range wrong {
		refused(t, in.Check(decisions), want)
	}
	empty := policy.Snapshot{Self: policy.NoSite}
	if err := empty.Check(nil); err != nil {
		t.Error(err)
	}
	refused(t, empty.Check([]policy.Decision{{}}), "of 0 jobs and 0 sites")
}

func TestInfoCheck(t *testing.T) {
	t.Parallel()
	cycle := []policy.Initiation{policy.Cycle}
	right := policy.Description{
		Name: strings.Repeat("x", 64), Initiations: []policy.Initiation{policy.Symmetric, policy.Sender, policy.Receiver, policy.Cycle},
		Params: []policy.Param{{Name: "a"}, {Name: "b"}},
	}
	for _, pricing := range []protocol.EnergyPricing{protocol.Hourly, protocol.AtOnce, protocol.TwoPrice, "greenest2030", "0123456789abcdef"} {
		right.EnergyPricing = pricing
		if err := right.Check(); err != nil {
			t.Error(err)
		}
	}
	for want, info := range map[string]policy.Description{
		"name has 0 characters":                    {Initiations: cycle},
		"name has 65 characters":                   {Name: strings.Repeat("x", 65), Initiations: cycle},
		"policy p serves no initiation":            {Name: "p"},
		`serves the initiation "", which`:          {Name: "p", Initiations: []policy.Initiation{""}},
		`serves the initiation "whim", which`:      {Name: "p", Initiations: []policy.Initiation{policy.Cycle, "whim"}},
		`names the initiation "cycle" twice`:       {Name: "p", Initiations: append(cycle[:1:1], cycle...)},
		`energy by "0123456789abcdefg"; use at mo`: {Name: "p", Initiations: cycle, EnergyPricing: "0123456789abcdefg"},
		`energy by "Now"; use at most 16 of a`:     {Name: "p", Initiations: cycle, EnergyPricing: "Now"},
		`energy by "two price"; use at most`:       {Name: "p", Initiations: cycle, EnergyPricing: "two price"},
		`energy by "grün"; use at most 16`:         {Name: "p", Initiations: cycle, EnergyPricing: "grün"},
		`parameters "b" and "a" are not sorted`:    {Name: "p", Initiations: cycle, Params: []policy.Param{{Name: "b"}, {Name: "a"}}},
		`parameters "a" and "a" are not sorted b`:  {Name: "p", Initiations: cycle, Params: []policy.Param{{Name: "a"}, {Name: "a"}}},
	} {
		refused(t, info.Check(), want)
	}
}
