package engine

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Policy chooses which queued jobs start. A policy keeps nothing between passes:
// what it does depends on the [ClusterState] alone, so that the same policy serves the
// live machine and plans.
type Policy interface {
	// Rank orders the queue, the lowest first. Jobs of equal rank stand in the
	// order of submission.
	Rank(w PendingJob) int64
	// Pass starts every job that may start now. The engine makes a pass after
	// each submission, withdrawal and end of a job, and when [ClusterState.Wake] is due.
	// The [BackfillWindow] that it returns is read only when Quotes is [PlanLookup].
	Pass(f *ClusterState) BackfillWindow
	// PlanMode says how a newcomer's start is found.
	PlanMode() PlanMode
}

// Overtaker is a policy that looks at its queue in a second order as well.
type Overtaker interface {
	// Overtake orders the jobs that may overtake, as Rank orders the queue.
	Overtake(w PendingJob) int64
}

// PlanMode says what a policy promises to plans.
type PlanMode int

const (
	// PlanSimulate promises nothing: every newcomer is planned in a future of its own.
	PlanSimulate PlanMode = iota
	// PlanLookup promises for machines whose units are alike: a newcomer changes
	// nothing for the others while it waits, and starts in the first pass that
	// admits it by its last Opening or by one offered on the way. A pass that
	// follows another with nothing changed, at the same time or later but no later
	// than any running job's estimated end, starts nothing and leaves the same
	// Opening. All quotes are then lookups in one plan.
	PlanLookup
	// PlanInOrder promises that jobs start in the order of the queue, each as soon as
	// it fits, so that those behind a newcomer do not matter to it.
	PlanInOrder
	// PlanReserved promises that every pass leaves each waiting job a reserved start
	// by [ClusterState.ReserveAll], which it keeps while the floor is firm.
	PlanReserved
)

// BackfillWindow is what a pass leaves to a job that would come next.
type BackfillWindow struct {
	Free   int              // units free now
	Extra  int              // units that may be used for any time
	Shadow protocol.Instant // until then all free units may be used
}

// Open is the backfill window of a machine without pending jobs.
func Open(free int) BackfillWindow {
	return BackfillWindow{Free: free, Extra: free, Shadow: lastInstant}
}

// Admits reports whether a job may start now.
func (o BackfillWindow) Admits(now protocol.Instant, units int, time protocol.Duration) bool {
	return units <= o.Free && (units <= o.Extra || time <= o.Shadow.Sub(now))
}

// without is the opening after a job that it admitted has started.
func (o BackfillWindow) without(now protocol.Instant, units int, time protocol.Duration) BackfillWindow {
	o.Free -= units
	if now.Add(time) > o.Shadow {
		o.Extra -= units
	}
	return o
}

// lastInstant is the end of time: the end of jobs without one, the start of jobs
// that never start.
const lastInstant protocol.Instant = math.MaxInt64
