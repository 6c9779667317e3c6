// Command cheapest is a policy plugin of Switchyard, and an example to copy: a job
// goes where it costs least, among the sites that start it soon enough. The policy
// is in policy.go; this file makes a plugin of it.
package main

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// config is what the plugin reads from the file that the host names.
type config struct {
	WaitLimit protocol.Duration `toml:"wait_limit"`
}

func main() {
	sdk.Main(sdk.Policy[config]{
		Name:     "cheapest",
		Version:  "1.0.0",
		About:    "the cheapest site among those that start a job within a limit",
		Defaults: config{WaitLimit: protocol.Hour},
		Check:    func(r *sdk.Reader, c *config) { r.Positive("wait_limit", c.WaitLimit) },
		Make:     func(c config, _ sdk.Host) (policy.Policy, error) { return New(c.WaitLimit), nil },
	})
}
