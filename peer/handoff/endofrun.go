package handoff

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RunEnd is what the end of a run is to its job.
type RunEnd uint8

// What it can be.
const (
	EndsJob          RunEnd = iota + 1 // it ends the job, or the job is placed again because of it
	PlacedSince                        // a later placement of the job is known, which counts
	MayBePlacedSince                   // the job may have been placed again, by no row here
)

// EndOfRun says what the end of the run that is the latest one of a job by the rows of its origin is to the job. Restored says that
// these rows may be older than what has become of it, here that the local queue of the origin has a later placement, there that a
// partner says that it has one. By restored rows an end counts unless the run may have been ended so that the job is placed again:
// these rows want that, or it was CANCELLED and these rows do not know who wanted that.
func EndOfRun(j *row.Job, state protocol.State, restored, here, there bool) RunEnd {
	again := !j.Cancelling && (j.Requeueing || j.Parted || state == protocol.Cancelled)
	switch {
	case here:
		return PlacedSince
	case restored && (there || again):
		return MayBePlacedSince
	}
	return EndsJob
}
