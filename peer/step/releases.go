package step

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Releases keeps quotes and reservations behind the cancellations of reservations that were called for
// before them, so that the local scheduler does not count as taken what is about to be free. The zero
// value has none. A cancellation that hangs is not waited for longer than MaxReleaseWait: a local
// scheduler that hangs in one call may still answer others.
type Releases struct {
	// order has the cancellations that are not answered, the first one first, and between and after
	// them the calls that wait for those before them.
	order []event.Call
	// failures counts the failures of the cancellation of a reservation that the local scheduler still has.
	failures map[protocol.Tag]int
}

// MaxReleaseWait is how long a cancellation is waited for.
const MaxReleaseWait = 2 * protocol.Second

// Issue takes a new call, and says whether the shell makes it now. One that must wait comes out of
// [Releases.Answered] or [Releases.TimedOut] later.
func (r *Releases) Issue(call event.Call) bool {
	switch call.Op.(type) { //nolint:gochecksumtype // all others neither free CPUs nor look for free ones
	case event.CancelReservationOp:
		r.order = append(r.order, call)
	case event.QuoteOp, event.ReserveOp:
		if len(r.order) > 0 {
			r.order = append(r.order, call)
			return false
		}
	}
	return true
}

// Answered takes that a call was answered: the calls that need not wait any more, and whether no
// cancellation is under way any more of the reservation that the call was about.
func (r *Releases) Answered(id event.CallID) (over bool, tag protocol.Tag, next []event.Call) {
	at := slices.IndexFunc(r.order, func(c event.Call) bool { return c.ID == id })
	if at < 0 {
		return false, tag, nil
	}
	tag, over = cancels(r.order[at])
	r.order = slices.Delete(r.order, at, at+1)
	return over && !slices.ContainsFunc(r.order, cancelsOf(tag)), tag, r.next()
}

// TimedOut ends the wait for the cancellation of a reservation: the calls that need not wait any more.
func (r *Releases) TimedOut(tag protocol.Tag) []event.Call {
	r.order = slices.DeleteFunc(r.order, cancelsOf(tag))
	return r.next()
}

// Len counts the cancellations that are not answered and the calls that wait for them.
func (r *Releases) Len() int { return len(r.order) }

// next takes out the calls before which there is no cancellation.
func (r *Releases) next() []event.Call {
	n := slices.IndexFunc(r.order, func(c event.Call) bool { _, ok := cancels(c); return ok })
	if n < 0 {
		n = len(r.order)
	}
	calls := slices.Clone(r.order[:n])
	r.order = slices.Delete(r.order, 0, n)
	return calls
}

// cancels says which reservation a call cancels, if it does.
func cancels(c event.Call) (tag protocol.Tag, ok bool) {
	op, ok := c.Op.(event.CancelReservationOp)
	return op.Tag, ok
}

func cancelsOf(tag protocol.Tag) func(event.Call) bool {
	return func(c event.Call) bool {
		of, ok := cancels(c)
		return ok && of == tag
	}
}

// maxReleaseTries is how often the local scheduler is asked to cancel a reservation: for about ten minutes.
const maxReleaseTries = 20

// Failed counts a failure of the cancellation of a reservation, and says how many came before it, whether
// the local scheduler is asked again, and what to report; empty: nothing.
func (r *Releases) Failed(tag protocol.Tag, err error) (before int, again bool, report string) {
	if r.failures == nil {
		r.failures = map[protocol.Tag]int{}
	}
	before = r.failures[tag]
	r.failures[tag]++
	switch {
	case before+1 >= maxReleaseTries:
		r.Settle(tag)
		return before, false, fmt.Sprintf("release: %v; given up; the room ends with the time that was asked for", err)
	case before == 0:
		report = fmt.Sprintf("release: %v; asked again", err)
	}
	return before, true, report
}

// Settle forgets the failures of a cancellation: the reservation is cancelled, or its job has come.
func (r *Releases) Settle(tag protocol.Tag) { delete(r.failures, tag) }

// Unsettled counts the reservations whose cancellation has failed so far.
func (r *Releases) Unsettled() int { return len(r.failures) }
