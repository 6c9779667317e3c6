package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/ledger"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// money is the currency that this site calculates in.
func (p *Peer) money() pricing.Money {
	return pricing.Money{Own: p.currency(), Exchange: p.cfg.Exchange}
}

// currency is the site's own: that of its electricity where it is not configured.
func (p *Peer) currency() string { return cmp.Or(p.cfg.Currency, p.prices.Currency()) }

// ledger is the accounts of the site.
func (p *Peer) ledger() ledger.Ledger {
	return ledger.Ledger{
		Name: p.cfg.Site, Rows: &p.rows, Site: p.site, Partners: p.partners, Drawing: &p.drawing, Desk: p.desk(), Money: p.money(), Now: p.now,
	}
}

// objectives is what this site makes of those of applications now.
func (p *Peer) objectives() *broker.Objectives {
	return &broker.Objectives{
		Policy: &p.cfg.Policy, DefaultWeights: p.cfg.DefaultWeights, WaitingCosts: p.cfg.WaitingCosts, Money: p.money(), Margin: p.cfg.Margin,
	}
}

// declineUnknownCurrency declines a quote whose currency this site cannot convert, for policies that
// weigh money.
func (p *Peer) declineUnknownCurrency(q *protocol.Quote) {
	if !p.cfg.Policy.DecidesApplications() {
		return
	}
	if why := p.money().Unreadable(q); why != "" {
		*q = protocol.Quote{Job: q.Job, Declined: clip(why)}
	}
}

// addObjectives tells a policy that decides about applications what users want, and the parts of
// prices.
func (p *Peer) addObjectives(in *policy.Snapshot, r *round, answers []*rounds.Ask) {
	rows := make([]broker.Asked, len(r.Specs))
	for i := range rows {
		if j := r.job(p, i); j != nil {
			rows[i] = broker.Asked{Job: &j.Job, App: j.ApplicationRow()}
		} else {
			rows[i] = broker.Asked{Job: &row.Job{Spec: r.Specs[i]}, Gone: true}
		}
	}
	p.objectives().Describe(in, rows, p.ledger().Placed, p.now)
	for i := range r.Specs {
		for _, a := range answers {
			broker.AddMoney(in, r.Money(p.money(), i, a))
		}
	}
}

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
