// Command corrected is a policy plugin of Switchyard that keeps state: it corrects the quoted
// waits of each site by what came of its own earlier decisions. The policy is in policy.go.
package main

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

type config struct{}

func main() {
	sdk.Main(sdk.Policy[config]{
		Name:    "corrected",
		Version: "1.0.0",
		About:   "least turnaround by quoted waits that are corrected by actual ones",
		Make:    func(config, sdk.Host) (policy.Policy, error) { return Policy{}, nil },
	})
}
