package pluginhost

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

// guarded makes a call of something built in and checks the answer. What it panics
// with becomes an error, with the stack; each error says who was called.
func guarded[T any](who, name string, call func() (T, error), check func(T) error) (answer T, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
		if err != nil {
			var none T
			answer, err = none, fmt.Errorf("%s: %s: %w", who, name, err)
		}
	}()
	if answer, err = call(); err != nil {
		return answer, err
	}
	return answer, invalidAnswer(check(answer))
}

// CheckedPolicy is a built-in policy whose every answer is checked as a plugin's is.
// It is a [policy.ParetoPolicy] if that is one.
func CheckedPolicy(p policy.Policy) policy.Policy {
	if fronter, ok := p.(policy.ParetoPolicy); ok {
		return checkedFronter{checkedPolicy{p}, fronter}
	}
	return checkedPolicy{p}
}

type checkedPolicy struct{ policy.Policy }

// Describe implements [policy.Describer].
func (c checkedPolicy) Describe() policy.Description { return policy.Describe(c.Policy) }

// Decide implements [policy.Policy].
func (c checkedPolicy) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	call := func() (d decided, err error) {
		d.decisions, d.hint, err = c.Policy.Decide(ctx, in)
		return d, err
	}
	d, err := guarded("policy "+c.Info().Name, "Decide", call, func(d decided) error { return d.check(&in) })
	return d.decisions, d.hint, err
}

// checkedFronter is one that lays out choices.
type checkedFronter struct {
	checkedPolicy

	fronter policy.ParetoPolicy
}

// ParetoFront implements [policy.ParetoPolicy].
func (c checkedFronter) ParetoFront(ctx context.Context, in policy.Snapshot) (policy.ParetoFront, error) {
	call := func() (policy.ParetoFront, error) { return c.fronter.ParetoFront(ctx, in) }
	return guarded("policy "+c.Info().Name, "ParetoFront", call, func(f policy.ParetoFront) error { return in.CheckFront(&f) })
}

// check says what is wrong with what a policy returned, if anything.
func (d decided) check(in *policy.Snapshot) error {
	if len(d.hint) > policy.MaxHint {
		return fmt.Errorf("the hint has %d bytes, at most %d are allowed", len(d.hint), policy.MaxHint)
	}
	for i := range d.decisions {
		if n := len(d.decisions[i].Reason); n > policyv1.MaxReason {
			return fmt.Errorf("the reason of decision %d has %d bytes, at most %d are allowed", i, n, policyv1.MaxReason)
		}
	}
	return in.Check(d.decisions)
}
