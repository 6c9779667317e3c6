package wait

import "github.com/switchyard-hpc/switchyard/protocol"

// UnknownUser is the user of a job whose user is not known. Such jobs are not taken for
// one user's.
const UnknownUser = -1

// Job is what a batch system knows of a job when it is submitted.
type Job struct {
	ID       int64             // unique among the jobs that wait or run
	User     int               // or [UnknownUser]
	Queue    int               // jobs of one queue are compared with each other; 0 where there is one
	CPUs     int               // at least 1
	Estimate protocol.Duration // its wall-time limit; 0: the system has none
}

// Arrival is a job and what it meets: all that a predictor knows.
type Arrival struct {
	Job   Job
	At    protocol.Instant
	Meets Features
	Empty bool // nothing waits or runs

	Planned protocol.Duration // wait that the batch system plans for the job, if HasPlan
	HasPlan bool              // the batch system plans its queue
}

// Kind says what happened to a job.
type Kind string

// The kinds of events. A job is submitted, then started and ended, or withdrawn.
const (
	Submitted Kind = "submitted"
	Started   Kind = "started"
	Ended     Kind = "ended"
	Withdrawn Kind = "withdrawn" // left the queue without a start
)

// Event is something that happened to a job.
type Event struct {
	Kind    Kind
	At      protocol.Instant
	Arrival Arrival           // as it was at the job's submission
	Wait    protocol.Duration // from the submission to the start; 0 before it
}
