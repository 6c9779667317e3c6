package row

import (
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Wants are the conditions of the job; zero: it has none.
func (j *Job) Wants() protocol.Conditions {
	if j.Conditions == nil {
		return protocol.Conditions{}
	}
	return *j.Conditions
}

// SetConditions gives the job other conditions. Those that it had are not changed in place: rows that were given out have
// them.
func (j *Job) SetConditions(c protocol.Conditions) {
	j.Conditions = nil
	if c != (protocol.Conditions{}) {
		j.Conditions = &c
	}
}

// SetHold has the job held, or released by an empty hold.
func (j *Job) SetHold(h protocol.Hold) {
	c := j.Wants()
	c.Hold = h
	j.SetConditions(c)
}

// Changed is the job as it is with a change; nil: as it is.
func (j *Job) Changed(c *protocol.Change) Job {
	next, conditions := *j, j.Wants()
	if c != nil {
		c.Apply(&next.Spec, &conditions)
		next.SetConditions(conditions)
	}
	return next
}

// HoldReason is why the job must not be placed at an instant, in the words of Slurm; empty: it may be.
func (j *Job) HoldReason(now protocol.Instant) string {
	switch c := j.Wants(); {
	case c.Hold != "":
		return HoldWord(c.Hold)
	case c.Dependency.NeverReason() != "":
		return view.ReasonDependencyNever
	case !c.Dependency.MetAt(now):
		return view.ReasonDependency
	case c.Begin > now:
		return view.ReasonBeginTime
	}
	return ""
}

// NextRelease is the first instant after now at which something that keeps the job from being placed is over; 0: there is
// none.
func (j *Job) NextRelease(now protocol.Instant) protocol.Instant {
	c := j.Wants()
	next := c.Dependency.Next(now)
	if c.Begin > now && (next == 0 || c.Begin < next) {
		next = c.Begin
	}
	return next
}

// HoldWord is the reason of a job that is held.
func HoldWord(h protocol.Hold) string {
	if h == protocol.HeldByAdmin {
		return view.ReasonHeldByAdmin
	}
	return view.ReasonHeldByUser
}

// LatestStart is the last instant at which the job can start in one of its shapes and end by its deadline, should it take
// its whole time limit; 0: it has no deadline.
func (j *Job) LatestStart() protocol.Instant {
	deadline := j.Wants().Deadline
	if deadline == 0 {
		return 0
	}
	limit := j.Spec.WallTime
	for _, s := range j.Shapes() {
		limit = min(limit, s.WallTime)
	}
	return max(1, deadline.Add(-limit))
}

// DeadlineReason is why a job ends that has not started by [Job.LatestStart].
func (j *Job) DeadlineReason() string {
	return view.Detailed(view.ReasonDeadline, "it had not started in time to end by "+j.Wants().Deadline.Text())
}
