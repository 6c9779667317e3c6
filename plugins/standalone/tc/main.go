// Command tc is the built-in policy of that name as a plugin of its own: jobs go
// where their turnaround is least [SS 2.1.1].
package main

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// config is the plugin's configuration.
type config struct {
	Epsilon protocol.Duration `toml:"epsilon"` // ε
}

func main() {
	sdk.Main(sdk.Policy[config]{
		Name: "tc", Version: "1.0.0", About: "jobs go where wait and run time together are least",
		Defaults: config{Epsilon: tc.DefaultEpsilon},
		Make: func(c config, _ sdk.Host) (policy.Policy, error) {
			return tc.New(tc.Config{Epsilon: c.Epsilon}), nil
		},
	})
}
