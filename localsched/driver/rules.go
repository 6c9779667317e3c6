package driver

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
)

// Rules are the policy and power budget of scheduling passes.
type Rules struct {
	Policy engine.Policy
	Budget engine.Budget // that binds the policy; the zero Budget does not
}

// Budgeted reports whether there is a power budget, or at least the power rates of CPUs.
func (r Rules) Budgeted() bool {
	return r.Budget.Rates != power.Rates{} || len(r.Budget.Signal.Steps()) > 0
}

// Check returns an error that describes an invalid budget.
func (r Rules) Check() error {
	if !r.Budgeted() {
		return nil
	}
	if err := r.Budget.Check(); err != nil {
		return fmt.Errorf("power budget: %w", err)
	}
	return nil
}

func (r Rules) policy() engine.Policy {
	if !r.Budgeted() {
		return r.Policy
	}
	return engine.Within(r.Budget, r.Policy)
}
