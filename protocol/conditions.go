package protocol

import (
	"errors"
	"fmt"
	"slices"
)

// Hold says who keeps a pending job from starting.
type Hold string

// The holders of a job; an empty Hold is none.
const (
	HeldByUser  Hold = "user"
	HeldByAdmin Hold = "admin" // the user cannot release it
)

// Conditions are what a job waits for in the queues of its origin, which alone has them. The zero Conditions are none.
type Conditions struct {
	Hold     Hold    `json:"hold,omitempty"`        // empty: the job is not held
	Begin    Instant `json:"begin_ms,omitempty"`    // the job does not start before; 0: it may start at once
	Deadline Instant `json:"deadline_ms,omitempty"` // the job is cancelled if it cannot end by then; 0: there is none

	Priority int64 `json:"priority,omitempty"` // that an administrator has given the job in place of the one which is worked out; 0: none

	Dependency *Dependency `json:"dependency,omitempty"` // on other jobs; nil: it waits for none. What it points to never changes
}

// MaxPriority is the highest priority that an administrator can give a job: Slurm's TOP.
const MaxPriority = 1<<32 - 3

// check says what is wrong with the conditions of a job that a user submits, if anything.
func (c *Conditions) check() error {
	switch {
	case c.Hold != "" && c.Hold != HeldByUser:
		return fmt.Errorf("the job is held by %.20q; a user submits it held by %q", string(c.Hold), string(HeldByUser))
	case c.Begin < 0 || c.Deadline < 0:
		return fmt.Errorf("the job begins at %d and has the deadline %d; give instants in milliseconds since 1970, or 0", c.Begin, c.Deadline)
	case c.Deadline != 0 && c.Deadline <= c.Begin:
		return fmt.Errorf("the job's deadline, %s, is not after its begin, %s", c.Deadline.Text(), c.Begin.Text())
	case c.Priority < 0 || c.Priority > MaxPriority:
		return fmt.Errorf("the job has the priority %d; give 1 to %d, or 0 for the one that is worked out", c.Priority, int64(MaxPriority))
	}
	if c.Dependency != nil && slices.ContainsFunc(c.Dependency.Terms, func(t DependencyTerm) bool { return !t.Open() || t.MetFor != nil || t.NeverFor != nil }) {
		return errors.New("the job's dependency has met_ms, never, met_for or never_for, which its origin sets; omit them")
	}
	return c.Dependency.Check()
}
