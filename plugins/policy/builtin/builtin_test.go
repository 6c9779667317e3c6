package builtin_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/random"
)

// TestNames: each name makes the policy that calls itself so, is sound, and can be made
// again from what it says of itself.
func TestNames(t *testing.T) {
	t.Parallel()
	cfg := builtin.Default()
	cfg.MCMF.DelayPrice, cfg.MCMF.Marginal, cfg.Random = 400_000, 8, random.Config{Seed: 7}
	cfg.ISS = iss.Config{Gap: 123, Nodes: 4567, Double: true}
	for _, name := range builtin.Names() {
		p, err := cfg.Make(name)
		if err != nil {
			t.Fatal(err)
		}
		info := policy.Describe(p)
		if err = info.Check(); err != nil || info.Name != name {
			t.Errorf("%s says %+v, %v", name, info, err)
		}
		if again, err := builtin.Restore(name, info.Params); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%s is %+v, and becomes %+v, %v", name, p, again, err)
		}
		more := append(slices.Clone(info.Params), policy.Param{Name: "zeal", Value: "1"})
		if again, err := builtin.Restore(name, more); err == nil || again != nil {
			t.Errorf("%s takes the parameters %q: %+v", name, more, again)
		}
	}
}

// TestInstHasNoMarginal: the variants share a table of parameters.
func TestInstHasNoMarginal(t *testing.T) {
	t.Parallel()
	cfg := builtin.Default()
	cfg.MCMF.Marginal = 8
	p, err := cfg.Make(builtin.Inst)
	if err != nil || policy.Describe(p).MarginalJobs != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	var cfg builtin.Config // without a scale
	for _, tt := range []struct {
		make func() (policy.Policy, error)
		want string
	}{
		{func() (policy.Policy, error) { return cfg.Make("best") }, `no policy called "best" is built in; there are tc, local, mcmf`},
		{func() (policy.Policy, error) { return builtin.Restore("best", nil) }, `no policy called "best" is built in`},
		{func() (policy.Policy, error) { return cfg.Make(builtin.MCMF) }, "policy mcmf: cost_steps: 0 is outside"},
		{func() (policy.Policy, error) { return cfg.Make(builtin.ISS) }, "policy iss: max_search_nodes: 0 is outside"},
		{func() (policy.Policy, error) {
			p, err := builtin.Default().Make(builtin.Inst)
			if err != nil {
				return nil, err
			}
			return builtin.Restore(builtin.MCMF, p.Info().Params)
		}, "policy mcmf: its parameters are those of inst"},
	} {
		if p, err := tt.make(); p != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, %v, want %s", p, err, tt.want)
		}
	}
}
