package policy_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// plain is a policy that only decides.
type plain struct{}

func (plain) Info() policy.Info {
	return policy.Info{Name: "p", Initiations: []policy.Initiation{policy.Cycle}, Params: []policy.Param{{Name: "a"}}}
}

func (plain) Decide(context.Context, policy.Snapshot) ([]policy.Decision, []byte, error) {
	return nil, nil, nil
}

// able is a policy that can all there is.
type able struct{ plain }

func (able) SkipsRoundBelowThreshold()             {}
func (able) LocalOnly()                            {}
func (able) DecidesApplications()                  {}
func (able) EnergyPricing() protocol.EnergyPricing { return protocol.TwoPrice }
func (able) MarginalJobs() int                     { return 3 }

func (able) ParetoFront(context.Context, policy.Snapshot) (f policy.ParetoFront, err error) {
	return f, nil
}

// wrapped stands for another policy, whose methods it hides.
type wrapped struct{ policy.Policy }

func (w wrapped) Describe() policy.Description { return policy.Describe(w.Policy) }

// TestDescribe: what a policy can is what methods it has, and what it stands for.
func TestDescribe(t *testing.T) {
	t.Parallel()
	less := policy.Description{Name: "p", Initiations: []policy.Initiation{policy.Cycle}, Params: []policy.Param{{Name: "a"}}}
	all := less
	all.Can, all.EnergyPricing, all.MarginalJobs = policy.Capabilities(), protocol.TwoPrice, 3
	for name, tt := range map[string]struct {
		policy policy.Policy
		want   policy.Description
		can    bool
	}{
		"plain": {plain{}, less, false}, "able": {able{}, all, true},
		"plain in another": {wrapped{plain{}}, less, false}, "able in another": {wrapped{able{}}, all, true},
	} {
		got := policy.Describe(tt.policy)
		if err := got.Check(); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, tt.want)
		}
		if !reflect.DeepEqual(got.Info(), plain{}.Info()) {
			t.Errorf("%s: Info() = %+v", name, got.Info())
		}
		for _, can := range []bool{got.DecidesApplications(), got.HasParetoFront(), got.LocalOnly(), got.SkipsRoundBelowThreshold()} {
			if can != tt.can {
				t.Errorf("%s: %v in one thing, want %v in all", name, can, tt.can)
			}
		}
	}
}
