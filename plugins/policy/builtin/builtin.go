// Package builtin has the policies that need no plugin, by name.
package builtin

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/policy/random"
	"github.com/switchyard-hpc/switchyard/plugins/policy/stable"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
)

// The names of the policies.
const (
	TC       = "tc"
	Local    = "local"
	MCMF     = string(mcmf.Full)
	Inst     = string(mcmf.Inst)
	TwoPrice = string(mcmf.TwoPrice)
	ISS      = iss.Name
	Stable   = "stable"
	Random   = "random"
)

// Names lists the names of the policies.
func Names() []string { return []string{TC, Local, MCMF, Inst, TwoPrice, ISS, Stable, Random} }

// Config are the parameters of all policies, of which each takes its own.
type Config struct {
	TC     tc.Config
	MCMF   mcmf.Config // of its variants too; the variant is the policy's name
	ISS    iss.Config
	Random random.Config
}

// Default returns the parameters where the configuration gives none.
func Default() Config {
	return Config{TC: tc.Config{Epsilon: tc.DefaultEpsilon}, MCMF: mcmf.Default(mcmf.Full), ISS: iss.Default()}
}

// Make returns the policy of a name. The error says that there is none, or all that is
// wrong with its parameters.
func (c Config) Make(name string) (policy.Policy, error) {
	switch name {
	case TC:
		return tc.New(c.TC), nil
	case Local:
		return local.New(), nil
	case MCMF, Inst, TwoPrice:
		cfg := c.MCMF
		cfg.Variant = mcmf.Variant(name)
		if name == Inst {
			cfg.Marginal = 0 // it knows no waits
		}
		return made(mcmf.New(cfg))
	case ISS:
		return made(iss.New(c.ISS))
	case Stable:
		return stable.New(), nil
	case Random:
		return random.New(c.Random), nil
	}
	return nil, unknown(name)
}

// Fronter is the policy that lays out choices between cost and time, a [policy.ParetoPolicy], where that
// which decides does not.
func Fronter() policy.Policy {
	p, _ := iss.New(iss.Default()) // its parameters are right
	return p
}

// Restore returns the policy with these parameters, as its Info listed them.
func Restore(name string, params []policy.Param) (policy.Policy, error) {
	switch name {
	case TC:
		return made(tc.Restore(params))
	case MCMF, Inst, TwoPrice:
		p, err := made(mcmf.Restore(params))
		if err == nil && p.Info().Name != name {
			return nil, fmt.Errorf("policy %s: its parameters are those of %s", name, p.Info().Name)
		}
		return p, err
	case ISS:
		return made(iss.Restore(params))
	case Random:
		return made(random.Restore(params))
	case Local, Stable:
		if len(params) > 0 {
			return nil, fmt.Errorf("policy %s: the parameters are %q; it has none", name, params)
		}
		return Default().Make(name)
	}
	return nil, unknown(name)
}

// made is a policy as one of any kind; without one there is nil, and not a nil of its
// kind.
func made[P policy.Policy](p P, err error) (policy.Policy, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

func unknown(name string) error {
	return fmt.Errorf("no policy called %q is built in; there are %s", name, strings.Join(Names(), ", "))
}
