package peer

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A quote or a hold that is asked for after room was given up waits for the answer to that, so
// that the local scheduler does not count the room as taken. It does not wait for long: one
// that hangs when it is to give room up may still quote.

// releasePatience is how long a release is waited for.
const releasePatience = 2 * protocol.Second

// issue has the shell make a call, at once or when the releases before it are over.
func (p *Peer) issue(call event.Call) {
	switch op := call.Op.(type) { //nolint:gochecksumtype // all others neither give room up nor look for it
	case event.CancelReservationOp:
		p.roomOrder = append(p.roomOrder, call)
		p.after(releasePatience, patienceTimerOf(op.Tag))
	case event.QuoteOp, event.ReserveOp:
		if len(p.roomOrder) > 0 {
			p.roomOrder = append(p.roomOrder, call)
			return
		}
	}
	p.out.Calls = append(p.out.Calls, call)
}

// callOver has nobody wait any longer for a call that was answered, if it is a release.
func (p *Peer) callOver(id event.CallID) {
	at := slices.IndexFunc(p.roomOrder, func(c event.Call) bool { return c.ID == id })
	if at < 0 {
		return
	}
	tag, _ := releases(p.roomOrder[at])
	p.roomOrder = slices.Delete(p.roomOrder, at, at+1)
	if !slices.ContainsFunc(p.roomOrder, releasesRoomOf(tag)) {
		p.timers.Stop(patienceTimerOf(tag))
	}
	p.issueWaiting()
}

// endPatience has nobody wait any longer for the room of a placement.
func (p *Peer) endPatience(tag protocol.Tag) {
	p.roomOrder = slices.DeleteFunc(p.roomOrder, releasesRoomOf(tag))
	p.issueWaiting()
}

// issueWaiting makes the calls that wait for no release any more.
func (p *Peer) issueWaiting() {
	n := slices.IndexFunc(p.roomOrder, func(c event.Call) bool { _, ok := releases(c); return ok })
	if n < 0 {
		n = len(p.roomOrder)
	}
	p.out.Calls = append(p.out.Calls, p.roomOrder[:n]...)
	p.roomOrder = slices.Delete(p.roomOrder, 0, n)
}

// releases says whose room a call gives up, if it does.
func releases(c event.Call) (tag protocol.Tag, ok bool) {
	op, ok := c.Op.(event.CancelReservationOp)
	return op.Tag, ok
}

func releasesRoomOf(tag protocol.Tag) func(event.Call) bool {
	return func(c event.Call) bool {
		of, ok := releases(c)
		return ok && of == tag
	}
}

func patienceTimerOf(tag protocol.Tag) timer {
	return timer{kind: patienceTimer, job: tag.Job, epoch: tag.Epoch}
}
