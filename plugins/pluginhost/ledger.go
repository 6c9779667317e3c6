package pluginhost

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// engineAudit is what a host knows of an engine's jobs, to check what the engine says. A job
// that has ended or was withdrawn is not in it.
type engineAudit struct {
	now  protocol.Instant // the latest that was passed to the engine
	wake protocol.Instant // what it answered last, unless it was ticked since; 0: none
	jobs map[protocol.Tag]phase
}

// phase is how far a job is.
type phase uint8

const (
	waits phase = iota + 1
	runs
	killed // and not reported as finished
)

func newLedger() *engineAudit { return &engineAudit{jobs: map[protocol.Tag]phase{}} }

// check says what is wrong with what a driver must do at an instant, if anything, and
// takes the jobs on from there.
func (l *engineAudit) check(now protocol.Instant, a localsched.Actions) error {
	l.now = max(l.now, now)
	for i, tag := range a.Starts {
		if l.jobs[tag] != waits {
			return fmt.Errorf("starts[%d]: job %v is not in the queue", i, tag)
		}
		l.jobs[tag] = runs
	}
	for i, tag := range a.Kills {
		if l.jobs[tag] != runs {
			return fmt.Errorf("kills[%d]: job %v does not run, or is killed already", i, tag)
		}
		l.jobs[tag] = killed
	}
	// A host that makes other calls before the Tick that is due gets the same wake time again.
	overdue := l.wake != 0 && a.Wake >= l.wake
	if a.Wake != 0 && a.Wake < l.now && !overdue {
		return fmt.Errorf("wake: %d is before now, %d; 0 says that nothing is to come", a.Wake, l.now)
	}
	l.wake = a.Wake
	return nil
}

// checkPlanned says what is wrong with a plan made at an instant, if anything.
func (l *engineAudit) checkPlanned(now protocol.Instant, planned []localsched.Planned) error {
	now = max(now, l.now)
	for i, one := range planned {
		if one.Declined == "" && one.Start < now {
			return fmt.Errorf("start[%d]: %d is before now, %d", i, one.Start, now)
		}
	}
	return nil
}
