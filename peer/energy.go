package peer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// EnergyTerm is the name of the term that electricity adds to quotes.
const EnergyTerm = "energy"

// electricity is what the site knows of its prices. Without any it still schedules;
// its quotes then have no energy term.
type electricity struct {
	hourly   *price.Meter // nil: none are known
	twoPrice *price.Meter // the same prices as on-peak and off-peak only
	currency string
	known    protocol.Instant // end of the prices that are published; later ones are forecast
	missing  string           // why there are none, or none that are new
}

// beginPrices asks for prices, when the site says where it buys its electricity.
func (p *Peer) beginPrices() {
	if p.cfg.Area == "" {
		return
	}
	p.electricity.missing = "no answer yet"
	p.askPrices()
}

// askPrices takes the prices of the next days in, and asks again later. Those of
// before serve until then.
func (p *Peer) askPrices() {
	p.call(PriceOp{Area: p.cfg.Area, From: p.now, Until: p.now.Add(p.cfg.PriceSpan)}, askPrices{})
}

// askPrices asks for the prices of the next days.
type askPrices struct{}

func (askPrices) answered(p *Peer, result Result, err error) {
	priced, err := resultAs[PriceResult](result, err)
	if err == nil && len(priced.Prices.Slots) == 0 {
		err = errNoPrices
	}
	if err == nil {
		p.electricity = electricity{
			hourly: price.NewMeter(priced.Prices), twoPrice: price.NewMeter(priced.TwoPrice),
			currency: priced.Currency, known: priced.Known, missing: clip(priced.Trouble),
		}
	} else {
		p.electricity.missing = clip(err.Error())
	}
	again := p.cfg.PriceRefresh
	if why := p.electricity.missing; why != "" {
		p.fact(Fact{Kind: PricesMissing, Site: p.cfg.Site, Text: why})
		again = min(again, p.jitter(p.cfg.Sigma))
	}
	p.after(again, timer{kind: priceTimer})
}

// errNoPrices is what an answer without a price comes to.
var errNoPrices = errors.New("none are known of this time")

// mostTerms bounds a quote's terms, as the wire does.
const mostTerms = 32

// bill adds to a quote what the work costs here, over the run time that is expected of it.
// What the site does not sell it declines.
func (p *Peer) bill(q *protocol.Quote, spec *protocol.Spec, by protocol.Reckoning) {
	if q.Declined != "" {
		return
	}
	if spec.Expected > 0 {
		q.ERT = spec.Expected // even beyond the limit, at which the job would be ended: a slow machine must not look fast
	}
	if limit := spec.On(&p.cfg.Capacity).WallTime; spec.Expected > limit {
		q.Note = clipTo(mostNote, joined(q.Note, "would be ended at its limit of time, "+limit.Text()))
	}
	if p.cfg.Costs == nil {
		p.charge(q, spec, by)
		return
	}
	work := p.work(spec, q, by)
	billed, why := p.cfg.Costs.Bill(work)
	if why != "" || (q.Currency != "" && billed.Currency != q.Currency && len(billed.Terms) > 0) {
		*q = protocol.Quote{Job: q.Job, Declined: clip(cmp.Or(why, fmt.Sprintf(
			"its batch system names prices in %s, and [site] currency there is %s; they must be the same", q.Currency, billed.Currency)))}
		return
	}
	if len(billed.Terms) > 0 {
		q.Currency = billed.Currency
		q.Terms = append(slices.Clip(q.Terms), billed.Terms...)
	}
	q.ERT = max(q.ERT, billed.Run)
	if billed.Note != "" {
		q.Note = clipTo(mostNote, joined(q.Note, billed.Note))
	}
	if !slices.ContainsFunc(q.Terms, func(t protocol.Term) bool { return t.Name == cost.EcoTerm }) {
		p.charge(q, spec, by)
	}
}

// work is what is charged for: a job from its quoted start on.
func (p *Peer) work(spec *protocol.Spec, q *protocol.Quote, by protocol.Reckoning) cost.Work {
	here := *spec
	here.Request = spec.On(&p.cfg.Capacity)
	e := &p.electricity
	w := cost.Work{
		Spec: &here, Start: p.now.Add(q.AWT), Starts: p.starts(q, by), Run: q.ERT, Guest: spec.Job.Origin() != p.cfg.Number,
		Power: p.foreseenDraw(spec), Prices: e.hourly, Currency: e.currency,
	}
	switch by {
	case protocol.AtOnce:
		w.Start = p.now
	case protocol.TwoPrice:
		w.Prices = e.twoPrice
	case protocol.Hourly:
	}
	return w
}

// atSpeed tells a job at which frequency its CPUs are to run, where its bill says so.
func (p *Peer) atSpeed(s *localsched.Submission) *protocol.Payload {
	if p.cfg.Costs == nil || s.Spec.Expected == 0 {
		return s.Payload
	}
	q := protocol.Quote{ERT: min(s.Spec.Expected, s.Spec.On(&p.cfg.Capacity).WallTime)}
	billed, _ := p.cfg.Costs.Bill(p.work(&s.Spec, &q, protocol.Hourly))
	if billed.MHz == 0 {
		return s.Payload
	}
	told := *s.Payload
	told.Env = append(slices.Clip(told.Env), fmt.Sprintf("SWITCHYARD_MHZ=%d", billed.MHz))
	return &told
}

func joined(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
}

// unsold is what a job needs that no site without a price list has.
func unsold(spec *protocol.Spec) string {
	switch {
	case len(spec.Licences) > 0:
		return fmt.Sprintf("the site has no licence %q: its [cost] names none", spec.Licences[0].Name)
	case spec.Priority != "":
		return fmt.Sprintf("the site has no class of service %q: its [cost] names none", spec.Priority)
	}
	return ""
}

// starts is when a quoted job may start: within the quote's interval, where it has one and the
// site reckons by it.
func (p *Peer) starts(q *protocol.Quote, by protocol.Reckoning) price.Starts {
	planned := p.now.Add(q.AWT)
	switch {
	case by == protocol.AtOnce:
		return price.At(p.now)
	case !p.cfg.Spread || q.AWTHigh == 0:
		return price.At(planned)
	}
	return price.Starts{Low: p.now.Add(min(q.AWTLow, q.AWT)), Middle: planned, High: p.now.Add(max(q.AWTHigh, q.AWT))}
}

// charge adds to a quote what the electricity of the job's planned run costs. A
// quote in another currency stays as it is, one that the local scheduler has charged for
// electricity itself, one that has no place for another term, and one for which there are
// no prices.
func (p *Peer) charge(q *protocol.Quote, spec *protocol.Spec, by protocol.Reckoning) {
	e := &p.electricity
	meter := e.hourly
	if by == protocol.TwoPrice {
		meter = e.twoPrice
	}
	if meter == nil || p.cfg.Power == 0 || q.Declined != "" || (q.Currency != "" && q.Currency != e.currency) {
		return
	}
	if namesEnergy(q.Terms) || len(q.Terms) >= mostTerms {
		return
	}
	q.Currency = e.currency
	q.Terms = append(slices.Clip(q.Terms), protocol.Term{Name: EnergyTerm, Amount: meter.MeanCost(p.foreseenDraw(spec), p.starts(q, by), q.ERT)})
}

// pricesView says what the site knows of its prices; empty: it names none.
func (p *Peer) pricesView() string {
	e := &p.electricity
	switch {
	case p.cfg.Area == "":
		return ""
	case e.hourly == nil:
		return fmt.Sprintf("no prices of %s: %s", p.cfg.Area, e.missing)
	case e.missing != "":
		return fmt.Sprintf("old prices of %s: %s", p.cfg.Area, e.missing)
	}
	return fmt.Sprintf("%s in %s, known until %s", p.cfg.Area, e.currency, e.known.Time().Format("2006-01-02 15:04Z"))
}
