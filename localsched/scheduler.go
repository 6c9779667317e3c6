// Package localsched is the border between a peer and its site's batch system.
//
// A [Scheduler] drives one batch system: the built-in engine over real
// processes (localsched/process), later real Slurm and plugins. Everything is
// idempotent, so that a peer can repeat any call after a crash.
package localsched

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Scheduler is a site's batch system as its peer sees it. All methods may be
// called at once from several goroutines, and repeated.
type Scheduler interface {
	Planner
	Runner
	// Fetch reads up to size bytes of a job's output from offset. It returns
	// fewer, or none, at the present end of the file; ErrUnknownJob when there
	// is no such job or no such file.
	Fetch(ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error)
}

// Planner answers queries and changes nothing.
type Planner interface {
	Describe(ctx context.Context) (Description, error)
	Load(ctx context.Context) (protocol.Load, error)
	// Quote answers each job of the query alone, in order.
	Quote(ctx context.Context, query Query) ([]protocol.Quote, error)
}

// Runner takes jobs into the local queue and out of it.
type Runner interface {
	// Submit puts the job in the local queue, durably, before it returns.
	// Repeating a tag changes nothing and returns the same id. A *RefusedError
	// says that the batch system will not take this job; after any other error the
	// job may or may not have been taken.
	Submit(ctx context.Context, job Submission) (LocalID, error)
	// FindByTag reports whether an earlier Submit of this tag took effect. A job that was
	// withdrawn is absent, before or after it came; to submit it again is refused.
	FindByTag(ctx context.Context, tag protocol.Tag) (Presence, LocalID, error)
	// Withdraw takes the job out of the local queue if it has not started. A tag that never came
	// is withdrawn too, or the error wraps [ErrUnknownJob]. After
	// Withdrawn it never starts; the answer stays the same when repeated.
	Withdraw(ctx context.Context, tag protocol.Tag) (Withdrawal, error)
	// Kill ends a job that has started. Watch reports its end. Killing a job
	// that has ended is no error.
	Kill(ctx context.Context, tag protocol.Tag) error
	// Watch waits until something happens after the cursor and returns it, in
	// order. The empty cursor starts at the beginning of what is still known.
	// Changes are kept until Forget.
	Watch(ctx context.Context, after Cursor) (Watched, error)
	// Forget drops all that is kept about a job that has ended or was
	// withdrawn, its output included. One that was withdrawn may be submitted again then.
	Forget(ctx context.Context, tag protocol.Tag) error
}

// Priority is another priority of a job in the local queue.
type Priority struct {
	Tag      protocol.Tag `json:"tag"`
	Priority int64        `json:"priority"` // as [protocol.Request.Priority]
}

// Prioritizer is a [Scheduler] whose local queue is in the order of priorities.
type Prioritizer interface {
	// SetPriorities gives jobs other priorities. Those that are not pending are passed over.
	SetPriorities(ctx context.Context, priorities []Priority) error
}

// PlannedStart is when the batch system now plans to start a job that is pending.
type PlannedStart struct {
	Tag   protocol.Tag
	Start protocol.Instant // by the clock of the site; it may have passed
}

// StartPlanner is a [Scheduler] whose batch system has a plan for its queue.
type StartPlanner interface {
	// PlannedStarts says when the jobs would start by the present plan: if nothing more came and every job ran until
	// its time limit. Jobs that are not pending, or for which no start is planned, are left out.
	PlannedStarts(ctx context.Context, tags []protocol.Tag) ([]PlannedStart, error)
}

// LocalID is the batch system's own name of a job, for people.
type LocalID string

// Cursor is a place in the scheduler's list of changes. Only the scheduler
// reads it.
type Cursor string

// Description is what a scheduler is and has.
type Description struct {
	Name         string // "process", "slurm"
	Capacity     protocol.Capacity
	Capabilities []string // sorted; optional behavior, such as "reserve"
}

// Query asks for quotes.
type Query struct {
	Jobs []protocol.Request
	// Associations are those of Jobs, in their order and by their names at this site. If it is nil, no
	// job has one.
	Associations []protocol.Association
	// Ahead are the peer's tentative allocations, in order. Quotes count them as if they were at the
	// end of the queue. One that the scheduler has by now counts where it is.
	Ahead []Tentative
	// ProtectSite is the site for whose pending jobs the quotes calculate delays, if the scheduler has
	// the capability [Delays]. If it is nil, no delays are requested.
	ProtectSite *protocol.SiteNumber
}

// Add asks about one more job, with its association.
func (q *Query) Add(request protocol.Request, association protocol.Association) {
	q.Jobs = append(q.Jobs, request)
	if q.Associations != nil || association != (protocol.Association{}) {
		q.Associations = append(q.Associations, make([]protocol.Association, len(q.Jobs)-1-len(q.Associations))...)
		q.Associations = append(q.Associations, association)
	}
}

// Association is that of the job at an index.
func (q *Query) Association(i int) protocol.Association {
	if q.Associations == nil {
		return protocol.Association{}
	}
	return q.Associations[i]
}

// Delays is the capability of a scheduler that fills in [protocol.Quote].Delay.
const Delays = "delays"

// Associations is the capability of a scheduler that uses the accounts, partitions and QOS of jobs, or gives them to
// the jobs. One without it declines jobs that have any.
const Associations = "associations"

// Tentative is a claim of the peer on CPUs for one placement of a job that the local queue does not
// have yet.
type Tentative struct {
	Tag         protocol.Tag
	Request     protocol.Request
	Association protocol.Association // of the job, by its names at this site
}

// Submission is a job as it enters the local queue.
type Submission struct {
	Tag     protocol.Tag
	Spec    protocol.Spec // its association is by the names at this site
	Payload *protocol.Payload
	Origin  protocol.SiteName
	Account string // the local account that runs it
	Guest   bool   // from another site; see Private

	// Inputs is the path, on this machine, of the archive of files that come with the job, complete and
	// verified; empty: none do. It may go once Submit has returned.
	Inputs string `json:"-"`

	// StartBy is the last instant at which the job may start, by the clock of the machine that
	// starts it. Zero means no limit. A job that would start later is withdrawn instead, as by
	// Withdraw and without a report, because the peer then calls Withdraw too. If it is too late to
	// withdraw it, it is reported as Cancelled, with no Started.
	StartBy protocol.Instant `json:",omitzero"`
}

// Private says whether the job runs in a directory of its own, with output files there: it is a guest whose working directory
// is not here.
func (s *Submission) Private() bool { return s.Guest && !s.Spec.InPlace }

// Supplied says whether something of the job is to be seen to before it may be submitted: files that come with it, or the
// directory in which it runs.
func (s *Submission) Supplied() bool { return s.Guest && (s.Spec.StageIn > 0 || s.Spec.InPlace) }

// Presence is an answer of FindByTag.
type Presence uint8

// The presences.
const (
	PresenceUnknown Presence = iota // cannot be determined: an operator has to
	Present
	Absent // reliably: the job is not in the local queue and will not appear there
)

func (p Presence) String() string {
	switch p {
	case Present:
		return "present"
	case Absent:
		return "absent"
	case PresenceUnknown:
	}
	return "unclear"
}

// Withdrawal is the result of Withdraw.
type Withdrawal uint8

// The withdrawals.
const (
	Withdrawn Withdrawal = iota + 1 // the job has not started and never will
	Started                         // too late; Watch reports the rest
)

func (w Withdrawal) String() string {
	if w == Withdrawn {
		return "withdrawn"
	}
	return "started"
}

// Change is one change of a job.
type Change struct {
	Tag     protocol.Tag
	State   protocol.State   // Pending (queued), Running or a terminal one
	Reason  string           // native text
	Started protocol.Instant // by the site's clock; zero before the job starts
	Outcome protocol.Outcome // when State is terminal

	TimeLimit protocol.Duration // with which it runs, if that is not the one that it asked for; 0: it is
}

// Watched is what [Runner.Watch] returns.
type Watched struct {
	Changes []Change
	Cursor  Cursor // continue here
	Load    protocol.Load
}

// Errors of a [Scheduler] that the ones of this module share.
var (
	ErrUnknownJob = errors.New("the local scheduler has no such job")
	ErrNotStarted = errors.New("the job has not started; withdraw it instead") // it cannot be killed
	ErrNotEnded   = errors.New("the job has not ended; it cannot be forgotten")
	ErrClosed     = errors.New("the local scheduler is closed")
)

// UnknownJob returns an [ErrUnknownJob] for a tag.
func UnknownJob(tag protocol.Tag) error { return fmt.Errorf("job %v: %w", tag, ErrUnknownJob) }

// RefusedError says that the batch system will never take the job as it is.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "the local scheduler refused the job: " + e.Reason }
