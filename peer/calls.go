package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
)

// pending is a [event.Call] that is not answered yet: what is done with its answer. It is data: it
// names what it is about and points at nothing of the peer's, so that when the answer comes it is
// found out whether that has gone meanwhile, or is another of the same name. The set is closed.
//
//sumtype:decl
type pending interface {
	pending()
	answered(p *Peer, result event.Result, err error)
}

// All that may be pending.
func (submitRun) pending()     {} // runs.go
func (findRun) pending()       {}
func (withdrawRun) pending()   {}
func (killRun) pending()       {}
func (forgetRun) pending()     {}
func (verifyRun) pending()     {} // recover.go
func (takeOutRun) pending()    {}
func (withdrawAside) pending() {}
func (endPlacement) pending()  {} // operator.go
func (killPlacement) pending() {}
func (quoteHome) pending()     {} // round.go
func (decideRound) pending()   {} // decide.go
func (decideInStead) pending() {}
func (findFront) pending()     {} // question.go
func (quotePartner) pending()  {} // quotes.go
func (marginalWait) pending()  {}
func (weighOffer) pending()    {} // target.go
func (reserveHome) pending()   {} // together.go
func (reserveGuest) pending()  {}
func (releaseRoom) pending()   {}
func (watchQueue) pending()    {} // watch.go
func (collectOutput) pending() {} // collect.go
func (discardOutput) pending() {} // cancel.go
func (learnLoad) pending()     {} // restore.go
func (checkLoad) pending()     {} // initiation.go
func (askPrices) pending()     {} // energy.go

// instance tells those of one name apart: a call may be answered when what it was about has gone
// and another one has its name. Those of the rows that a life begins with have none, 0.
type instance uint64

func (p *Peer) nextInstance() instance {
	p.lastInstance++
	return p.lastInstance
}

// call makes a call; then goes on when it is answered.
func (p *Peer) call(op event.Op, then pending) {
	p.lastCall++
	p.calls[p.lastCall] = then
	p.issue(event.Call{ID: p.lastCall, Op: op})
}

func (p *Peer) callDone(ev event.CallDone) {
	then := p.calls[ev.ID]
	if then == nil {
		return // answered already, or asked in an earlier life
	}
	delete(p.calls, ev.ID)
	then.answered(p, ev.Result, ev.Err)
	p.callOver(ev.ID)
}

// resultAs reads a call's answer. An answer of the wrong kind is an error of the
// shell, and counts as no answer.
func resultAs[R event.Result](result event.Result, err error) (R, error) {
	var none R
	if err != nil {
		return none, err
	}
	r, ok := result.(R)
	if !ok {
		return none, fmt.Errorf("the call was answered with %T instead of %T", result, none)
	}
	return r, nil
}
