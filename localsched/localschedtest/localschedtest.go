// Package localschedtest is what every local scheduler and every engine must do, as
// suites of cases: [Cases] for a [localsched.Scheduler], with real tiny jobs in real
// time, and [EngineCases] for a [localsched.Engine], under a time of their own.
//
// The suite for schedulers needs the machine for itself: it fills it, and other
// jobs in the queue make it wait. Whatever it submits ends by itself after some
// time, also if the scheduler can neither kill nor withdraw.
package localschedtest

import (
	"context"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Target is the scheduler under test.
type Target struct {
	// Open opens the scheduler. One that is an [io.Closer] is closed before it is
	// opened again; that is a restart: what it has of jobs is kept. There is one open
	// scheduler at a time.
	Open func(ctx context.Context) (localsched.Scheduler, error)
	// Account is the local account that runs the jobs.
	Account string
	// Dir is a directory of the account, with an absolute path, where jobs can write
	// wherever they run. What the suite makes there it removes.
	Dir string
	// Timeout is how long to wait for what must happen on a machine with room: a
	// start, an end, news of them. It bounds failures alone: ample for a busy machine, it
	// makes no case slower. 0: [DefaultTimeout].
	Timeout time.Duration
	// Limit is the shortest wall-time limit that the batch system keeps. 0: limits
	// are not tested, as they take minutes.
	Limit protocol.Duration
	// Restart says that running jobs go on while the scheduler is closed.
	Restart bool
}

// DefaultTimeout suits a scheduler that starts processes on this machine.
const DefaultTimeout = 10 * time.Second

// Test runs the suite for schedulers as subtests.
func Test(t *testing.T, target Target) {
	t.Helper()
	conformance.Test(t, Cases(target))
}

// Cases are the suite for schedulers. Each opens the scheduler for itself, and
// clears its jobs away. They must be run one after another.
func Cases(target Target) []conformance.Case {
	if target.Timeout <= 0 {
		target.Timeout = DefaultTimeout
	}
	b := &bench{target: target, next: uint64(time.Now().UnixMilli())}
	var cases []conformance.Case
	for _, r := range rules() {
		cases = append(cases, conformance.Case{
			Name: r.name, Limit: 10*target.Timeout + target.Limit.Std(),
			Run: func(ctx context.Context) error { return b.run(ctx, r.holds) },
		})
	}
	return cases
}

// rule is what a case checks.
type rule struct {
	name  string
	holds func(ctx context.Context, s *session) error
}

func rules() []rule {
	return []rule{
		{"the description is sound and stays the same", descriptionStays},
		{"the load is sane", loadIsSane},
		{"the load counts what runs and what waits", loadCounts},

		{"quotes are one for each job, in order", quotesInOrder},
		{"what never fits is declined", neverFitsIsDeclined},
		{"no jobs get no quotes", noQuotes},
		{"quotes change nothing", quotesChangeNothing},
		{"jobs ahead count", aheadCounts},
		{"a promised job that has come counts once", aheadCountsOnce},
		{"ten thousand quotes in one call", manyQuotes},
		{"delays of other jobs are reported", delaysReported},
		{"accounts of jobs are used or declined", associationsUsed},

		{"a job runs to its end", runsToItsEnd},
		{"submit says the same when repeated", submitRepeated},
		{"one job submitted by many at once runs once", submitTogether},
		{"many jobs submitted at once run once each", submitMany},
		{"submit refuses what never fits", submitRefuses},
		{"a submission that was given up leaves no surprise", givenUp},
		{"two epochs of a job are two jobs", twoEpochs},
		{"a job is found by its tag until it is forgotten", foundByTag},

		{"a withdrawn job never runs", withdrawnNeverRuns},
		{"a job that runs is not withdrawn", withdrawTooLate},
		{"a job that never came cannot be withdrawn, or never comes", withdrawUnknown},
		{"withdraw against start: each job runs or is withdrawn", withdrawRaces},

		{"a killed job is cancelled", killCancels},
		{"killing a job that has ended is no error", killEnded},
		{"killing a job that never came says that it is unknown", killUnknown},
		{"exit codes and signals are reported", endsAreReported},
		{"a job is ended at its time limit", endedAtLimit},

		{"changes come in order, each once", changesInOrder},
		{"watching from the beginning tells all again", watchFromBeginning},
		{"watch waits for news", watchWaits},
		{"watch wakes when something happens", watchWakes},

		{"a guest's output is fetched by pieces", guestOutput},
		{"a local job's output is at its path", localOutput},
		{"environment and arguments arrive", environmentArrives},
		{"output of an unknown job is unknown", fetchUnknown},
		{"forget drops a job", forgetDrops},

		{"held room is kept for its job", reservationIsKept},
		{"held room that is given up is free", reservationIsCancelled},
		{"no room is held for what never fits", oversizedReservationIsRefused},

		{"jobs that wait or run survive a restart", surviveRestart},
		{"held room is kept over a restart", reservationSurvives},
		{"jobs that ended meanwhile are reported after a restart", reportedAfterRestart},
	}
}
