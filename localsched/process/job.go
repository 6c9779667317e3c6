package process

import (
	"cmp"
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/changes"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// state is where a job stands here.
type state uint8

const (
	making    state = iota // its folder is being written
	queued                 // in the engine's queue
	starting               // the engine has started it, its shim not yet
	running                // a shim watches it
	ended                  // there is an outcome
	withdrawn              // it never starts
)

// job is what is kept of a job in memory. The fields above state do not change
// once made is closed; the rest is under the scheduler's lock.
type job struct {
	tag     protocol.Tag
	request protocol.Request
	dir     string
	seq     uint64
	outputs spool.Outputs

	made   chan struct{} // closed when the submission is through
	failed error         // of the submission

	state     state
	planned   bool   // the engine has it
	reason    string // the last one reported for not starting it
	look      uint64 // at the budget, the last at which that held it
	shim      processID
	group     cgroup.Group      // of its processes
	submitted protocol.Instant  // by the wall clock, as it was last set while the job waited
	began     protocol.Duration // when the engine started it, by the steady clock
	launched  protocol.Duration // when its shim did, likewise; 0: none has
	started   protocol.Instant  // when its shim did, by the wall clock of then
	place     string            // of the engine's; empty: its places have no names
	reported  changes.Job
	over      chan struct{} // closed when it has ended or was withdrawn

	uncontained string // how it is not contained as it should be; empty: it is, as far as is known
}

func newJob(tag protocol.Tag, dir string) *job {
	return &job{tag: tag, dir: dir, made: make(chan struct{}), over: make(chan struct{})}
}

// describe takes over what is to be known of a submission.
func (j *job) describe(record jobRecord) {
	j.seq, j.submitted = record.Seq, record.Submitted
	j.request, j.outputs = record.Submission.Spec.Request, record.Outputs(j.dir)
	j.request.Power = cmp.Or(record.Power, j.request.Power)
}

// wait returns when the submission is through, well or not.
func (j *job) wait(ctx context.Context) error {
	select {
	case <-j.made:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *job) id() localsched.LocalID { return localsched.LocalID(spool.FolderOf(j.tag)) }

// engineJob is the job as the engine takes it. It has waited since it was first submitted,
// also after a restart.
func (j *job) engineJob() localsched.Queued {
	return localsched.Queued{Request: j.request, Tag: j.tag, Since: j.submitted, Place: j.place}
}

// change reports the job in a state that is not a last one.
func (j *job) change(state protocol.State, reason string) localsched.Change {
	return localsched.Change{Tag: j.tag, State: state, Reason: reason, Started: j.started}
}
