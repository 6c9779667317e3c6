package row

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/phase"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Requeueable is a job of this origin that has ended, or an array whose elements all have, for as long as a user may have it
// start again. What it runs is kept under its ID as that of an open one.
type Requeueable struct {
	At    protocol.Instant   `json:"at,omitempty"`    // when the job left the core; 0: it is an array
	Job   *Job               `json:"job,omitempty"`   // as it ended; nil: it is an array. What it points to never changes
	Local localsched.LocalID `json:"local,omitempty"` // the local scheduler's name of its last run
	Array *Array             `json:"array,omitempty"` // nil: it is a job. What it points to never changes
}

// ID is that of the job or the array.
func (r Requeueable) ID() protocol.JobID {
	if r.Array != nil {
		return r.Array.ID()
	}
	return r.Job.Spec.Job
}

// Reopen has a job that has ended be as a new one, but for its epoch and the number of its restarts. That rises even if the job had
// not started, as under Slurm: a site that has closed the job takes it again by that. Unless an administrator reopens it, it stays
// held if one held it and it has not started.
func (j *Job) Reopen(admin bool) {
	j.Spec.Restarts++
	j.Phase = phase.Created
	j.Outcome, j.Ended, j.Reruns = nil, 0, 0
	j.Cancelling, j.CancelledBy, j.CancelsAny = false, "", false
	j.Moves, j.MovedAt, j.Moving = 0, 0, ""
	if admin || j.Started != 0 || j.Wants().Hold != protocol.HeldByAdmin {
		j.SetHold("")
	}
}

func (Requeueable) table() Table { return RequeueableTable }
