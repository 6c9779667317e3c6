package engine

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Policy chooses which queued jobs start. A policy keeps nothing between passes:
// what it does depends on the [Floor] alone, so that the same policy serves the
// live machine and plans.
type Policy interface {
	// Compare orders the queue. Jobs that compare equal stay in the order of
	// submission.
	Compare(a, b Waiting) int
	// Pass starts every job that may start now. The engine makes a pass after
	// each submission, withdrawal and end of a job. The [Opening] that it returns
	// is read only when Lookup is true.
	Pass(f *Floor) Opening
	// Lookup makes two promises for machines whose units are alike. A job that is
	// last in the queue changes nothing for the others while it waits, and starts
	// in the first pass whose Opening admits it. A pass that follows another with
	// nothing changed, at the same time or later but no later than any running
	// job's estimated end, starts nothing and leaves the same Opening. All quotes
	// are then lookups in one plan; without Lookup, each job is planned alone.
	Lookup() bool
}

// Opening is what a pass leaves to a job that would come next, at the end of the
// queue.
type Opening struct {
	Free   int              // units free now
	Extra  int              // units that may be used for any time
	Shadow protocol.Instant // until then all free units may be used
}

// Open is the opening of a machine on which nobody waits.
func Open(free int) Opening { return Opening{Free: free, Extra: free, Shadow: lastInstant} }

// Admits says whether a job may start now.
func (o Opening) Admits(now protocol.Instant, units int, time protocol.Duration) bool {
	return o.admits(o.Shadow.Sub(now), units, time)
}

// admits is Admits with the time left until the shadow.
func (o Opening) admits(window protocol.Duration, units int, time protocol.Duration) bool {
	return units <= o.Free && (units <= o.Extra || time <= window)
}

// lastInstant is the end of time: the end of jobs without one, the start of jobs
// that never start.
const lastInstant protocol.Instant = math.MaxInt64
