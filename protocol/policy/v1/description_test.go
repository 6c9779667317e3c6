package policyv1_test

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func TestDescriptionsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []policy.Description{
		{Name: "one", Initiations: []policy.Initiation{policy.Cycle}},
		{
			Name:        "all",
			Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle},
			Can:         []policy.Capability{policy.LocalOnly, policy.SkipRoundBelowThreshold}, Params: []policy.Param{{Name: "alpha", Value: "1"}, {Name: "beta"}},
			EnergyPricing: protocol.AtOnce, MarginalJobs: 1,
		},
		{Name: "most", Initiations: []policy.Initiation{policy.Cycle}, EnergyPricing: protocol.TwoPrice, MarginalJobs: protocol.MaxMarginalJobs},
		{Name: "whole", Initiations: []policy.Initiation{policy.Cycle}, Can: []policy.Capability{policy.Applications}},
		{Name: "full", Initiations: []policy.Initiation{policy.Cycle}, Can: policy.Capabilities()},
		{Name: "later", Initiations: []policy.Initiation{policy.Cycle}, EnergyPricing: "greenest"},
	} {
		got, err := policyv1.DecodeDescription(travel(t, policyv1.EncodeDescription(want), &policyv1.DescribeResponse{}))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func TestDecodeDescriptionRefuses(t *testing.T) {
	t.Parallel()
	cycle := []policyv1.Initiation{policyv1.Initiation_INITIATION_CYCLE}
	long := strings.Repeat("x", 1025)
	cases := map[string]*policyv1.DescribeResponse{
		": name has 0 characters":              {Initiations: cycle},
		": policy p serves no initiation":      {Name: "p"},
		"initiations[0]: 0 is unknown":         {Name: "p", Initiations: []policyv1.Initiation{0}},
		"initiations[1]: 9 is unknown":         {Name: "p", Initiations: append(cycle, 9)},
		`: the initiation "cycle" twice`:       {Name: "p", Initiations: append(cycle, cycle...)},
		"marginal_jobs: -1 is outside":         {Name: "p", Initiations: cycle, MarginalJobs: -1},
		"marginal_jobs: 4294967296 is outside": {Name: "p", Initiations: cycle, MarginalJobs: 1 << 32},
		": the waits of 65 jobs; use 0 to 64":  {Name: "p", Initiations: cycle, MarginalJobs: 65},
		`: asks for energy by "Hourly"; use`:   {Name: "p", Initiations: cycle, EnergyPricing: "Hourly"},
		"params: has 257":                      {Name: "p", Initiations: cycle, Params: make([]*policyv1.Param, 257)},
		"params[0].name: has 1025":             {Name: "p", Initiations: cycle, Params: []*policyv1.Param{{Name: long}}},
		"params[0].value: has 1025":            {Name: "p", Initiations: cycle, Params: []*policyv1.Param{{Value: long}}},
		`: parameters "a" and "a" are not so`:  {Name: "p", Initiations: cycle, Params: []*policyv1.Param{{Name: "a"}, {Name: "a"}}},
	}
	for want, m := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := policyv1.DecodeDescription(m)
			protocoltest.Refused(t, err, want)
		})
	}
}

// An initiation that does not exist must not become one that does.
func TestUnknownInitiationsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := policyv1.DecodeDescription(policyv1.EncodeDescription(policy.Description{Name: "p", Initiations: []policy.Initiation{"whim"}}))
	protocoltest.Refused(t, err, "initiations[0]")
}

func FuzzDecodeDescription(f *testing.F) {
	data, err := proto.Marshal(policyv1.EncodeDescription(policy.Description{
		Name: "p", Initiations: []policy.Initiation{policy.Cycle}, Params: []policy.Param{{Name: "a", Value: "1"}},
		EnergyPricing: protocol.TwoPrice, MarginalJobs: 2, Can: []policy.Capability{policy.Applications},
	}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &policyv1.DescribeResponse{}
		if proto.Unmarshal(data, m) != nil {
			return
		}
		info, err := policyv1.DecodeDescription(m)
		if err != nil {
			return
		}
		again, err := policyv1.DecodeDescription(travel(t, policyv1.EncodeDescription(info), &policyv1.DescribeResponse{}))
		if err != nil || !reflect.DeepEqual(again, info) {
			t.Fatalf("got %+v, %v\nwant %+v", again, err, info)
		}
	})
}
