package recording

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Charge is what [pricing.Costs] said of some work.
type Charge struct {
	Work   string // its fingerprint, without the prices of electricity
	Bill   cost.Bill
	Reason string
}

// Rated is what a curve of [rules.WaitingCost] said of a time.
type Rated struct {
	Curve     string
	Submitted protocol.Instant
	Now       protocol.Instant
	Until     protocol.Duration
	Rates     []protocol.WaitingRate
	Currency  string
}

func (r *Rated) asks(curve string, submitted, now protocol.Instant, until protocol.Duration) bool {
	return r.Curve == curve && r.Submitted == submitted && r.Now == now && r.Until == until
}

// fingerprint distinguishes works. It leaves out prices, which the recorded peer got in events.
func fingerprint(w cost.Work) string {
	w.Prices = nil
	text, err := canonical(w)
	if err != nil {
		return err.Error() // the same for a replay
	}
	return sum(text)
}

// chargeListener is the costs of a peer whose answers are recorded.
type chargeListener struct {
	to    pricing.Costs
	heard func(Charge)
}

// Bill implements [pricing.Costs].
func (l *chargeListener) Bill(w cost.Work) (cost.Bill, string) {
	bill, reason := l.to.Bill(w)
	l.heard(Charge{Work: fingerprint(w), Bill: bill, Reason: reason})
	return bill, reason
}

// rateListener is a curve of a peer whose answers are recorded.
type rateListener struct {
	curve string
	to    rules.WaitingCost
	heard func(Rated)
}

// Rates implements [rules.WaitingCost].
func (l *rateListener) Rates(submitted, now protocol.Instant, until protocol.Duration) ([]protocol.WaitingRate, string) {
	rates, currency := l.to.Rates(submitted, now, until)
	l.heard(Rated{Curve: l.curve, Submitted: submitted, Now: now, Until: until, Rates: rates, Currency: currency})
	return rates, currency
}

// Bill implements [pricing.Costs] for a replayed peer. One work may be charged twice in a step,
// at different prices: answers are used up in their order.
func (a *answers) Bill(w cost.Work) (cost.Bill, string) {
	work := fingerprint(w)
	i := slices.IndexFunc(a.charges, func(one Charge) bool { return one.Work == work })
	if i < 0 {
		return cost.Bill{}, fmt.Sprintf("the recorded peer did not ask in this step for the costs of job %v from %d on", w.Spec.Job, w.Start)
	}
	found := a.charges[i]
	a.charges = slices.Concat(a.charges[:i], a.charges[i+1:])
	return found.Bill, found.Reason
}

// curve is a curve of a replayed peer: it gives again what was answered in the step.
func (a *answers) curve(name string) rules.WaitingCost { return replayedCurve{name, a} }

type replayedCurve struct {
	name string
	from *answers
}

// Rates implements [rules.WaitingCost]. What the recorded peer did not ask costs nothing, which
// shows as a difference.
func (c replayedCurve) Rates(submitted, now protocol.Instant, until protocol.Duration) ([]protocol.WaitingRate, string) {
	for i := range c.from.rates {
		if one := &c.from.rates[i]; one.asks(c.name, submitted, now, until) {
			return one.Rates, one.Currency
		}
	}
	return nil, ""
}
