package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// patientConfig is the configuration of a patient policy.
type patientConfig struct {
	MaxWait protocol.Duration `toml:"max_wait"`
}

// patient keeps a job at home unless it would wait too long there, and sends it then
// to the site with the shortest wait.
type patient struct{ maxWait protocol.Duration }

func (p patient) Info() policy.Info {
	return policy.Info{
		Name: "patient", Initiations: []policy.Initiation{policy.Sender, policy.Symmetric},
		Params: []policy.Param{{Name: "max_wait_ms", Value: strconv.FormatInt(int64(p.maxWait), 10)}},
	}
}

func (p patient) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	if in.Self == policy.NoSite {
		return nil, nil, errors.New("the own site is not among the sites")
	}
	room := make([]int, len(in.Sites))
	for s, site := range in.Sites {
		room[s] = site.MaxJobs
	}
	var decisions []policy.Decision
	for j := range in.Jobs {
		best := in.Self
		if in.AWT[in.At(j, best)] > p.maxWait || room[best] == 0 {
			for s := range in.Sites {
				if room[s] > 0 && in.AWT[in.At(j, s)] < in.AWT[in.At(j, best)] {
					best = s
				}
			}
		}
		wait := in.AWT[in.At(j, best)]
		if wait == protocol.Never || room[best] == 0 {
			continue // it stays in the grid queue
		}
		room[best]--
		decisions = append(decisions, policy.Decision{Job: j, Site: best, Wait: wait, Reason: "waits " + wait.String()})
	}
	return decisions, nil, nil
}

// patientPlugin is what main gives to [sdk.Main].
func patientPlugin() sdk.Plugin {
	return sdk.Policy[patientConfig]{
		Name:     "patient",
		Version:  "1.0.0",
		About:    "home, unless the wait there is too long",
		Defaults: patientConfig{MaxWait: protocol.Hour},
		Check: func(r *sdk.Reader, c *patientConfig) {
			r.Positive("max_wait", c.MaxWait)
		},
		Make: func(c patientConfig, _ sdk.Host) (policy.Policy, error) {
			return patient{maxWait: c.MaxWait}, nil
		},
	}
}

// A whole plugin is a main function with these lines. Here its policy is asked
// directly.
func Example() {
	_ = func() { sdk.Main(patientPlugin()) }

	decisions, _, err := patient{maxWait: protocol.Hour}.Decide(context.Background(), policy.Snapshot{
		Self:  1,
		Sites: []policy.Site{{Name: "aurora", MaxJobs: 1}, {Name: "borealis", MaxJobs: 8}},
		Jobs:  []policy.Job{{ID: 1, CPUs: 4}, {ID: 2, CPUs: 4}},
		AWT:   []protocol.Duration{protocol.Minute, 2 * protocol.Hour, 0, protocol.Minute},
		ERT:   []protocol.Duration{protocol.Hour, protocol.Hour, protocol.Hour, protocol.Hour},
		Cost:  make([]protocol.Micro, 4),
	})
	fmt.Println(decisions, err)
	// Output: [{0 0 1m0s waits 1m0s} {1 1 1m0s waits 1m0s}] <nil>
}
