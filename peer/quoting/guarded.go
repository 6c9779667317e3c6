package quoting

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxGuarded bounds the shapes of jobs in a guarded question: the local scheduler plans
// its whole queue again for each of them.
const maxGuarded = 256

// Guarded are the shapes of the jobs in a question that asks whom they would delay; nil: it does not
// ask that.
type Guarded struct{ shapes []protocol.Request }

// Reserve says whether the question has a place for the job, and gives it that. Jobs of one shape
// share a place.
func (g *Guarded) Reserve(r protocol.Request) bool {
	r.Job = 0
	switch {
	case g == nil || slices.ContainsFunc(g.shapes, r.Equal):
		return true
	case len(g.shapes) == maxGuarded:
		return false
	}
	g.shapes = append(g.shapes, r)
	return true
}

// GuardedReason is why a job without a place is declined.
const GuardedReason = "asked about too many jobs at once while [guest_limits] max_owner_delay is on"

// DelayReason says why a quoted job would delay one of a local user by more than the limit; empty:
// it would not. With the limit 0 that is not looked at.
func DelayReason(q *protocol.Quote, limit protocol.Duration) string {
	if limit == 0 || q.Declined != "" || q.Delay <= limit {
		return ""
	}
	return fmt.Sprintf("would delay a waiting job of this site by %s, it allows %s", q.Delay.Text(), limit.Text())
}
