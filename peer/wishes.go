package peer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// refuseWishes says all of a user's wishes that cannot be granted here.
func (p *Peer) refuseWishes(a *protocol.Application, jobs []protocol.Job) string {
	if a == nil {
		return ""
	}
	if !p.cfg.Policy.DecidesApplications() {
		return fmt.Sprintf("the policy %s of this site looks at no objectives, limits or groups; "+
			"leave them out, or submit at a site with the policy iss", p.cfg.Policy.Name)
	}
	var foreign, curve string
	if _, err := p.money().Convert(1, a.Currency); err != nil {
		foreign = err.Error()
	}
	if _, ok := p.cfg.Waiting[a.Waiting]; a.Waiting != "" && !ok {
		curve = fmt.Sprintf("no curve %q of waiting costs is known here; %s", a.Waiting, p.waitingNames())
	}
	return joined(append([]string{foreign, curve}, a.Faults(jobs)...)...)
}

func (p *Peer) waitingNames() string {
	names := make([]string, 0, len(p.cfg.Waiting))
	for name := range p.cfg.Waiting {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "this site has none"
	}
	return "this site has " + strings.Join(names, ", ")
}

// bound says whether the user of a job wants what only a policy that decides about applications looks at:
// limits, or a start together with others.
func (j *job) bound() bool {
	a := j.application
	return a != nil && (a.MaxCost != protocol.Unlimited || a.MaxTime != protocol.Never || j.Together())
}

// placeable are the jobs that the policy in force may place. Those whose users want what it
// does not look at wait for one that does, or for their users.
func (p *Peer) placeable(ids []protocol.JobID) []protocol.JobID {
	if p.cfg.Policy.DecidesApplications() {
		return p.onTheirWay(ids)
	}
	return slices.DeleteFunc(ids, func(id protocol.JobID) bool {
		j := p.jobs[id]
		if !j.bound() {
			return false
		}
		why := fmt.Sprintf("the policy %s looks at no limits or groups: have the site take one that does, or cancel and submit without them", p.cfg.Policy.Name)
		if j.Reason != view.ReasonPolicy {
			p.fact(event.Fact{Kind: event.JobWaits, Job: id, Text: detailed(view.ReasonPolicy, why)})
		}
		p.hold(j, p.jitter(p.cfg.Sigma), view.ReasonPolicy, why)
		return true
	})
}

// withWeights gives an application the site's weights where its user gives none.
func (p *Peer) withWeights(a *protocol.Application, jobs []protocol.Job) (*protocol.Application, []protocol.Job) {
	if a == nil || !a.Unweighed(jobs) {
		return a, jobs
	}
	w, own := p.cfg.Weighing, *a
	own.Beta = w.Beta
	jobs = slices.Clone(jobs)
	for i := range jobs {
		c := &jobs[i].Component
		c.Alpha, c.Gamma, c.Delta = w.Alpha, w.Gamma, w.Delta
	}
	return &own, jobs
}

// component is a new job's component as it is kept; nil for a plain job.
func (p *Peer) component(one *protocol.Job) *protocol.Component {
	c := one.Component
	if c.Name == "" && len(c.Shapes) == 0 && !c.Behaviour.Stated() && c.Estimate == 0 &&
		c.Alpha == 0 && c.Gamma == 0 && c.Delta == 0 && c.Together == 0 {
		return nil
	}
	if len(c.Shapes) > 0 {
		own := protocol.Shape{CPUs: one.Spec.CPUs, Nodes: one.Spec.Nodes, WallTime: one.Spec.WallTime, Estimate: c.Estimate}
		c.Shapes = append([]protocol.Shape{own}, c.Shapes...)
	}
	return &c
}

// wishes are what a policy is told of the application of a job: of one on its own what the
// site's weights say.
func (p *Peer) wishes(j *job, until protocol.Duration) policy.Application {
	a := j.application
	if a == nil {
		out := policy.Application{
			ID: j.Spec.Job, Beta: p.cfg.Weighing.Beta, MaxCost: protocol.Unlimited, MaxTime: protocol.Never,
			Elapsed: max(0, p.now.Sub(j.Spec.Submitted)),
		}
		out.Waiting = p.ratesBy(p.cfg.Weighing.Waiting, j.Spec.Submitted, until)
		return out
	}
	cost, done := p.placedCost(a)
	out := policy.Application{
		ID: a.ID, Beta: a.Beta, MaxCost: p.money().MaxCost(&a.Application.Application), MaxTime: a.MaxTime,
		Elapsed: max(0, p.now.Sub(a.Submitted)), Spent: cost, Done: max(0, done.Sub(p.now)),
	}
	out.Waiting = p.ratesBy(cmp.Or(a.Waiting, p.cfg.Weighing.Waiting), a.Submitted, until)
	if len(a.Rates) > 0 {
		out.Waiting = p.converted(shifted(a.Rates, out.Elapsed), a.Currency)
	}
	return out
}

// usualWait is what an hour of waiting costs where nobody says, so that a weight β means
// something: one of the site's currency.
const usualWait = protocol.Unit

// ratesBy are the rates of a named curve from now on; without a name the usual one.
func (p *Peer) ratesBy(name string, submitted protocol.Instant, until protocol.Duration) []protocol.WaitingRate {
	curve := p.cfg.Waiting[name]
	if name == "" || curve == nil {
		return []protocol.WaitingRate{{PerHour: usualWait}}
	}
	rates, currency := curve.Rates(submitted, p.now, until)
	return p.converted(rates, currency)
}

// converted are rates in the site's own currency.
func (p *Peer) converted(rates []protocol.WaitingRate, from string) []protocol.WaitingRate {
	out := slices.Clone(rates)
	for i := range out {
		amount, err := p.money().Convert(out[i].PerHour, from)
		if err != nil {
			return nil // the configuration and the submission were checked
		}
		out[i].PerHour = amount
	}
	return out
}

// shifted are rates from the submission on as rates from now on.
func shifted(rates []protocol.WaitingRate, elapsed protocol.Duration) []protocol.WaitingRate {
	out := make([]protocol.WaitingRate, 0, len(rates))
	for i, rate := range rates {
		if i+1 < len(rates) && rates[i+1].From <= elapsed {
			continue
		}
		out = append(out, protocol.WaitingRate{From: max(0, rate.From-elapsed), PerHour: rate.PerHour})
	}
	return out
}
