package node

import (
	"errors"
	"log/slog"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// Config is what a [Node] needs. Store, Scheduler, Policy and Deliverer are
// required.
type Config struct {
	Peer peer.Config
	Seed uint64 // of the peer's random choices

	Store     Store
	Scheduler localsched.Scheduler
	Policy    policy.Policy // until [Node.Retune] brings another
	Fallback  policy.Policy // decides the rounds in which the policy fails; nil: nobody does
	Deliverer Deliverer
	Prices    Prices       // of electricity; nil: none are known
	Meter     Meter        // nil: nothing is counted
	Recorder  Recorder     // nil: nothing is recorded
	Log       *slog.Logger // nil: nothing is logged

	// Space says how many bytes are free where the store is; nil: not checked.
	// Below Reserve (default 64 MiB) new jobs are refused, so that those that are
	// there can end.
	Space   func() (free uint64, err error)
	Reserve uint64
	// KeepFacts is how long explain remembers; default 30 days.
	KeepFacts time.Duration
}

func (c *Config) complete() error {
	if c.Store == nil || c.Scheduler == nil || c.Policy == nil || c.Deliverer == nil {
		return errors.New("a node needs a Store, a Scheduler, a Policy and a Deliverer")
	}
	if c.Meter == nil {
		c.Meter = noMeter{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Reserve == 0 {
		c.Reserve = 64 << 20
	}
	if c.KeepFacts <= 0 {
		c.KeepFacts = 30 * 24 * time.Hour
	}
	return nil
}
