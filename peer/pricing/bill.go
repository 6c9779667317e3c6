package pricing

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job is billed as it ran, by the tariff that was active when it was granted: the site that
// prepares it states the tariff before the grant, both sites keep it, and the origin works out
// the bill itself and compares.

// Settle is the bill of a run; nil: it did not start, or costs nothing.
func Settle(t *protocol.Tariff, started protocol.Instant, ran protocol.Duration) *protocol.Bill {
	if t == nil || started == 0 {
		return nil
	}
	bill := cost.Settle(t, started, ran)
	return &bill
}

// CheckBill compares what a partner bills in the result of a job with what its tariff comes to for the
// run. Where it bills otherwise the outcome gets the bill that was agreed on, if there was a tariff, or the partner's if that is
// lower and pays nothing back, and what is wrong is said; empty: the bills are equal.
func CheckBill(j *row.Job, outcome *protocol.Outcome, now protocol.Instant) (disputed string) {
	billed := outcome.Bill
	switch {
	case billed == nil && (j.Tariff == nil || j.Started == 0):
		return ""
	case j.Tariff == nil:
		if !charges(billed) {
			outcome.Bill = &protocol.Bill{Start: billed.Start, Currency: billed.Currency}
		}
		return fmt.Sprintf("%s bills %s and stated no tariff before the grant", j.Site, textOf(billed))
	case j.Started == 0:
		outcome.Bill = nil
		return fmt.Sprintf("%s bills %s for a job that did not start", j.Site, textOf(billed))
	}
	agreed := agreedBill(j, outcome, now)
	if outcome.Bill = agreed; charges(billed) && billed.Currency == agreed.Currency && billed.Cost() < agreed.Cost() {
		outcome.Bill = billed
	}
	switch {
	case billed == nil:
		return fmt.Sprintf("%s sent no bill; by its tariff it is %s", j.Site, textOf(agreed))
	case !sameBill(billed, agreed):
		return fmt.Sprintf("%s bills %s, and by the tariff that it stated it is %s for a run of %s from %s on",
			j.Site, textOf(billed), textOf(agreed), outcome.Ran.Text(), agreed.Start.Text())
	}
	outcome.Bill = billed
	return ""
}

// agreedBill is what a run elsewhere costs by the tariff. The site that ran the job says when that was,
// as far as the time between the grant and now allows.
func agreedBill(j *row.Job, outcome *protocol.Outcome, now protocol.Instant) *protocol.Bill {
	start, ran := j.Started, min(outcome.Ran, max(0, now.Sub(j.CommittedAt)).Plus(row.MaxClockOffset))
	if b := outcome.Bill; b != nil && max(b.Start.Sub(start), start.Sub(b.Start)) <= row.MaxClockOffset {
		start = b.Start
	}
	return Settle(j.Tariff, start, ran)
}

// charges says whether a bill pays nothing back. Only a tariff may: if a bill that pays more than its tariff counted, its site could have
// an application spend above its limit.
func charges(b *protocol.Bill) bool {
	return b != nil && !slices.ContainsFunc(b.Terms, func(t protocol.Term) bool { return t.Amount < 0 })
}

// sameBill says whether two bills name the same amounts.
func sameBill(a, b *protocol.Bill) bool {
	return a.Currency == b.Currency && slices.Equal(a.Terms, b.Terms)
}

func textOf(b *protocol.Bill) string { return b.Cost().TextIn(b.Currency) }

// BillView shows what a job cost, or while it runs what it has come to; nil: nothing is known.
func BillView(t *protocol.Tariff, state protocol.State, started protocol.Instant, outcome *protocol.Outcome, now protocol.Instant) *view.Bill {
	var bill *protocol.Bill
	v := &view.Bill{}
	switch {
	case outcome != nil:
		bill, v.Ran = outcome.Bill, outcome.Ran
	case state == protocol.Running && started != 0:
		v.Open, v.Ran = true, max(0, now.Sub(started))
		bill = Settle(t, started, v.Ran)
	}
	if bill == nil {
		return nil
	}
	v.Cost, v.Currency, v.Terms, v.Start = bill.Cost(), bill.Currency, view.PriceTerms(bill.Terms), bill.Start
	return v
}

// QuotedPrice is that of a quote; nil: it names none.
func QuotedPrice(q *protocol.Quote) *view.QuotedPrice {
	if len(q.Terms) == 0 || q.Currency == "" {
		return nil
	}
	return &view.QuotedPrice{Cost: q.Cost(), Currency: q.Currency, Run: q.ERT, Energy: energyPart(q.Terms)}
}

// QuotedTerms are the terms of a quote with a price, and their currency, as far as the price tells them apart; none for nil.
func QuotedTerms(q *view.QuotedPrice) (terms []protocol.Term, currency string) {
	if q == nil {
		return nil, ""
	}
	rest := q.Cost
	if q.Energy != nil {
		terms, rest = append(terms, protocol.Term{Name: EnergyTerm, Amount: *q.Energy}), rest.Plus(-*q.Energy)
	}
	return append(terms, protocol.Term{Name: cost.CPUTerm, Amount: rest}), q.Currency
}

// HeldPrice is that of a job for which room is held; nil: no tariff is known.
func HeldPrice(j *row.Job) *view.HeldPrice {
	run := j.Spec.WallTime
	if j.Prediction != nil {
		run = j.Prediction.Run
	}
	bill := Settle(j.Tariff, j.ReservedAt, run)
	if bill == nil {
		return nil
	}
	return &view.HeldPrice{Cost: bill.Cost(), Currency: bill.Currency, Terms: view.PriceTerms(bill.Terms), Start: j.ReservedAt, Run: run}
}
