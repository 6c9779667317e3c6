package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The Prologue [IS 4.1] gathers what the choice of a machine needs: what the user wants of
// an application, in which shapes its components may run, and how long each is expected to
// run on which machine, by the history of its runs. The Epilogue [IS 4.3] keeps how they ran.

// entry is one row of a round: a job in one of its shapes.
type entry struct {
	job   *tables.Job
	shape int // index in Component.Shapes; 0 for one that has none
}

// predict states what is expected of the run on a machine: by the executions of the
// component and the Γ model, else by the user's estimate. Nothing is of a plain job, since others
// with its name may be quite another size.
func (p *Peer) predict(e entry, spec *protocol.Spec, site protocol.SiteName, on *protocol.Capacity) {
	spec.ForgetPrediction()
	if !p.cfg.Policy.DecidesApplications() || e.job == nil || !e.job.IsComponent() {
		return
	}
	p.rows.History.Predict(&e.job.Job, e.shape, spec, site, on)
}

// epilogue learns from the run of a component that has ended.
func (p *Peer) epilogue(j *tables.Job) {
	if p.cfg.Policy.DecidesApplications() && j.IsComponent() && p.rows.History.Learn(&j.Job, p.ledger().Capacity(j.Site), p.now) {
		p.rows.SaveExecutions(broker.ComponentOf(&j.Job).Key(j.Site))
	}
}
