package localsched

import (
	"errors"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Engine is the mind of a batch system without a clock or processes: it says what
// starts when, and a driver carries that out. The simulator drives one for each
// site under its virtual clock. Time never runs back; an earlier now counts as the
// latest one seen. An Engine is used by one goroutine.
type Engine interface {
	// Submit puts a job at the end of the queue. The error is a *RefusedError when
	// it would not even run on the empty machine, and wraps ErrDuplicate when a job
	// with this tag is queued or runs.
	Submit(now protocol.Instant, job Queued) (Actions, error)
	// Withdraw takes a job that has not started out of the queue. The error wraps
	// ErrStarted when it runs and ErrUnknownJob when there is no such job.
	Withdraw(now protocol.Instant, tag protocol.Tag) (Actions, error)
	// Finished reports that a running job has ended. The error wraps ErrUnknownJob
	// when no such job runs.
	Finished(now protocol.Instant, tag protocol.Tag) (Actions, error)
	// Tick says which jobs have reached their limit, each once, and starts those
	// whose time has come.
	Tick(now protocol.Instant) (Actions, error)
	// Plan says for each job alone when it would start if it were submitted now,
	// after those ahead. It changes nothing.
	Plan(now protocol.Instant, ahead, jobs []protocol.Request) ([]Planned, error)
	// Load is how busy the machine is.
	Load() (protocol.Load, error)
}

// Queued is a job as an engine takes it. Request.WallTime is both the estimate and
// the limit.
type Queued struct {
	protocol.Request
	Tag   protocol.Tag
	Since protocol.Instant // it has waited since then; 0: from now on
	Place string           // where a job runs that is told of after a restart; empty: anywhere
}

// Actions is what a driver must do now, in order, and when it must call
// [Engine.Tick] next.
type Actions struct {
	Starts []protocol.Tag   // start these jobs
	Kills  []protocol.Tag   // end these jobs, then report each by Finished
	Wake   protocol.Instant // the next limit of a running job or reserved start; 0: none
}

// Planned is when a job would start.
type Planned struct {
	Start    protocol.Instant // the last instant when no start is in sight
	Declined string           // why it never would; empty: it would
	Note     string           // what else to know, as in [protocol.Quote]
}

// Errors of an [Engine], beside [ErrUnknownJob]. None of them changes anything.
var (
	ErrDuplicate = errors.New("the engine has this job already")
	ErrStarted   = errors.New("the job has started")
)

// DelayEstimator is an [Engine] that can tell whom a job would delay.
type DelayEstimator interface {
	// Delays says for each job alone how much later the waiting jobs of a site would start
	// if it were submitted now, after those ahead: the most of them. It changes nothing.
	Delays(now protocol.Instant, ahead, jobs []protocol.Request, guarded protocol.SiteNumber) ([]protocol.Duration, error)
}
