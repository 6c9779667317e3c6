package process

import (
	"cmp"
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// state is where a job stands here.
type state uint8

const (
	making    state = iota // its directory is being written
	queued                 // in the engine's queue
	starting               // the engine has started it, its shim not yet
	running                // a shim watches it
	ended                  // there is an outcome
	withdrawn              // it never starts
)

// job is what is kept of a job in memory. The fields above state do not change
// once made is closed; the rest is under the scheduler's lock.
type job struct {
	driver.Job // Since is by the wall clock, as it was last set while the job waited

	dir     string
	outputs spool.Outputs

	made   chan struct{} // closed when the submission is through
	failed error         // of the submission

	state    state
	shim     processID
	group    cgroup.Group      // of its processes
	began    protocol.Duration // when the engine started it, by the steady clock, as it was found; see Began
	launched protocol.Duration // when its shim did, on the same clock; zero while none has
	started  protocol.Instant  // when its shim did, by the wall clock of then
	over     chan struct{}     // closed when it has ended or was withdrawn

	devices    []Device
	hasDevices bool // it has been given its devices, which may be none

	stopPacking func() // ends the packing of its files, whose shim is gone, after its grace time; nil: none is packed here

	uncontained string // how it is not contained as it should be; empty: it is, as far as is known
}

func newJob(tag protocol.Tag, dir string) *job {
	j := &job{dir: dir, made: make(chan struct{}), over: make(chan struct{})}
	j.Tag = tag
	return j
}

// describe takes over what is to be known of a submission.
func (j *job) describe(record jobRecord) {
	j.Seq, j.Since = record.Seq, record.Submitted
	j.Request, j.outputs = record.Submission.Spec.Request, record.Outputs(j.dir)
	j.Power = cmp.Or(record.Power, j.Power)
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

func (j *job) id() localsched.LocalID { return localsched.LocalID(spool.DirName(j.Tag)) }

// change reports the job in a state that is not a last one.
func (j *job) change(state protocol.State, reason string) localsched.Change {
	return localsched.Change{Tag: j.Tag, State: state, Reason: reason, Started: j.started, TimeLimit: j.Limit}
}
