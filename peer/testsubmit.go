package peer

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// testSubmit asks every site for quotes without placing anything. The jobs get ids from
// the end of the site's range, so that none is that of a job to come.
func (p *Peer) testSubmit(ev event.TestSubmit) {
	if len(ev.Jobs) == 0 {
		p.answer(ev.Asked, view.Refusal{Code: view.BadRequest, Reason: "the question has no jobs; send 1 or more"})
		return
	}
	if refusal, ok := p.refuseQuestion(&ev); ok {
		p.answer(ev.Asked, refusal)
		return
	}
	tests, specs := p.testJobs(&ev)
	r := p.newRound(specs)
	r.asked, r.front, r.tests = ev.Asked, ev.Front, tests
	r.Reach = slices.Repeat([]rounds.Reach{rounds.Everybody}, len(specs))
	p.quoteLocal(r)
	p.askPartners(r)
}

// refuseQuestion says why a question cannot be asked.
func (p *Peer) refuseQuestion(ev *event.TestSubmit) (view.Refusal, bool) {
	if ev.Front && !p.cfg.Policy.DecidesApplications() {
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf(
			"the policy %s of this site weighs no cost against time; ask at a site with the policy iss", p.cfg.Policy.Name)}, true
	}
	return p.refuseJobs(p.admission(), ev.User, ev.Application, ev.Jobs)
}

// testJobs are the jobs of a question, and their rows.
func (p *Peer) testJobs(ev *event.TestSubmit) (tests map[protocol.JobID]*tables.Job, specs []protocol.Spec) {
	desk := p.admission()
	ev.Application, ev.Jobs = desk.Objectives.Weighed(ev.Application, ev.Jobs)
	tests = make(map[protocol.JobID]*tables.Job, len(ev.Jobs))
	last := protocol.NewJobID(p.cfg.Number, protocol.SeqsPerSite-1)
	var a *tables.Application
	if ev.Application != nil {
		a = &tables.Application{Application: row.Application{Application: *ev.Application, ID: last, Submitted: p.now}}
	}
	for i := range ev.Jobs {
		spec := desk.Spec(&ev.Jobs[i], ev.User, last-protocol.JobID(i), p.now)
		j := &tables.Job{Job: row.Job{Spec: spec, Component: broker.NewComponent(&ev.Jobs[i])}, App: a}
		tests[spec.Job] = j
		specs = append(specs, j.InShapes(max(1, len(j.Shapes())))...)
	}
	return tests, specs
}

// answerQuestion tells what the sites quoted and, if that was asked, what choices they
// leave.
func (p *Peer) answerQuestion(r *round) {
	if !r.front {
		p.answer(r.asked, p.quoted(r))
		p.closeRound(r)
		return
	}
	r.frontOf = p.snapshot(r)
	if why := p.noFrontReason(&r.frontOf); why != "" {
		p.answerFront(r, &view.ParetoFront{Reason: clip("the choices could not be found: " + why)})
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
	done, err := step.ResultAs[event.FrontResult](result, err)
	if err != nil {
		p.answerFront(r, &view.ParetoFront{Reason: clip("the choices could not be found: " + err.Error())})
		return
	}
	p.answerFront(r, rounds.FrontView(&r.frontOf, &done.Front))
}

// noFrontReason says why nobody can be asked what choices there are; empty: somebody can.
func (p *Peer) noFrontReason(in *policy.Snapshot) string {
	switch {
	case len(in.Applications) != 1:
		return "the jobs are of several applications; ask about one"
	case !p.cfg.Policy.HasParetoFront() && !p.cfg.Fronts:
		return fmt.Sprintf("the policy %s of this site lays out none", p.cfg.Policy.Name)
	}
	return ""
}

func (p *Peer) answerFront(r *round, front *view.ParetoFront) {
	quoted := p.quoted(r)
	quoted.Front = front
	p.answer(r.asked, quoted)
	p.closeRound(r)
}
