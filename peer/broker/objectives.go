package broker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Objectives is what a site makes of the objectives and limits of applications [IS 4.1].
type Objectives struct {
	Policy         *policy.Description
	DefaultWeights rules.DefaultWeights
	WaitingCosts   map[string]rules.WaitingCost // curves of waiting costs by their names
	Money          pricing.Money
	Margin         protocol.Duration // in which the sites of a group agree on an instant
}

// Refuse names all that a user wants of an application and that cannot be granted here; empty: nothing.
func (o *Objectives) Refuse(a *protocol.Application, jobs []protocol.Job) string {
	if a == nil {
		return ""
	}
	if !o.Policy.DecidesApplications() {
		return fmt.Sprintf("the policy %s of this site looks at no objectives, limits or groups, and places no application as a whole; "+
			"leave objectives and limits out, submit components as jobs of their own, or submit at a site with the policy iss", o.Policy.Name)
	}
	var faults []string
	if _, err := o.Money.Convert(1, a.Currency); err != nil {
		faults = append(faults, err.Error())
	}
	if _, ok := o.WaitingCosts[a.Waiting]; a.Waiting != "" && !ok {
		faults = append(faults, fmt.Sprintf("no curve %q of waiting costs is known here; %s", a.Waiting, o.curves()))
	}
	return strings.Join(append(faults, a.Faults(jobs)...), "; ")
}

// curves names those that the site has.
func (o *Objectives) curves() string {
	if len(o.WaitingCosts) == 0 {
		return "this site has none"
	}
	return "this site has " + strings.Join(slices.Sorted(maps.Keys(o.WaitingCosts)), ", ")
}

// Weighed gives an application the site's weights where its user gives none.
func (o *Objectives) Weighed(a *protocol.Application, jobs []protocol.Job) (*protocol.Application, []protocol.Job) {
	if a == nil || !a.Unweighed(jobs) {
		return a, jobs
	}
	weighed := *a
	weighed.Beta = o.DefaultWeights.Beta
	jobs = slices.Clone(jobs)
	for i := range jobs {
		c := &jobs[i].Component
		c.Alpha, c.Gamma, c.Delta = o.DefaultWeights.Alpha, o.DefaultWeights.Gamma, o.DefaultWeights.Delta
	}
	return &weighed, jobs
}

// Weights are α, γ and δ of a job: of one on its own, without an application, those of the site.
func (o *Objectives) Weights(j *row.Job, a *row.Application) (alpha, gamma, delta int) {
	switch {
	case a == nil:
		return o.DefaultWeights.Alpha, o.DefaultWeights.Gamma, o.DefaultWeights.Delta
	case j.Component == nil: // its user gives β alone
		return 0, 0, 0
	}
	return j.Component.Alpha, j.Component.Gamma, j.Component.Delta
}

// NewComponent is a new job's component as its row has it; nil for a plain job.
func NewComponent(one *protocol.Job) *protocol.Component {
	c := one.Component
	if c.Name == "" && len(c.Shapes) == 0 && !c.Behavior.Stated() && c.Estimate == 0 &&
		c.Alpha == 0 && c.Gamma == 0 && c.Delta == 0 && c.Together == 0 {
		return nil
	}
	if len(c.Shapes) > 0 {
		own := protocol.Shape{CPUs: one.Spec.CPUs, Nodes: one.Spec.Nodes, WallTime: one.Spec.WallTime, Estimate: c.Estimate}
		c.Shapes = append([]protocol.Shape{own}, c.Shapes...)
	}
	return &c
}

// Bound says whether the user of a job wants what only a policy that decides about applications looks
// at: limits, or a start together with others.
func Bound(j *row.Job, a *row.Application) bool {
	return a != nil && (a.MaxCost != protocol.Unlimited || a.MaxTime != protocol.Never || j.Together())
}

// Placed is what the components of an application cost that have ended or are placed, and when the
// last of these is predicted to be done.
type Placed struct {
	Cost           protocol.Micro
	CommittedUntil protocol.Instant
}

// application is the policy's view of the application of a job; of a job on its own, what the
// site's weights say. Rates of waiting are stated up to the duration until.
func (o *Objectives) application(one *Asked, placed Placed, now protocol.Instant, until protocol.Duration) policy.Application {
	a := one.App
	if a == nil {
		out := policy.Application{
			ID: one.Job.Spec.Job, Beta: o.DefaultWeights.Beta, MaxCost: protocol.Unlimited, MaxTime: protocol.Never,
			Elapsed: max(0, now.Sub(one.Job.Spec.Submitted)),
		}
		o.priceWaiting(&out, o.DefaultWeights.WaitingCost, one.Job.Spec.Submitted, now, until)
		return out
	}
	out := policy.Application{
		ID: a.ID, Beta: a.Beta, MaxCost: o.Money.MaxCost(&a.Application), MaxTime: a.MaxTime,
		Elapsed: max(0, now.Sub(a.Submitted)), Spent: placed.Cost, CommittedUntil: max(0, placed.CommittedUntil.Sub(now)),
	}
	if len(a.Rates) > 0 {
		out.WaitedCost = costOf(o.Money.Rates(a.Rates, a.Currency), out.Elapsed)
		out.WaitingCost = o.Money.Rates(from(a.Rates, out.Elapsed), a.Currency)
		return out
	}
	o.priceWaiting(&out, cmp.Or(a.Waiting, o.DefaultWeights.WaitingCost), a.Submitted, now, until)
	return out
}

// priceWaiting sets K_w of an application by a named curve: what waiting has cost since the first submission t⁰,
// from which [IS 4.2] integrates, and what it costs from now on.
func (o *Objectives) priceWaiting(a *policy.Application, name string, submitted, now protocol.Instant, until protocol.Duration) {
	a.WaitedCost = costOf(o.rates(name, submitted, submitted, a.Elapsed), a.Elapsed)
	a.WaitingCost = o.rates(name, submitted, now, until)
}

// costOf is what rates come to until a time after the first of them.
func costOf(rates []protocol.WaitingRate, until protocol.Duration) protocol.Micro {
	sum := policy.Application{WaitingCost: rates}
	return sum.WaitCost(until)
}

// defaultRate is the cost of an hour of waiting without any curve, so that a weight β has an effect:
// one unit of the site's currency.
const defaultRate = protocol.Unit

// rates are those of a named curve from now on; without a name the default one.
func (o *Objectives) rates(name string, submitted, now protocol.Instant, until protocol.Duration) []protocol.WaitingRate {
	curve := o.WaitingCosts[name]
	if name == "" || curve == nil {
		return []protocol.WaitingRate{{PerHour: defaultRate}}
	}
	rates, currency := curve.Rates(submitted, now, until)
	return o.Money.Rates(rates, currency)
}

// from are rates from the submission on as rates from so much later on.
func from(rates []protocol.WaitingRate, elapsed protocol.Duration) []protocol.WaitingRate {
	out := make([]protocol.WaitingRate, 0, len(rates))
	for i, rate := range rates {
		if i+1 < len(rates) && rates[i+1].From <= elapsed {
			continue
		}
		out = append(out, protocol.WaitingRate{From: max(0, rate.From-elapsed), PerHour: rate.PerHour})
	}
	return out
}
