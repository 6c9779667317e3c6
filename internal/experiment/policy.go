package experiment

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
)

// decider is the policy that decides rounds.
func (p *Plan) decider() (policy.Policy, error) {
	if p.decidesItself() {
		decides, err := p.Policy.Parameters(p.Seed, "").Make(p.Policy.Name)
		if err != nil {
			return nil, err
		}
		return pluginhost.CheckedPolicy(decides), nil
	}
	started := p.started[p.Policy.Name]
	if started == nil {
		return nil, errNotStarted
	}
	return started.Policy(), nil
}

// decidesItself says whether the policy of rounds is built in.
func (p *Plan) decidesItself() bool { return slices.Contains(builtin.Names(), p.Policy.Name) }

// fallback is the policy that decides where that of rounds fails; nil: there is none.
func (p *Plan) fallback() (policy.Policy, error) {
	if p.Policy.Fallback == "" {
		return nil, nil //nolint:nilnil // as said
	}
	return p.Policy.Parameters(p.Seed, "").Make(p.Policy.Fallback)
}

// checkPolicy checks that there is such a policy, and the parameters of those that are
// built in.
func (p *Plan) checkPolicy(c *checker) {
	p.Policy.CheckParameters(c.Reader, "policy", "")
	if name := p.Policy.Name; !p.decidesItself() && p.plugin(pluginhost.PolicyKind, name) == nil {
		c.Problem("policy.name", "%q is neither built in (%s) nor the name of a [[plugin]] of the kind %q",
			name, oneOf(builtin.Names()), pluginhost.PolicyKind)
	}
	if p.Policy.Fallback != "" {
		c.OneOf("policy.fallback", p.Policy.Fallback, builtin.Names()...)
	}
	for _, scheme := range []Scheme{Cycle, Portal} {
		if slices.Contains(p.All(), scheme) && p.decidesItself() && !serves(p.Policy.Name, policy.Cycle) {
			c.Problem("policy.name", "%q does not decide in cycles, as the scheme %q does; use %s, or another scheme", p.Policy.Name, scheme,
				oneOf(slices.DeleteFunc(builtin.Names(), func(name string) bool { return !serves(name, policy.Cycle) })))
		}
	}
}

// serves says whether a built-in policy decides rounds that are opened so.
func serves(name string, opens policy.Initiation) bool {
	decides, err := builtin.Default().Make(name)
	return err == nil && slices.Contains(decides.Info().Initiations, opens)
}

// checkServed checks that the policy serves what opens rounds under the scheme. The error is an [*OptionError].
func checkServed(cfg *sim.Config) error {
	opens, info := cfg.Tuning.Initiation, cfg.Policy.Info()
	if cfg.Scheme == sim.Ideal || slices.Contains(info.Initiations, opens) {
		return nil
	}
	return &OptionError{fmt.Errorf("the policy %s does not serve rounds that are opened by %s, only by %s; "+
		"run another scheme, with --scheme or, in a sweep, --set scheme=, or another policy",
		info.Name, opens, oneOf(info.Initiations))}
}
