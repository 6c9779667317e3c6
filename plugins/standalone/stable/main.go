// Command stable is the built-in policy of that name as a plugin of its own: jobs are
// placed by a stable matching of response time and electricity cost [MC 3.3.2].
package main

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/stable"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

func main() {
	sdk.Main(sdk.Policy[struct{}]{
		Name: "stable", Version: "1.0.0", About: "jobs are placed by a stable matching of response time and electricity cost",
		Make: func(struct{}, sdk.Host) (policy.Policy, error) { return stable.New(), nil },
	})
}
