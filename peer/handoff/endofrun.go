package handoff

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RunEnd is what the end of a run at its job's origin is to the job.
type RunEnd uint8

// What it can be.
const (
	EndsJob          RunEnd = iota + 1 // it ends the job, or the job is placed again because of it
	PlacedSince                        // a later placement of the job is known, which counts
	MayBePlacedSince                   // the job may have been placed again, by no row here
)

// EndOfRun says what the end of a run in the local queue of its origin is to its job. Here says that this local queue has a later
// placement of the job, there that a partner says that it has one. Otherwise, by rows that may be older than what has become of the
// job, an end counts unless the run may have been ended so that the job is placed again: these rows want that, or it was CANCELLED
// and these rows do not know who wanted that.
func EndOfRun(j *row.Job, r *row.Run, here, there bool) RunEnd {
	again := !j.Cancelling && (j.Requeueing || j.Parted || r.Outcome.State == protocol.Cancelled)
	switch {
	case here:
		return PlacedSince
	case there, r.Restored && again:
		return MayBePlacedSince
	}
	return EndsJob
}
