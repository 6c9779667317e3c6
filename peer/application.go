package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// application is an application whose components have not all ended.
type application struct {
	row.Application

	jobs   []protocol.JobID      // those that have not ended, by id
	groups map[int]*broker.Group // of components that start together, by number
	crowds broker.Crowds
}

// takeApplication enters the application of jobs that are about to be submitted.
func (p *Peer) takeApplication(ev event.Submit) *application {
	if ev.Application == nil {
		return nil
	}
	a := &application{Application: row.Application{
		Application: *ev.Application, ID: protocol.NewJobID(p.cfg.Number, p.site.NextSeq),
		Count: len(ev.Jobs), User: ev.User, Submitted: p.now,
	}}
	p.applications[a.ID] = a
	p.saveApplication(a.ID)
	p.watchLimit(a)
	return a
}

// applicationRow is that of a job's application; nil: it is on its own.
func (j *job) applicationRow() *row.Application {
	if j.application == nil {
		return nil
	}
	return &j.application.Application
}

// followAll has the groups of an application enter their phases.
func (p *Peer) followAll(a *application) {
	for number := range a.groups {
		p.follow(a, number)
	}
}

// join makes a job a component of an application.
func (a *application) join(j *job) {
	j.application = a
	a.jobs = append(a.jobs, j.Spec.Job)
	if !j.Together() || a.groups[j.Component.Together] != nil {
		return
	}
	if a.groups == nil {
		a.groups = map[int]*broker.Group{}
	}
	number := j.Component.Together
	a.groups[number] = &broker.Group{Key: broker.GroupKey{Application: a.ID, Number: number}}
}

// leaveApplication takes an ended component off its application. With its last one that is over.
func (p *Peer) leaveApplication(j *job) {
	a := j.application
	if a == nil {
		return
	}
	j.application = nil
	p.saveApplication(a.ID)
	if j.Together() {
		p.follow(a, j.Component.Together)
	}
	if len(a.jobs) == 0 {
		delete(p.applications, a.ID)
		p.timers.Stop(timer{kind: limitTimer, job: a.ID})
		return
	}
	if p.unreachableReason(a) != "" {
		p.after(0, timer{kind: limitTimer, job: a.ID})
	}
}

// placed is what the components of an application cost that have ended or are placed.
func (p *Peer) placed(a *row.Application) broker.Placed {
	placed := broker.Placed{Cost: a.Spent}
	open := p.applications[a.ID]
	if open == nil { // a question's
		return placed
	}
	for _, id := range open.jobs {
		if f := p.jobs[id].Prediction; f != nil {
			placed.Cost, placed.Done = placed.Cost.Plus(p.costSoFar(p.jobs[id])), max(placed.Done, f.End)
		}
	}
	return placed
}
