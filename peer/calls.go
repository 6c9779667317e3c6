package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/step"
)

// pending is a [event.Call] that is not answered yet: what is done with its answer. It is data: it
// names what it is about and points at nothing of the peer's, so that when the answer comes it is
// found out whether that has gone meanwhile, or is another of the same name. Each kind stands beside
// what makes the call.
type pending interface {
	answered(p *Peer, result event.Result, err error)
}

// call makes a call, at once or when the cancellations of reservations before it are over; then goes on
// when it is answered.
func (p *Peer) call(op event.Op, then pending) {
	call := event.Call{ID: p.calls.Open(then), Op: op}
	if cancel, ok := op.(event.CancelReservationOp); ok {
		p.after(step.MaxReleaseWait, due.OfTag(due.ReleaseWaitTimer, cancel.Tag))
	}
	if p.releases.Issue(call) {
		p.out.Calls = append(p.out.Calls, call)
	}
}

func (p *Peer) callDone(ev event.CallDone) {
	then, ok := p.calls.Close(ev.ID)
	if !ok {
		return
	}
	then.answered(p, ev.Result, ev.Err)
	over, tag, next := p.releases.Answered(ev.ID)
	if over {
		p.timers.Stop(due.OfTag(due.ReleaseWaitTimer, tag))
	}
	p.out.Calls = append(p.out.Calls, next...)
}
