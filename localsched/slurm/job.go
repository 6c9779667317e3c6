package slurm

import (
	"context"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// state is where a job stands here.
type state uint8

const (
	making    state = iota // its directory is being made, sbatch being asked
	unsettled              // it has a directory; whether Slurm has it is not known
	queued                 // Slurm has it, no wrapper has claimed it
	running                // a wrapper has claimed it
	ended                  // there is an outcome
	withdrawn              // it never starts
)

// job is what is kept of a job in memory. The first fields do not change once it
// is described; the rest is under the scheduler's lock.
type job struct {
	tag       protocol.Tag
	name      string // in Slurm
	dir       string
	record    spool.Job
	submitted protocol.Instant
	outputs   spool.Outputs

	state     state
	busy      chan struct{} // holds one word: who takes it may work at the job
	tomb      bool          // it was withdrawn before it came
	native    nativeRecord
	since     time.Time // when Slurm acknowledged it
	claim     claim
	suspended bool              // while it runs
	killed    bool              // somebody has asked for its end
	full      bool              // the spool's disk was full while it ran
	limit     protocol.Duration // with which Slurm has it run; 0: not seen
	nodes     string            // that Slurm says it has or had; empty: not seen
	tally     tally
	closed    time.Time // when it was first seen to have ended; its tally has its last reading

	missing  int       // looks at the queue in a row without it
	gone     time.Time // the first of them
	absent   time.Time // since when the history has said that it does not know how it ended; zero: it does not say so
	launched time.Time // when it was first seen with CPUs and without a claim
	retry    time.Time // no earlier is it submitted again
	packing  *packing  // it waits for room for its files; under busy. nil: it does not
	reason   string    // the last one reported while it waited
	failed   string    // with which state and reason Slurm has last ended it before it started; empty: not seen
	reported changefeed.Job
}

func newJob(tag protocol.Tag, name, dir string) *job {
	return &job{tag: tag, name: name, dir: dir, busy: make(chan struct{}, 1)}
}

// describe takes over what is to be known of a submission.
func (j *job) describe(record spool.Job) {
	j.record, j.submitted, j.outputs = record, record.Submitted, record.Outputs(j.dir)
}

// lock waits for exclusive access to the job.
func (j *job) lock(ctx context.Context) error {
	select {
	case j.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryLock is hold without waiting.
func (j *job) tryLock() bool {
	select {
	case j.busy <- struct{}{}:
		return true
	default:
		return false
	}
}

func (j *job) unlock() { <-j.busy }

func (j *job) id() localsched.LocalID {
	return localsched.LocalID(strconv.FormatUint(uint64(j.native.ID), 10))
}

func (j *job) owner() spool.Account { return j.record.Account }

// change reports the job in a state that is not a last one.
func (j *job) change(state protocol.State, reason string) localsched.Change {
	return localsched.Change{Tag: j.tag, State: state, Reason: reason, Started: j.claim.started, TimeLimit: j.changedLimit()}
}

// changedLimit is the time limit that Slurm or an administrator has given the job instead of the one that it asked
// for; 0: neither has.
func (j *job) changedLimit() protocol.Duration {
	if asked := protocol.Duration(minutes(j.record.Submission.Spec.WallTime)) * protocol.Minute; j.limit == asked {
		return 0
	}
	return j.limit
}
