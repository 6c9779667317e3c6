package pricing

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Costs is what a site charges for work [IS 4.2]. It is consulted in a step of a peer and must be
// pure.
type Costs interface {
	// Bill is what the work costs. A reason says why the site does not offer what it needs,
	// such as a license; it is empty when it does.
	Bill(w cost.Work) (bill cost.Bill, reason string)
}

// Desk is where a site prices jobs: in quotes before they run, and by tariffs afterwards.
type Desk struct {
	Number   protocol.SiteNumber // jobs of others are guests
	Capacity *protocol.Capacity
	Tariff   localsched.Tariff // of CPUs, that the local scheduler's quotes have, where there are no Costs
	Costs    Costs             // nil: nothing but the energy of Power is charged
	Power    int64             // milliwatts of a CPU that works; 0: not stated, there is no energy term
	Spread   bool              // electricity is quoted over the interval in which a job may start
	Prices   *Prices
}

// maxTerms bounds a quote's terms, as the wire does.
const maxTerms = 32

// Charge adds to a quote what the work costs here, over the run time that is expected of it.
// What the site does not sell it declines.
func (d Desk) Charge(q *protocol.Quote, spec *protocol.Spec, by protocol.EnergyPricing, now protocol.Instant) {
	if q.Declined != "" {
		return
	}
	if spec.PredictedRunTime > 0 {
		q.ERT = spec.PredictedRunTime // even beyond the limit, at which the job would be ended: a slow machine must not look fast
	}
	if limit := spec.ScaledRequest(d.Capacity).WallTime; spec.PredictedRunTime > limit {
		addNote(q, "would be ended at its limit of time, "+limit.Text())
	}
	if d.Costs == nil {
		d.chargeEnergy(q, spec, by, now)
		return
	}
	billed, why := d.Costs.Bill(d.work(spec, q, by, now))
	if why != "" || (q.Currency != "" && billed.Currency != q.Currency && len(billed.Terms) > 0) {
		*q = protocol.Quote{Job: q.Job, Declined: cmp.Or(why, fmt.Sprintf(
			"its batch system names prices in %s, and [site] currency there is %s; they must be the same", q.Currency, billed.Currency))}
		return
	}
	if len(billed.Terms) > 0 {
		q.Currency = billed.Currency
		q.Terms = append(slices.Clip(q.Terms), billed.Terms...)
	}
	q.ERT = max(q.ERT, billed.Run)
	if billed.Note != "" {
		addNote(q, billed.Note)
	}
	if !slices.ContainsFunc(q.Terms, func(t protocol.Term) bool { return t.Name == cost.EcoTerm }) {
		d.chargeEnergy(q, spec, by, now)
	}
}

func addNote(q *protocol.Quote, note string) {
	if q.Note != "" {
		q.Note += "; "
	}
	q.Note += note
}

// chargeEnergy adds to a quote what the electricity of the job's planned run costs. A
// quote in another currency stays as it is, one that the local scheduler has charged for
// electricity itself, one that has no place for another term, and one for which there are
// no prices.
func (d Desk) chargeEnergy(q *protocol.Quote, spec *protocol.Spec, by protocol.EnergyPricing, now protocol.Instant) {
	meter := d.Prices.meter(by)
	if meter == nil || d.Power == 0 || (q.Currency != "" && q.Currency != d.Prices.currency) {
		return
	}
	if NamesEnergy(q.Terms) || len(q.Terms) >= maxTerms {
		return
	}
	q.Currency = d.Prices.currency
	q.Terms = append(slices.Clip(q.Terms), protocol.Term{Name: EnergyTerm, Amount: meter.MeanCost(d.Draw(spec), d.starts(q, by, now), q.ERT)})
}

// work is what is charged for: a job from its quoted start on.
func (d Desk) work(spec *protocol.Spec, q *protocol.Quote, by protocol.EnergyPricing, now protocol.Instant) cost.Work {
	here := *spec
	here.Request = spec.ScaledRequest(d.Capacity)
	w := cost.Work{
		Spec: &here, Start: now.Add(q.AWT), Starts: d.starts(q, by, now), Run: q.ERT, Guest: spec.Job.Origin() != d.Number,
		Power: d.Draw(spec), Prices: d.Prices.meter(by), Currency: d.Prices.currency,
	}
	if by == protocol.AtOnce {
		w.Start = now
	}
	return w
}

// starts is when a quoted job may start: within the quote's interval, where it has one and the
// site's pricing takes it into account.
func (d Desk) starts(q *protocol.Quote, by protocol.EnergyPricing, now protocol.Instant) price.Starts {
	planned := now.Add(q.AWT)
	switch {
	case by == protocol.AtOnce:
		return price.At(now)
	case !d.Spread || q.AWTHigh == 0:
		return price.At(planned)
	}
	return price.Starts{Low: now.Add(min(q.AWTLow, q.AWT)), Middle: planned, High: now.Add(max(q.AWTHigh, q.AWT))}
}

// MHz is the frequency at which the CPUs of a job that starts now are to run. Zero means that it
// is not set.
func (d Desk) MHz(spec *protocol.Spec, now protocol.Instant) int {
	if d.Costs == nil || spec.PredictedRunTime == 0 {
		return 0
	}
	q := protocol.Quote{ERT: min(spec.PredictedRunTime, spec.ScaledRequest(d.Capacity).WallTime)}
	billed, _ := d.Costs.Bill(d.work(spec, &q, protocol.Hourly, now))
	return billed.MHz
}

// AtSpeed is the payload of a job that starts now, with the frequency of its CPUs in the
// environment if its bill depends on it.
func (d Desk) AtSpeed(s *localsched.Submission, now protocol.Instant) *protocol.Payload {
	mhz := d.MHz(&s.Spec, now)
	if mhz == 0 {
		return s.Payload
	}
	payload := *s.Payload
	payload.Env = append(slices.Clip(payload.Env), fmt.Sprintf("SWITCHYARD_MHZ=%d", mhz))
	return &payload
}

// tariffAhead is for how long beyond twice its time limit a job's tariff states the price of each
// hour. A job that waits longer is charged by their mean.
const tariffAhead = 2 * protocol.Day

// TariffOf is what this site charges for a job, whenever that runs; nil: nothing.
func (d Desk) TariffOf(spec *protocol.Spec, now protocol.Instant) *protocol.Tariff {
	limit := spec.ScaledRequest(d.Capacity).WallTime
	until := now.Add(tariffAhead.Plus(limit).Plus(limit))
	t := protocol.Tariff{Currency: d.Tariff.Currency}
	switch q := (protocol.Quote{ERT: cmp.Or(spec.PredictedRunTime, limit)}); {
	case d.Costs != nil:
		w := d.work(spec, &q, protocol.Hourly, now)
		w.Until = until
		if billed, why := d.Costs.Bill(w); why == "" && billed.Tariff != nil {
			t = *billed.Tariff
		}
	case t.Currency != "" && d.Tariff.CPUHour > 0:
		t.Charges = []protocol.Charge{{
			Name: cost.CPUTerm, Units: int64(spec.CPUs), Per: 1, Steps: []protocol.PriceStep{{PerHour: d.Tariff.CPUHour}},
		}}
	}
	d.addEnergy(&t, spec, now, until)
	if len(t.Charges) == 0 || t.Currency == "" {
		return nil
	}
	return &t
}

// addEnergy adds to a tariff what the electricity costs, as [Desk.Charge] adds it to quotes.
func (d Desk) addEnergy(t *protocol.Tariff, spec *protocol.Spec, now, until protocol.Instant) {
	if !d.Prices.Known() || d.Power == 0 || (t.Currency != "" && t.Currency != d.Prices.currency) ||
		slices.ContainsFunc(t.Charges, func(c protocol.Charge) bool { return electric(c.Name) }) {
		return
	}
	t.Currency = d.Prices.currency
	t.Charges = append(slices.Clip(t.Charges), protocol.Charge{
		Name: EnergyTerm, Units: d.Draw(spec), Per: protocol.Megawatt, Steps: d.Prices.hourly.Steps(now, until),
	})
}
