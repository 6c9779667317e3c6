package main

import (
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/policy/stable"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

type tcConfig struct {
	Epsilon protocol.Duration `toml:"turnaround_tolerance"` // ε
}

// turnaround is tc [SS 2.1.1].
func turnaround() sdk.Plugin {
	return sdk.Policy[tcConfig]{
		Name: "tc", Version: version, About: "jobs go where wait and run time together are least",
		Defaults: tcConfig{Epsilon: tc.DefaultEpsilon},
		Make: func(c tcConfig, _ sdk.Host) (policy.Policy, error) {
			return tc.New(tc.Config{Epsilon: c.Epsilon}), nil
		},
	}
}

type mcmfConfig struct {
	Variant    string          `toml:"variant"`
	Normalise  string          `toml:"normalise"`
	Weight     settings.Share  `toml:"weight"`      // w, by round
	DelayPrice settings.Amount `toml:"delay_price"` // of an hour, by price
	Currency   string          `toml:"currency"`    // of that; empty: the one that most sites name
	Scale      int             `toml:"cost_steps"`
	Marginal   int             `toml:"marginal_jobs"`
}

func (c mcmfConfig) policy() mcmf.Config {
	return mcmf.Config{
		Variant: mcmf.Variant(c.Variant), Weight: int(c.Weight), ByPrice: c.Normalise == mcmf.ByPrice,
		DelayPrice: protocol.Micro(c.DelayPrice), Currency: c.Currency, Scale: c.Scale, Marginal: c.Marginal,
	}
}

// minCostFlow is mcmf, or one of its variants [MC 3.3.1].
func minCostFlow() sdk.Plugin {
	return sdk.Policy[mcmfConfig]{
		Name: "mcmf", Version: version, About: "jobs are placed by min-cost max-flow over response time and electricity cost",
		Defaults: mcmfConfig{
			Variant: string(mcmf.Full), Normalise: mcmf.ByPrice, Weight: mcmf.DefaultWeight,
			DelayPrice: settings.Amount(mcmf.DefaultDelayPrice), Scale: mcmf.DefaultScale,
		},
		Check: func(r *sdk.Reader, c *mcmfConfig) {
			r.OneOf("normalise", c.Normalise, mcmf.ByPrice, mcmf.ByRound)
			for _, fault := range c.policy().Faults() {
				r.Problem(fault.Key, "%s", fault.Text)
			}
		},
		Make: func(c mcmfConfig, _ sdk.Host) (policy.Policy, error) { return mcmf.New(c.policy()) },
	}
}

// stableMatching is stable [MC 3.3.2].
func stableMatching() sdk.Plugin {
	return sdk.Policy[struct{}]{
		Name: "stable", Version: version, About: "jobs are placed by a stable matching of response time and electricity cost",
		Make: func(struct{}, sdk.Host) (policy.Policy, error) { return stable.New(), nil },
	}
}

type issConfig struct {
	Gap     settings.Share `toml:"max_gap"`
	Nodes   int            `toml:"max_search_nodes"`
	Printed bool           `toml:"paper_objective"`
}

func (c issConfig) policy() iss.Config {
	return iss.Config{Gap: int(c.Gap), Nodes: c.Nodes, Double: c.Printed}
}

// applications is iss [IS 4.2].
func applications() sdk.Plugin {
	usual := iss.Default()
	return sdk.Policy[issConfig]{
		Name: iss.Name, Version: version, About: "applications are placed by a cost function of machine, license, energy, waiting and data",
		Defaults: issConfig{Gap: settings.Share(usual.Gap), Nodes: usual.Nodes, Printed: usual.Double},
		Check: func(r *sdk.Reader, c *issConfig) {
			for _, fault := range c.policy().Faults() {
				r.Problem(fault.Key, "%s", fault.Text)
			}
		},
		Make: func(c issConfig, _ sdk.Host) (policy.Policy, error) { return iss.New(c.policy()) },
	}
}
