package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Achieved is what became of an application. Amounts are in the currency of its origin.
type Achieved struct {
	Components []AchievedComponent
	Completion protocol.Duration // from the submission until the last data are back; [protocol.Never]: not all components have run to their ends
	Cost       protocol.Micro    // K_e + K_l + K_eco + K_d of the real runs [IS 4.2]
	Waiting    protocol.Micro    // K_w until the completion; 0 without one
	CostMet    bool              // Cost is within KMAX
	TimeMet    bool              // Completion is within TMAX
	Refused    string            // why the origin did not take it; empty: it did
}

// AchievedComponent is what became of a component.
type AchievedComponent struct {
	Placement

	CPUs             int
	State            protocol.State // 0: it has not ended
	Reason           string
	Ran              protocol.Duration
	PredictedRunTime protocol.Duration // run time predicted when it was placed; zero without a prediction
	Cost             protocol.Micro    // of the real run, at its real start
	PredictedCost    protocol.Micro    // cost, when it was placed
	Usage            protocol.Usage
}

// Ledger is what a site did, for the workload and for applications.
type Ledger struct {
	Components int            // that ran there
	Busy       int64          // CPU·ms, of all jobs
	Income     protocol.Micro // for all jobs, in the site's currency
	Jobs       protocol.Micro // the part of it that is for jobs of the workload
	Links      protocol.Micro // what the way of the data of jobs of the workload costs that come from here, in the site's currency
}

// account draws up what became of the applications and of the sites. Placements are left
// to those of the workload.
func (g *grid) account() {
	if len(g.cfg.Applications) == 0 && !g.cfg.charged() {
		return
	}
	r := g.result
	r.Ledgers = make([]Ledger, len(g.cfg.Sites))
	for i := range g.jobs {
		p := r.Placements[i]
		if p.Site < 0 {
			continue
		}
		ledger, job := &r.Ledgers[p.Site], &g.jobs[i]
		ledger.Busy += int64(job.CPUs) * int64(p.End-p.Start)
		paid := g.paid(int32(i))
		ledger.Income = ledger.Income.Plus(paid)
		if i < g.parts.first {
			ledger.Jobs = ledger.Jobs.Plus(paid)
			home := &r.Ledgers[job.Origin]
			home.Links = home.Links.Plus(g.carriage(job.Origin, p.Site, g.cfg.dataOf(int32(i)), g.cfg.dataOutOf(int32(i))))
		}
	}
	r.Applications = make([]Achieved, len(g.cfg.Applications))
	for i := range g.parts.places {
		one := &g.parts.places[i]
		a := &r.Applications[one.application]
		a.Refused = cmp.Or(a.Refused, one.refused)
		a.Components = append(a.Components, g.achieved(one, r.Placements[g.parts.first+i]))
		if site := r.Placements[g.parts.first+i].Site; site >= 0 {
			r.Ledgers[site].Components++
		}
	}
	for i := range r.Applications {
		g.conclude(&g.cfg.Applications[i], &r.Applications[i])
	}
	r.Placements = r.Placements[:g.parts.first]
}

// charged says whether some site charges for jobs, or the way of their data costs anything.
func (c Config) charged() bool {
	withData := func(one *protocol.Spec) bool { return one != nil && (one.Data > 0 || one.DataOut > 0) }
	charges := func(l DataLink) bool { return l.PerGB > 0 || l.PerHour > 0 }
	return slices.ContainsFunc(c.Sites, func(s Site) bool { return s.Costs != nil || s.Tariff.CPUHour > 0 }) ||
		(c.Stage.some() || slices.ContainsFunc(c.Requests, withData)) &&
			slices.ContainsFunc(c.Stage.Links, func(from []DataLink) bool { return slices.ContainsFunc(from, charges) })
}

func (g *grid) achieved(one *part, p Placement) AchievedComponent {
	done := AchievedComponent{
		Placement: p, CPUs: one.cpus, State: one.view.State, Reason: one.view.Reason,
		PredictedRunTime: one.view.PredictedRunTime, PredictedCost: one.view.Cost,
	}
	if g.cfg.Scheme == Central {
		home := &g.cfg.Sites[g.cfg.Applications[one.application].Origin]
		done.PredictedCost = g.exchanged(one.view.Cost, g.cfg.Sites[0].Currency, home.Currency)
	}
	if one.run != nil {
		done.Ran, done.Usage = one.run.ran, one.run.usage
		done.Cost = g.owed(one, p)
	}
	return done
}

// conclude fills in what the components add up to.
func (g *grid) conclude(a *Application, done *Achieved) {
	for k := range done.Components {
		c := &done.Components[k]
		done.Cost = done.Cost.Plus(c.Cost)
		if c.State != protocol.Completed {
			done.Completion = protocol.Never
			continue
		}
		back := c.End.Add(g.back(a, k, c.Site))
		done.Completion = max(done.Completion, back.Sub(a.At))
	}
	site := &g.cfg.Sites[a.Origin]
	limit := a.Objectives.MaxCost
	if limit != protocol.Unlimited {
		limit = g.exchanged(limit, cmp.Or(a.Objectives.Currency, site.Currency), site.Currency)
	}
	done.CostMet, done.TimeMet = done.Cost <= limit, done.Completion <= a.Objectives.MaxTime
	if done.Completion < protocol.Never {
		done.Waiting = g.waited(a, done.Completion)
	}
}

// back is how long what a component brings home travels.
func (g *grid) back(a *Application, component, from int) protocol.Duration {
	if from == a.Origin {
		return 0
	}
	return g.dataLink(a.Origin, from).takes(a.Components[component].Spec.DataOut)
}

// waited is K_w from the submission on: by the user's own rates, or by a curve of the
// origin. Without either an hour costs one of its currency, as [rules.Config] has it.
func (g *grid) waited(a *Application, d protocol.Duration) protocol.Micro {
	site := &g.cfg.Sites[a.Origin]
	rates, currency := a.Objectives.Rates, cmp.Or(a.Objectives.Currency, site.Currency)
	if len(rates) == 0 {
		rates, currency = []protocol.WaitingRate{{PerHour: protocol.Unit}}, site.Currency
		if curve := site.WaitingCosts[cmp.Or(a.Objectives.Waiting, site.DefaultWeights.WaitingCost)]; curve != nil {
			at := g.zero.Add(protocol.Duration(a.At))
			rates, currency = curve.Rates(at, at, d)
		}
	}
	sum := policy.Application{WaitingCost: rates}
	return g.exchanged(sum.WaitCost(d), currency, site.Currency)
}

// exchanged is an amount in another currency. Peers have declined what cannot be converted.
func (g *grid) exchanged(amount protocol.Micro, from, to string) protocol.Micro {
	converted, err := g.cfg.Exchange.Convert(amount, from, to)
	if err != nil {
		return amount
	}
	return converted
}

// owed is what a component's real run costs its user.
func (g *grid) owed(one *part, p Placement) protocol.Micro {
	a := &g.cfg.Applications[one.application]
	home, there := &g.cfg.Sites[a.Origin], &g.cfg.Sites[p.Site]
	amount, currency := g.billed(p, &one.run.spec, one.run.full, a.Origin)
	owed := g.exchanged(amount, cmp.Or(currency, there.Currency), home.Currency)
	spec := &a.Components[one.component].Spec
	return owed.Plus(g.carriage(a.Origin, p.Site, spec.Data, spec.DataOut))
}

// carriage is what the transfer of the bytes there and back costs their origin, in its
// currency: the link's part of K_d.
func (g *grid) carriage(origin, to int, in, out int64) protocol.Micro {
	if to == origin {
		return 0
	}
	link := g.dataLink(origin, to)
	travels := link.takes(in).Plus(link.takes(out))
	return cost.Link{PerGB: link.PerGB, PerHour: link.PerHour}.Cost(in, out, travels)
}

// paid is what a job brings the site that ran it, in the site's currency.
func (g *grid) paid(index int32) protocol.Micro {
	p, job := g.result.Placements[index], &g.jobs[index]
	there := &g.cfg.Sites[p.Site]
	spec := g.cfg.specOf(job, index)
	run := p.End.Sub(p.Start)
	if one := g.parts.at(index); one != nil {
		spec, run = one.run.spec, one.run.full
	}
	amount, currency := g.billed(p, &spec, run, job.Origin)
	return g.exchanged(amount, cmp.Or(currency, there.Currency), there.Currency)
}

// billed is what the site charges for a run that takes so long at the full frequency, at
// its real start. The frequency at which it ran follows from its environment.
func (g *grid) billed(p Placement, spec *protocol.Spec, full protocol.Duration, origin int) (protocol.Micro, string) {
	site := &g.cfg.Sites[p.Site]
	q := protocol.Quote{ERT: full}
	site.Tariff.Charge(&q, spec.CPUs)
	currency := q.Currency
	work := cost.Work{
		Spec: spec, Start: p.Start + g.zero, Run: full, Guest: p.Site != origin,
		Power: pricing.JobPower(site.Electricity.Milliwatts, spec), Prices: site.Electricity.Dated, Currency: site.Electricity.Currency,
	}
	if site.Costs != nil {
		bill, _ := site.Costs.Bill(work)
		q.Terms, currency = append(q.Terms, bill.Terms...), cmp.Or(currency, bill.Currency)
	}
	var sum protocol.Micro
	for _, term := range q.Terms {
		sum = sum.Plus(term.Amount)
	}
	if !slices.ContainsFunc(q.Terms, func(t protocol.Term) bool { return t.Name == cost.EcoTerm }) {
		energy := site.Electricity.Dated.Cost(work.Power, work.Start, full)
		sum, currency = sum.Plus(energy), cmp.Or(currency, site.Electricity.Currency)
	}
	return sum, currency
}

// Draw is the power in mW of a job of the workload, by its number, on CPUs that draw so much
// each: with its own factor, or the one that is drawn for it.
func (c Config) Draw(milliwatts int64, jobs []workload.Job, index int) int64 {
	job := &jobs[index]
	power := c.powerOf(job, int32(index)) //nolint:gosec // a workload has fewer jobs
	return pricing.JobPower(milliwatts, &protocol.Spec{Request: protocol.Request{CPUs: job.CPUs, Power: power}})
}

// Utilization is the part of all CPUs that worked from the first submission of a job or an
// application to the last end, and that of each site.
func (c Config) Utilization(jobs []workload.Job, r *Result) (all float64, sites []float64) {
	first, last := protocol.Instant(math.MaxInt64), protocol.Instant(0)
	for i := range jobs {
		first, last = min(first, jobs[i].Submit), max(last, r.Placements[i].End)
	}
	for i := range r.Applications {
		first = min(first, c.Applications[i].At)
		for _, one := range r.Applications[i].Components {
			last = max(last, one.End)
		}
	}
	busy, cpus := 0.0, 0.0
	for i := range r.Ledgers {
		own := float64(c.Sites[i].CPUs())
		busy, cpus = busy+float64(r.Ledgers[i].Busy), cpus+own
		sites = append(sites, ratio(float64(r.Ledgers[i].Busy), own*float64(last-first)))
	}
	return ratio(busy, cpus*float64(last-first)), sites
}
