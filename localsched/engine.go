package localsched

import (
	"errors"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Engine is the scheduling logic of a batch system, without clock or processes: it decides which jobs
// start when, and a driver carries that out. Time never runs back: an earlier now counts as the latest
// one passed. An Engine is used by one goroutine.
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
	// Tick returns the jobs that have reached their limit, each once, and starts those
	// whose reserved start has come.
	Tick(now protocol.Instant) (Actions, error)
	// Plan returns, for each job alone, when it would start if it were submitted now,
	// after those ahead. It changes nothing.
	Plan(now protocol.Instant, ahead, jobs []protocol.Request) ([]Planned, error)
	// Load is how busy the machine is.
	Load() (protocol.Load, error)
}

// Queued is a job that is submitted to an engine. Request.WallTime is both the estimate and
// the limit; an engine may start a job with a shorter one, down to Request.LeastTime.
type Queued struct {
	protocol.Request
	Tag   protocol.Tag
	Since protocol.Instant  // pending since then; zero means now
	Place string            // where a running job is restored after a restart; empty: anywhere
	Limit protocol.Duration // with which a running job is restored then; 0: Request.WallTime
}

// Actions is what a driver must do now, in order, and when it must call [Engine.Tick] next.
type Actions struct {
	Starts []protocol.Tag   // start these jobs
	Kills  []protocol.Tag   // end these jobs, then report each by Finished
	Wake   protocol.Instant // the next limit of a running job or reserved start; zero if there is none
}

// Planned is when a job would start.
type Planned struct {
	Start    protocol.Instant // the last instant if no start is known
	Declined string           // the reason why it never would, or ""
	Note     string           // as in [protocol.Quote]
}

// Errors of an [Engine], in addition to [ErrUnknownJob]. None of them changes anything.
var (
	ErrDuplicate = errors.New("the engine has this job already")
	ErrStarted   = errors.New("the job has started")
)

// PlanningEngine is an [Engine] that says when it plans to start pending jobs.
type PlanningEngine interface {
	// PlannedStarts is as that of a [StartPlanner].
	PlannedStarts(now protocol.Instant, tags []protocol.Tag) ([]PlannedStart, error)
}

// DelayEstimator is an [Engine] that calculates which jobs a new job would delay.
type DelayEstimator interface {
	// Delays returns, for each job alone, the largest delay of the pending jobs of a site if the job
	// were submitted now, after those ahead. It changes nothing.
	Delays(now protocol.Instant, ahead, jobs []protocol.Request, guarded protocol.SiteNumber) ([]protocol.Duration, error)
}
