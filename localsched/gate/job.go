package gate

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// state is where a job stands here.
type state uint8

const (
	making    state = iota // it has no record yet
	held                   // in the engine's queue
	leaving                // the engine has started it, the batch system has not taken it yet
	out                    // the batch system has it
	ended                  // there is an outcome
	withdrawn              // it never starts
	unwanted               // Submit did not take it, but its record could not be removed
)

// job is what is kept of a job in memory. Who changes its record or asks the batch system
// about it holds it; the fields from state on are under the gate's lock.
type job struct {
	tag     protocol.Tag
	holder  chan struct{} // takes one
	seq     uint64
	since   protocol.Instant
	request protocol.Request
	tried   bool   // the batch system may have it
	damaged string // what is wrong with its record

	state    state
	planned  bool              // the engine has it
	began    protocol.Duration // when the engine started it, by the steady clock
	moved    protocol.Duration // by which the clock was set while it was held
	running  bool              // the batch system has started it, as far as is known
	recalled bool              // it must not be given to the batch system again
	refused  bool              // that is how it ended
	until    protocol.Instant  // the budget that let it go may be another from then on
	pause    time.Duration     // before the next attempt to give it to the batch system
	look     uint64            // at the budget, the last at which that held it
}

func newJob(tag protocol.Tag) *job { return &job{tag: tag, holder: make(chan struct{}, 1)} }

// hold waits until nobody else is at work on the job.
func (j *job) hold(ctx context.Context) error {
	select {
	case j.holder <- struct{}{}:
		return nil
	default: // somebody is; who does not wait must not leave a new job to nobody
	}
	select {
	case j.holder <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *job) release() { <-j.holder }

// id is the gate's own name of the job. That of the batch system comes later, and the
// name must stay.
func (j *job) id() localsched.LocalID { return localsched.LocalID(spool.FolderOf(j.tag)) }

func (j *job) engineJob() localsched.Queued {
	return localsched.Queued{Request: j.request, Tag: j.tag, Since: j.since.Add(j.moved)}
}

// record is the job's, without its submission.
func (j *job) record(status status) record {
	return record{Tag: j.tag, Status: status, Seq: j.seq, Since: j.since, Request: j.request}
}
