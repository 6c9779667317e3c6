// Command iss is the built-in policy of that name as a plugin of its own: applications are
// placed by the cost function of [IS 4.2].
package main

import (
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

// config is the plugin's configuration.
type config struct {
	Gap     settings.Share `toml:"gap"`
	Nodes   int            `toml:"nodes"`
	Printed bool           `toml:"printed"`
}

func (c config) policy() iss.Config {
	return iss.Config{Gap: int(c.Gap), Nodes: c.Nodes, Double: c.Printed}
}

func main() {
	usual := iss.Default()
	sdk.Main(sdk.Policy[config]{
		Name: iss.Name, Version: "1.0.0", About: "applications are placed by a cost function of machine, licence, energy, waiting and data",
		Defaults: config{Gap: settings.Share(usual.Gap), Nodes: usual.Nodes, Printed: usual.Double},
		Check: func(r *sdk.Reader, c *config) {
			for _, fault := range c.policy().Faults() {
				r.Problem(fault.Key, "%s", fault.Text)
			}
		},
		Make: func(c config, _ sdk.Host) (policy.Policy, error) { return iss.New(c.policy()) },
	})
}
