package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
)

// Scheme is a way to place jobs, by the names of [SS 2].
type Scheme string

// The schemes.
const (
	Local     Scheme = "local"     // every job stays where it was submitted
	Sender    Scheme = "sender"    // S-I [SS 2.1.1]
	Receiver  Scheme = "receiver"  // R-I [SS 2.1.2]
	Symmetric Scheme = "symmetric" // Sy-I [SS 2.1.3]
	Cycle     Scheme = "cycle"     // all jobs that wait at a site, once in a period
	Central   Scheme = "central"   // one grid queue that sees everything [SS 2.2]
	Portal    Scheme = "portal"    // the same in cycles: the metascheduler of [MC 2]
	Ideal     Scheme = "ideal"     // one virtual machine, perfectly malleable jobs [SS 2.3]

	// Configured is a peer at each site that goes by the site's own configuration; see [OfSites].
	Configured Scheme = "configured"
)

// Schemes returns all schemes in the order of the paper's figures.
func Schemes() []Scheme {
	return []Scheme{Local, Sender, Receiver, Symmetric, Cycle, Central, Portal, Ideal}
}

// ParseScheme returns the scheme of a name.
func ParseScheme(name string) (Scheme, error) {
	if s := Scheme(name); slices.Contains(Schemes(), s) {
		return s, nil
	}
	return "", fmt.Errorf("invalid scheme %q; use %s", name, oneOf(Schemes()))
}

// apply sets what the scheme is made of. The policy decides rounds, where the scheme
// has any.
func (s Scheme) apply(cfg *sim.Config, decides policy.Policy) {
	cfg.Scheme, cfg.Policy = sim.Distributed, decides
	cfg.Tuning.Initiation = policy.Sender
	switch s {
	case Local, Configured: // in which each site has a policy of its own
		cfg.Policy = local.New()
	case Receiver:
		cfg.Tuning.Initiation = policy.Receiver
	case Symmetric:
		cfg.Tuning.Initiation = policy.Symmetric
	case Cycle:
		cfg.Tuning.Initiation = policy.Cycle
	case Central:
		cfg.Scheme = sim.Central
	case Portal:
		cfg.Scheme, cfg.Tuning.Initiation = sim.Central, policy.Cycle
	case Ideal:
		cfg.Scheme = sim.Ideal
	case Sender:
	}
}

// oneOf lists the values that a key may have.
func oneOf[S ~string](names []S) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", string(name))
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
