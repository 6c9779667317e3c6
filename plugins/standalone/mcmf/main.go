// Command mcmf is the built-in policy of that name, or one of its variants, as a plugin
// of its own: jobs are placed by min-cost max-flow over response time and electricity
// cost [MC 3.3.1].
package main

import (
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// config is the plugin's configuration.
type config struct {
	Variant    string          `toml:"variant"`
	Normalise  string          `toml:"normalise"`
	Weight     settings.Share  `toml:"weight"`      // w, by round
	DelayPrice settings.Amount `toml:"delay_price"` // of an hour, by price
	Currency   string          `toml:"currency"`    // of that; empty: the one that most sites name
	Scale      int             `toml:"scale"`
	Marginal   int             `toml:"marginal"`
}

func (c config) policy() mcmf.Config {
	return mcmf.Config{
		Variant: mcmf.Variant(c.Variant), Weight: int(c.Weight), ByPrice: c.Normalise == mcmf.ByPrice,
		DelayPrice: protocol.Micro(c.DelayPrice), Currency: c.Currency, Scale: c.Scale, Marginal: c.Marginal,
	}
}

func main() {
	sdk.Main(sdk.Policy[config]{
		Name: "mcmf", Version: "1.0.0", About: "jobs are placed by min-cost max-flow over response time and electricity cost",
		Defaults: config{
			Variant: string(mcmf.Full), Normalise: mcmf.ByPrice, Weight: mcmf.DefaultWeight,
			DelayPrice: settings.Amount(mcmf.DefaultDelayPrice), Scale: mcmf.DefaultScale,
		},
		Check: func(r *sdk.Reader, c *config) {
			r.OneOf("normalise", c.Normalise, mcmf.ByPrice, mcmf.ByRound)
			for _, fault := range c.policy().Faults() {
				r.Problem(fault.Key, "%s", fault.Text)
			}
		},
		Make: func(c config, _ sdk.Host) (policy.Policy, error) { return mcmf.New(c.policy()) },
	})
}
