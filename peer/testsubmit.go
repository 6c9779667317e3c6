package peer

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/lineup"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// testSubmit asks every site for quotes without placing anything.
func (p *Peer) testSubmit(ev event.TestSubmit) {
	desk := p.admission()
	if refusal, ok := desk.RefuseQuestion(ev.User, ev.Application, ev.Jobs, ev.Front); ok {
		p.answer(ev.Asked, refusal)
		return
	}
	tests, specs := lineup.Question(desk, &ev, p.now)
	r := p.newRound(specs)
	r.asked, r.front, r.tests = ev.Asked, ev.Front, tests
	r.Reach = slices.Repeat([]rounds.Reach{rounds.AllPartners}, len(specs))
	p.quoteLocal(r)
	p.askPartners(r)
}

// answerQuestion tells what the sites quoted and, if that was asked, what choices they
// leave.
func (p *Peer) answerQuestion(r *round) {
	if !r.front {
		p.answer(r.asked, p.quoted(r, nil))
		p.closeRound(r)
		return
	}
	r.frontOf = p.snapshot(r)
	if why := rounds.NoFrontReason(&r.frontOf, &p.cfg.Policy, p.cfg.Fronts); why != "" {
		p.answerFront(r, &view.ParetoFront{Points: []view.ParetoPoint{}, Reason: clip("the choices could not be found: " + why)})
		return
	}
	p.call(event.ParetoOp{Snapshot: r.frontOf, BuiltIn: !p.cfg.Policy.HasParetoFront()}, findFront{r.ID})
}

// findFront asks what choices the sites leave between cost and time.
type findFront struct{ round protocol.RoundID }

func (c findFront) answered(p *Peer, result event.Result, err error) {
	r := p.rounds[c.round]
	if r == nil {
		return
	}
	done, err := step.ResultAs[event.ParetoResult](result, err)
	if err != nil {
		p.answerFront(r, &view.ParetoFront{Points: []view.ParetoPoint{}, Reason: clip("the choices could not be found: " + err.Error())})
		return
	}
	p.answerFront(r, rounds.FrontView(&r.frontOf, &done.Front))
}

func (p *Peer) answerFront(r *round, front *view.ParetoFront) {
	p.answer(r.asked, p.quoted(r, front))
	p.closeRound(r)
}

func (p *Peer) quoted(r *round, front *view.ParetoFront) view.TestSubmitResult {
	payloads := make([]*protocol.Payload, 0, len(r.tests))
	for i := range r.Specs {
		if j := r.job(p, i); j != nil {
			payloads = append(payloads, j.Files())
		}
	}
	return view.TestSubmitResult{Elsewhere: p.admission().MayLeaveTo(r.Specs, payloads), Jobs: p.reportOf(r).Jobs(), Front: front}
}
