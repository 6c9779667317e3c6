package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tuning is the part of a [Config] that may change while the peer runs. The zero
// value of a duration or count means the default, as there.
type Tuning struct {
	Policy     policy.Description
	Initiation policy.Initiation
	Phi        protocol.Duration
	Sigma      protocol.Duration
	Delta      int
	Recheck    int
	Draw       int
	Stay       bool
	Deadline   protocol.Duration
	RoundJobs  int
	Ask        int
	Cycle      protocol.Duration
	MaxQ       int
}

// Tuned is the configuration with another tuning.
func (c Config) Tuned(t Tuning) Config {
	c.Policy, c.Initiation = t.Policy, t.Initiation
	c.Phi, c.Sigma, c.Delta = t.Phi, t.Sigma, t.Delta
	c.Recheck, c.Draw, c.Stay = t.Recheck, t.Draw, t.Stay
	c.Deadline, c.RoundJobs, c.Ask = t.Deadline, t.RoundJobs, t.Ask
	c.Cycle, c.MaxQ = t.Cycle, t.MaxQ
	return c
}

// Tuning is the part of the configuration that may change while the peer runs.
func (c Config) Tuning() Tuning {
	return Tuning{
		Policy: c.Policy, Initiation: c.Initiation,
		Phi: c.Phi, Sigma: c.Sigma, Delta: c.Delta,
		Recheck: c.Recheck, Draw: c.Draw, Stay: c.Stay,
		Deadline: c.Deadline, RoundJobs: c.RoundJobs, Ask: c.Ask,
		Cycle: c.Cycle, MaxQ: c.MaxQ,
	}
}

// retune takes other rules for rounds. What a policy has been asked it still
// decides; everything else goes on by the new rules, and jobs that wait get a
// round by them.
func (p *Peer) retune(ev Retune) {
	cfg := p.cfg.Tuned(ev.Tuning).WithDefaults()
	if err := cfg.validate(); err != nil {
		p.answer(ev.Asked, view.Refusal{Code: view.BadRequest, Reason: err.Error()})
		return
	}
	if cfg.Policy.DecidesApplications() != p.cfg.Policy.DecidesApplications() {
		p.beginAgain()
	}
	before := p.intakeRule()
	p.cfg, p.hint = cfg, nil
	p.intake.Change(before, p.intakeRule(), p.now)
	p.tunings++
	p.timers.Stop(timer{kind: sigmaTimer})
	p.beginSigma()
	p.forgetCycle()
	p.queue.Unpark(-1, gridqueue.Any)
	p.queue.ReleaseAll()
	p.queue.Unblock(gridqueue.Any)
	p.fact(Fact{Kind: Retuned, Site: p.cfg.Site, Text: "policy " + cfg.Policy.Name + ", initiation " + string(cfg.Initiation)})
	p.answer(ev.Asked, view.Done{})
}

// beginAgain gives the jobs of the open round another one, unless the policy has been asked
// already: one that decides about applications wants other rows than one that does not.
func (p *Peer) beginAgain() {
	r := p.open
	if r == nil || r.decided {
		return
	}
	p.closeRound(r)
	for _, spec := range r.specs {
		if j := p.jobs[spec.Job]; j != nil && j.Phase == row.JobInGridQueue {
			p.queue.Put(spec.Job)
		}
	}
}
