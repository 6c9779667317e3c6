package powergate

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// state is where a job stands here.
type state uint8

const (
	stateNew        state = iota // it has no record yet
	stateHeld                    // in the engine's queue
	stateReleasing               // the engine has started it, the batch system has not taken it yet
	stateSubmitted               // the batch system has it
	stateEnded                   // there is an outcome
	stateWithdrawn               // it never starts
	stateDiscarding              // Submit did not take it, but its record could not be removed
)

// job is what is kept of a job in memory. Who changes its record or asks the batch system
// about it holds it; the fields from state on are under the gate's lock.
type job struct {
	driver.Job // Since is by the clock as it was last set while the job was held

	association protocol.Association // by the names of the site

	mutex   chan struct{} // takes one
	since   protocol.Instant
	tried   bool   // the batch system may have it
	damaged string // what is wrong with its record

	state    state
	running  bool             // the batch system has started it, as far as is known
	recalled bool             // it must not be given to the batch system again
	refused  bool             // that is how it ended
	until    protocol.Instant // the budget that let it go may be another from then on
	pause    time.Duration    // before the next attempt to give it to the batch system
}

func newJob(tag protocol.Tag) *job {
	j := &job{mutex: make(chan struct{}, 1)}
	j.Tag = tag
	return j
}

// arrived notes since when the job waits, and what it asks for.
func (j *job) arrived(since protocol.Instant, request protocol.Request, association protocol.Association) {
	request.MinTime = 0 // its batch system may lower the limit; the gate plans with all of it
	j.since, j.Since, j.Request, j.association = since, since, request, association
}

// lock waits until no other goroutine is at work on the job.
func (j *job) lock(ctx context.Context) error {
	select {
	case j.mutex <- struct{}{}:
		return nil
	default: // another one is; a caller that does not wait must not leave a new job without one
	}
	select {
	case j.mutex <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *job) unlock() { <-j.mutex }

// id is the gate's own name of the job. That of the batch system comes later, and the
// name must stay.
func (j *job) id() localsched.LocalID { return localsched.LocalID(spool.DirName(j.Tag)) }

// record is the job's, without its submission.
func (j *job) record(status status) record {
	return record{Tag: j.Tag, Status: status, Seq: j.Seq, Since: j.since, Request: j.Request}
}
