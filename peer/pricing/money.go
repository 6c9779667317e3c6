package pricing

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Money is a site's currency and its exchange rates.
type Money struct {
	Own      string        // its currency; empty: it has none
	Exchange cost.Exchange // what one of a currency is worth in a common unit
}

// Convert is an amount in the site's own currency.
func (m Money) Convert(amount protocol.Micro, from string) (protocol.Micro, error) {
	if from == "" || from == m.Own {
		return amount, nil
	}
	if m.Own == "" {
		return 0, fmt.Errorf("it is in %s, and this site has no currency; set currency in [site]", from)
	}
	return m.Exchange.Convert(amount, from, m.Own)
}

// MaxCost is an application's limit in the site's own currency, rounded down: what keeps the one
// keeps the other, too. Without a limit it is [protocol.Unlimited].
func (m Money) MaxCost(a *protocol.Application) protocol.Micro {
	if a.MaxCost == protocol.Unlimited || a.Currency == "" || a.Currency == m.Own {
		return a.MaxCost
	}
	if _, err := m.Convert(a.MaxCost, a.Currency); err != nil { // it was asked on submission; the table has lost the currency since
		return 0
	}
	return protocol.Micro(int128.Product(int64(a.MaxCost), int64(m.Exchange[a.Currency])).Down(int64(m.Exchange[m.Own])))
}

// Text is an amount in the site's own currency, for people.
func (m Money) Text(amount protocol.Micro) string { return amount.TextIn(m.Own) }

// Unreadable is the reason why the price of a quote cannot be compared here; empty if it can be, or
// there is no price.
func (m Money) Unreadable(q *protocol.Quote) string {
	if q.Declined != "" || len(q.Terms) == 0 {
		return ""
	}
	if _, err := m.Convert(protocol.Unit, q.Currency); err != nil {
		return "its price cannot be compared: " + err.Error()
	}
	return ""
}

// Parts are the cost terms of a quote in the site's own currency, and what the link to its site
// costs. Terms by other names count as the use of the machine.
func (m Money) Parts(q *protocol.Quote, link protocol.Micro) view.Money {
	parts := view.Money{Currency: m.Own}
	if q.Declined != "" {
		return parts
	}
	for _, term := range q.Terms {
		amount, err := m.Convert(term.Amount, q.Currency)
		if err != nil {
			continue // such a quote has been declined
		}
		into := &parts.CPU
		switch term.Name {
		case cost.LicenseTerm:
			into = &parts.License
		case cost.EcoTerm, EnergyTerm:
			into = &parts.Energy
		case cost.DataTerm:
			into = &parts.Data
		}
		*into = into.Plus(amount)
	}
	parts.Data = parts.Data.Plus(link)
	return parts
}

// Rates are rates of waiting costs in the site's own currency; nil: they cannot be converted.
func (m Money) Rates(rates []protocol.WaitingRate, from string) []protocol.WaitingRate {
	out := slices.Clone(rates)
	for i := range out {
		amount, err := m.Convert(out[i].PerHour, from)
		if err != nil {
			return nil // the configuration and the submission were checked
		}
		out[i].PerHour = amount
	}
	return out
}

// Actual is what a placement that is over has cost: by its bill and what the link to its site costs,
// else as it was predicted.
func (m Money) Actual(j *row.Job, link protocol.Micro) protocol.Micro {
	if j.Outcome == nil || j.Outcome.Bill == nil {
		return j.PredictedCost()
	}
	amount, err := m.Convert(j.Outcome.Bill.Cost(), j.Outcome.Bill.Currency)
	if err != nil {
		return j.PredictedCost()
	}
	return amount.Plus(link)
}

// SoFar is what a placement counts for while it is not over: what was predicted of it, or what it has
// come to already where that is more. One that would bring money in, as at prices below 0, counts as
// nothing until it is billed: the gain may not come, and nothing else may rely on it.
func (m Money) SoFar(j *row.Job, link protocol.Micro, now protocol.Instant) protocol.Micro {
	if j.Tariff == nil || j.Started == 0 {
		return max(0, j.PredictedCost())
	}
	running := *j
	running.Outcome = &protocol.Outcome{Bill: Settle(j.Tariff, j.Started, now.Sub(j.Started))}
	return max(0, j.PredictedCost(), m.Actual(&running, link))
}

// AtTariff is the prediction of a job with what its run costs from an instant on by the tariff that
// its site has stated.
func (m Money) AtTariff(j *row.Job, start protocol.Instant, link protocol.Micro) *row.Prediction {
	planned, agreed := *j, *j.Prediction
	planned.Outcome = &protocol.Outcome{Bill: Settle(j.Tariff, start, j.Prediction.Run)}
	agreed.Cost = m.Actual(&planned, link)
	return &agreed
}
