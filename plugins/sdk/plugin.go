package sdk

import (
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Host is what a plugin knows of who started it.
type Host struct {
	Site     protocol.SiteName // that the plugin serves; empty outside a peer
	StateDir string            // directory that is the plugin's own and outlives it; empty: it has none
	Seed     uint64            // of all random choices
	Software string            // name and version of the host
}

// Reader reads the configuration and gathers what is wrong with it, each with its
// line and key.
type Reader = settings.Reader

// Plugin is a [Policy], a [Scheduler] or a [Feed].
type Plugin interface {
	parts() parts
}

// Policy is a plugin that decides where jobs go. C is a struct, its configuration:
// each field has its key as a "toml" tag.
type Policy[C any] struct {
	Name    string // 1 to 64 lower case letters, digits, hyphens, dots and underscores
	Version string // its own, as "1.4.0"
	About   string // one line that says what it does
	// Defaults is the configuration of an empty text. A map in it is filled in
	// place: leave it nil.
	Defaults C
	// Check finds what is wrong with a configuration that could be read; may be nil.
	Check func(*Reader, *C)
	// Make is called once. Its policy may be asked from several goroutines at once.
	Make func(C, Host) (policy.Policy, error)
}

// Scheduler is a plugin that drives a batch system. C is as in [Policy].
type Scheduler[C any] struct {
	Name    string // as in [Policy]
	Version string // its own, as "1.4.0"
	About   string // one line that says what it does
	// Defaults is the configuration of an empty text, as in [Policy].
	Defaults C
	// Check is as in [Policy].
	Check func(*Reader, *C)
	// Make is called once. A scheduler that is an [io.Closer] is closed at the end.
	// One that can be simulated is made only for a site: in the simulator Host.Site is
	// empty, and Engine alone is called. One that is a [localsched.Reserver] is asked to hold
	// room if its description has the capability [localsched.Reserve].
	Make func(C, Host) (localsched.Scheduler, error)
	// Engine makes an engine for a machine, for the simulator; nil: the scheduler
	// cannot be simulated.
	Engine func(C, protocol.Capacity) (localsched.Engine, error)
}

// Feed is a plugin that knows prices of electricity. C is as in [Policy].
type Feed[C any] struct {
	Name    string // as in [Policy]
	Version string // its own, as "1.4.0"
	About   string // one line that says what it does
	// Defaults is the configuration of an empty text, as in [Policy].
	Defaults C
	// Check is as in [Policy].
	Check func(*Reader, *C)
	// Make is called once. A feed that is an [io.Closer] is closed at the end.
	Make func(C, Host) (price.Feed, error)
}
