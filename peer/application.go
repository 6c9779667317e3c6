package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// application is an application whose components have not all ended.
type application struct {
	row.Application

	jobs   []protocol.JobID // those that have not ended, by id
	crowds map[crowdKey]crowd
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

// applicationID names what a job is a component of: itself when it is on its own.
func (j *job) applicationID() protocol.JobID {
	if j.application == nil {
		return j.Spec.Job
	}
	return j.application.ID
}

// join makes a job a component of an application.
func (a *application) join(j *job) {
	j.application = a
	a.jobs = append(a.jobs, j.Spec.Job)
}

// leaveApplication takes an ended component off its application. With its last one that is over.
func (p *Peer) leaveApplication(j *job) {
	a := j.application
	if a == nil {
		return
	}
	j.application = nil
	p.saveApplication(a.ID)
	if len(a.jobs) == 0 {
		delete(p.applications, a.ID)
		p.timers.Stop(timer{kind: limitTimer, job: a.ID})
		return
	}
	if p.hopeless(a) != "" {
		p.after(0, timer{kind: limitTimer, job: a.ID})
	}
}

// placedCost is what the components that have ended cost, and those that are placed are foreseen
// to.
func (p *Peer) placedCost(a *application) (cost protocol.Micro, done protocol.Instant) {
	cost = a.Spent
	for _, id := range a.jobs {
		if f := p.jobs[id].Foreseen; f != nil {
			cost, done = cost.Plus(p.costSoFar(p.jobs[id])), max(done, f.End)
		}
	}
	return cost, done
}
