package experiment

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/plugins/catalog"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/policy/random"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// decider is the policy that decides rounds.
func (p *Plan) decider() (policy.Policy, error) {
	if p.decidesItself() {
		decides, err := p.Peer.parameters(p.Seed).Make(p.Peer.Policy)
		if err != nil {
			return nil, err
		}
		return catalog.CheckedPolicy(decides), nil
	}
	started := p.started[p.Peer.Policy]
	if started == nil {
		return nil, errNotStarted
	}
	return started.Policy(), nil
}

// decidesItself says whether the policy of rounds is built in.
func (p *Plan) decidesItself() bool { return slices.Contains(builtin.Names(), p.Peer.Policy) }

// parameters are those of the built-in policies.
func (p *Peer) parameters(seed int) builtin.Config {
	return builtin.Config{
		TC:     tc.Config{Epsilon: p.Epsilon},
		MCMF:   p.flow(),
		ISS:    iss.Config{Gap: int(p.Gap), Nodes: p.Nodes, Double: p.Printed},
		Random: random.Config{Seed: uint64(seed)}, //nolint:gosec // checked: not negative
	}
}

// flow are the parameters of mcmf and its variants.
func (p *Peer) flow() mcmf.Config {
	return mcmf.Config{
		Variant: mcmf.Full, Weight: int(p.Weight), ByPrice: p.Normalise == mcmf.ByPrice,
		DelayPrice: protocol.Micro(p.Delay), Scale: p.Scale, Marginal: p.Marginal,
	}
}

// checkPolicy checks that there is such a policy, and the parameters of those that are
// built in.
func (p *Plan) checkPolicy(c *checker) {
	if how := []string{mcmf.ByPrice, mcmf.ByRound}; !slices.Contains(how, p.Peer.Normalise) {
		c.Problem("peer.normalise", "%q is unknown; use %s", p.Peer.Normalise, oneOf(how))
	}
	for _, fault := range p.Peer.parameters(p.Seed).MCMF.Faults() {
		c.Problem("peer."+fault.Key, "%s", fault.Text)
	}
	for _, fault := range p.Peer.parameters(p.Seed).ISS.Faults() {
		c.Problem("peer."+fault.Key, "%s", fault.Text)
	}
	if name := p.Peer.Policy; !p.decidesItself() && p.plugin(catalog.PolicyKind, name) == nil {
		c.Problem("peer.policy", "%q is neither built in (%s) nor the name of a [[plugin]] of the kind %q",
			name, oneOf(builtin.Names()), catalog.PolicyKind)
	}
	for _, scheme := range []Scheme{Cycle, Portal} {
		if slices.Contains(p.All(), scheme) && p.decidesItself() && !serves(p.Peer.Policy, policy.Cycle) {
			c.Problem("peer.policy", "%q does not decide in cycles, as the scheme %q does; use %s, or another scheme", p.Peer.Policy, scheme,
				oneOf(slices.DeleteFunc(builtin.Names(), func(name string) bool { return !serves(name, policy.Cycle) })))
		}
	}
}

// serves says whether a built-in policy decides rounds that are opened so.
func serves(name string, opens policy.Initiation) bool {
	decides, err := builtin.Default().Make(name)
	return err == nil && slices.Contains(decides.Info().Initiations, opens)
}

// checkServed checks that the policy serves what opens rounds under the scheme.
func checkServed(cfg *sim.Config) error {
	opens, info := cfg.Tuning.Initiation, cfg.Policy.Info()
	if cfg.Scheme == sim.Ideal || slices.Contains(info.Initiations, opens) {
		return nil
	}
	return fmt.Errorf("the policy %s does not serve rounds that are opened by %s, only by %s; run another scheme, or another policy",
		info.Name, opens, oneOf(info.Initiations))
}
