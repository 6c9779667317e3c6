package pluginv1

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// The kinds of plugins.
const (
	KindPolicy    = "policy"
	KindScheduler = "localsched"
	KindFeed      = "price"
)

// Simulate is the capability of a local scheduler that serves engines as well.
const Simulate = "simulate"

// Limits of an Info, in bytes.
const (
	maxAbout   = 256
	maxService = 256
	maxList    = 64 // services, capabilities
)

// Services are the gRPC services, beside Base, that a plugin of a kind with these
// capabilities must serve; none for a kind that does not exist.
func Services(kind string, capabilities []string) []string {
	switch kind {
	case KindPolicy:
		return []string{"switchyard.policy.v1.Policy"}
	case KindFeed:
		return []string{"switchyard.price.v1.Feed"}
	case KindScheduler:
		if slices.Contains(capabilities, Simulate) {
			return []string{"switchyard.localsched.v1.Scheduler", "switchyard.localsched.v1.Engine"}
		}
		return []string{"switchyard.localsched.v1.Scheduler"}
	}
	return nil
}

// CheckInfo says what is wrong with what a plugin says of itself, if anything. The
// error names the field.
func CheckInfo(m *InfoResponse) error {
	if err := wire.First(
		checkKind(m.GetKind()),
		checkName(m.GetName()),
		wire.Required("version", m.GetVersion(), protocol.MaxName),
		checkAbout(m.GetAbout()),
		wire.AtMost("services", len(m.GetServices()), maxList),
		checkCapabilities(m.GetCapabilities()),
	); err != nil {
		return wire.In("info", err)
	}
	for i, one := range m.GetServices() {
		if err := wire.Required(fmt.Sprintf("services[%d]", i), one, maxService); err != nil {
			return wire.In("info", err)
		}
	}
	for _, one := range Services(m.GetKind(), m.GetCapabilities()) {
		if !slices.Contains(m.GetServices(), one) {
			return wire.In("info", wire.Wrong("services", "%s is not among them, which a %s plugin must serve", one, m.GetKind()))
		}
	}
	return nil
}

func checkKind(kind string) error {
	if Services(kind, nil) == nil {
		return wire.Wrong("kind", "%.64q is unknown; use %s, %s or %s", kind, KindPolicy, KindScheduler, KindFeed)
	}
	return nil
}

func checkName(name string) error {
	strange := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-._", r)
	}
	if name == "" || len(name) > protocol.MaxName || strings.ContainsFunc(name, strange) {
		return wire.Wrong("name", "%.80q is not the name of a plugin; use 1 to %d lower case letters, digits, '-', '.' and '_'", name, protocol.MaxName)
	}
	return nil
}

func checkAbout(about string) error {
	if strings.ContainsAny(about, "\r\n") {
		return wire.Wrong("about", "has several lines, use one")
	}
	return wire.AtMost("about", len(about), maxAbout)
}

func checkCapabilities(list []string) error {
	if err := wire.AtMost("capabilities", len(list), maxList); err != nil {
		return err
	}
	for i, one := range list {
		if err := wire.Required(fmt.Sprintf("capabilities[%d]", i), one, protocol.MaxName); err != nil {
			return err
		}
		if i > 0 && list[i-1] >= one {
			return wire.Wrong(wire.Entry("capabilities", i), "%q does not sort after %q", one, list[i-1])
		}
	}
	return nil
}
