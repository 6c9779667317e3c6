package row

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RunPhase is where a placement in the local queue is.
type RunPhase string

// The phases of a run.
const (
	RunSubmitting RunPhase = "submitting" // a submission may have been made
	RunQueued     RunPhase = "queued"
	RunRunning    RunPhase = "running"
	RunEnded      RunPhase = "ended" // the outcome is here until the origin has it
)

// Run is a placement of a job in the local queue.
type Run struct { //nolint:recvcheck // the core moves it, and gives it out by value
	Tag     protocol.Tag       `json:"tag"`
	Phase   RunPhase           `json:"phase"`
	Local   localsched.LocalID `json:"local,omitempty"`
	Account string             `json:"account,omitempty"`

	Association protocol.Association `json:"association,omitzero"` // of the job, by its names at this site

	Since          protocol.Instant  `json:"since"` // of the commit
	Started        protocol.Instant  `json:"started,omitempty"`
	Ended          protocol.Instant  `json:"ended,omitempty"`
	TimeLimit      protocol.Duration `json:"time_limit_ms,omitempty"` // with which it runs; 0: the one that it asked for
	Seq            uint32            `json:"seq"`                     // of the last status to the origin
	Acked          uint32            `json:"acked,omitempty"`         // by the origin
	Reason         string            `json:"reason,omitempty"`
	Returned       string            `json:"returned,omitempty"`  // why this site does not start it and gives it back; empty: it does not
	Withdraw       bool              `json:"withdraw,omitempty"`  // it is to leave the local queue, unless it has started
	Kill           bool              `json:"kill,omitempty"`      // or ended
	Cancelled      string            `json:"cancelled,omitempty"` // why, of a guest that its account here wants ended; empty: it does not
	OperatorReason string            `json:"operator_reason,omitempty"`
	Restored       bool              `json:"restored,omitempty"` // the row is older than what may have become of it
	Copied         bool              `json:"copied,omitempty"`   // and the local queue was copied with it
	Outcome        *protocol.Outcome `json:"outcome,omitempty"`
}

// CompareTags orders placements by their jobs, and those of one job by their epochs.
func CompareTags(a, b protocol.Tag) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Epoch, b.Epoch))
}

// Over is when a run was over that has ended.
func (r *Run) Over() protocol.Instant {
	if r.Ended == 0 && r.Started != 0 { // a row of an earlier version
		return r.Started.Add(r.Outcome.Ran)
	}
	return r.Ended
}

func (Run) table() Table { return RunTable }
