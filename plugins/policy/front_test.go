package policy_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Two jobs; site b declined the second.
func TestCheckFront(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Sites: []policy.Site{{Name: "a"}, {Name: "b"}}, Jobs: []policy.Job{{ID: 11}, {ID: 12}},
		AWT: []protocol.Duration{0, 0, 0, protocol.Never},
	}
	with := func(choices ...policy.FrontChoice) policy.ParetoFront {
		return policy.ParetoFront{Points: []policy.FrontPoint{{Chosen: true}, {Choices: choices}}}
	}
	for name, f := range map[string]policy.ParetoFront{
		"empty": {}, "some": with(policy.FrontChoice{Site: 1}, policy.FrontChoice{Job: 1, Wait: protocol.Never}),
		"many": {Points: make([]policy.FrontPoint, policy.MaxFrontPoints)},
	} {
		if err := in.CheckFront(&f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, f := range map[string]policy.ParetoFront{
		"the front has 257 points":          {Points: make([]policy.FrontPoint, policy.MaxFrontPoints+1)},
		"2 points of the front are chosen":  {Points: []policy.FrontPoint{{Chosen: true}, {}, {Chosen: true}}},
		"point 1 of the front has job 2 at": with(policy.FrontChoice{Job: 2}),
		"job -1 at site 0, counted from 0,": with(policy.FrontChoice{Job: -1}),
		"job 0 at site 2, counted from 0, ": with(policy.FrontChoice{Site: 2}),
		"job 0 at site -1, counted from 0,": with(policy.FrontChoice{Site: -1}),
		"job 12 at b, which declined it":    with(policy.FrontChoice{}, policy.FrontChoice{Job: 1, Site: 1}),
		"job 11 wait -1ms and run 0s on 0 ": with(policy.FrontChoice{Wait: -1}),
		"job 11 wait 0s and run -1ms on 0 ": with(policy.FrontChoice{Run: -1}),
		"wait 0s and run 0s on -1 CPUs; no": with(policy.FrontChoice{CPUs: -1}),
	} {
		refused(t, in.CheckFront(&f), want)
	}
}
