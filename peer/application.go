package peer

import (
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Application is what the user of some jobs wants of them together [IS 1, 4.2].
type Application struct {
	Name     string                 `json:"name,omitempty"`
	Beta     int                    `json:"beta_ppm"`           // β
	MaxCost  protocol.Micro         `json:"max_cost_micro"`     // KMAX, in Currency; [protocol.Unlimited]: none
	MaxTime  protocol.Duration      `json:"max_time_ms"`        // TMAX, from the submission on; [protocol.Never]: none
	Waiting  string                 `json:"waiting,omitempty"`  // one of [Config.Waiting]; empty: the site's usual one
	Rates    []protocol.WaitingRate `json:"rates,omitempty"`    // the user's own k_w from the submission on, in Currency; none: by Waiting
	Currency string                 `json:"currency,omitempty"` // of MaxCost and Rates; empty: the site's own

	StartTolerance protocol.Duration `json:"start_tolerance_ms,omitempty"` // how much later than its group a component may start; 0: 30 s
	StartMissed    string            `json:"start_missed,omitempty"`       // [RetryMissed] or [FailMissed]: what becomes of a group of which one did not; empty: RetryMissed
}

// Component is what the origin alone knows of a job [IS 1].
type Component struct {
	Name      string             `json:"name,omitempty"`   // that its executions are kept under; empty: the job's
	Shapes    []Shape            `json:"shapes,omitempty"` // that it may run in, besides that of the Spec
	Behaviour protocol.Behaviour `json:"behaviour"`
	Estimate  protocol.Duration  `json:"estimate_ms,omitempty"` // run time in the Spec's shape, on the CPUs that the wall time is meant for; 0: not known
	Alpha     int                `json:"alpha_ppm"`             // α_k, γ_k, δ_k
	Gamma     int                `json:"gamma_ppm"`
	Delta     int                `json:"delta_ppm"`
	Together  int                `json:"together,omitempty"` // components of an application with one number above 0 start together
}

// Shape is a way to run a moldable component [IS 4.2: p_k].
type Shape struct {
	CPUs     int               `json:"cpus"`
	Nodes    int               `json:"nodes,omitempty"`
	WallTime protocol.Duration `json:"wall_time_ms"`
	Estimate protocol.Duration `json:"estimate_ms,omitempty"` // 0: not known
}

// application is an application whose components have not all ended.
type application struct {
	ApplicationRow

	jobs   []protocol.JobID // those that have not ended, by id
	crowds map[crowdKey]crowd
}

// takeApplication enters the application of jobs that are about to be submitted.
func (p *Peer) takeApplication(ev Submit) *application {
	if ev.Application == nil {
		return nil
	}
	a := &application{ApplicationRow: ApplicationRow{
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
		p.timers.stop(timer{kind: limitTimer, job: a.ID})
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
