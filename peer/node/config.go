package node

import (
	"errors"
	"log/slog"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is what a [Node] needs. Store, Scheduler, Policy and Deliverer are
// required.
type Config struct {
	Peer rules.Config
	Seed uint64 // of the peer's random choices

	Store     Store
	Scheduler localsched.Scheduler
	Policy    policy.Policy       // until [Node.Reconfigure] brings another; it answers nothing that [policy.Snapshot.Check] refuses
	Fallback  policy.Policy       // decides the rounds in which the policy fails; may be nil
	Fronter   policy.ParetoPolicy // lays out the choices of an application where the policy does not; may be nil
	Deliverer Deliverer
	Prices    Prices              // of electricity; nil: none are known
	Meter     Meter               // nil: nothing is counted
	Recorder  Recorder            // nil: nothing is recorded
	Mailer    Mailer              // nil: no mail is sent
	Notifier  Notifier            // nil: other programs are not notified of jobs
	Tracer    Tracer              // nil: no spans of jobs are exported
	Events    *eventstream.Stream // gets changes of jobs and log events; nil: they cannot be followed
	// Clock reads the machine's clocks; nil: [wallclock.System].
	Clock wallclock.Source
	// AllowStarts lets the local scheduler start the jobs of its queue, or keeps it from that;
	// nil: it cannot be kept from it.
	AllowStarts func(allowed bool)
	Witness     Witness      // nil: a store that is put back is known by partners only
	Log         *slog.Logger // nil: nothing is logged

	// Space says how many bytes are free where the store is; nil: not checked.
	// Below Reserve (default 64 MiB) new jobs are refused, so that those that are
	// there can end.
	Space     func() (free uint64, err error)
	Reserve   uint64
	Retention Retention
}

// Retention is how long the node keeps what is no longer needed to run jobs.
type Retention struct {
	FinishedJobs      protocol.Duration // of this site, since their end; default 90 days
	MaxFinishedJobs   int               // of more, those that ended first go; default 100,000
	FinishedGuests    protocol.Duration // jobs of other sites, since their end here; default 90 days
	MaxFinishedGuests int               // of more, those that ended first go; default 100,000
	Events            protocol.Duration // facts, for explain; default 30 days
}

// WithDefaults fills in what is not set.
func (r Retention) WithDefaults() Retention {
	if r.FinishedJobs <= 0 {
		r.FinishedJobs = 90 * protocol.Day
	}
	if r.MaxFinishedJobs <= 0 {
		r.MaxFinishedJobs = 100_000
	}
	if r.FinishedGuests <= 0 {
		r.FinishedGuests = 90 * protocol.Day
	}
	if r.MaxFinishedGuests <= 0 {
		r.MaxFinishedGuests = 100_000
	}
	if r.Events <= 0 {
		r.Events = 30 * protocol.Day
	}
	return r
}

func (c *Config) complete() error {
	if c.Store == nil || c.Scheduler == nil || c.Policy == nil || c.Deliverer == nil {
		return errors.New("a node needs a Store, a Scheduler, a Policy and a Deliverer")
	}
	c.Peer.Fallback = ""
	if c.Fallback != nil {
		c.Peer.Fallback = c.Fallback.Info().Name
	}
	c.Peer.Fronts = c.Fronter != nil
	if c.Meter == nil {
		c.Meter = noMeter{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Reserve == 0 {
		c.Reserve = 64 << 20
	}
	c.Retention = c.Retention.WithDefaults()
	return nil
}
