package broker

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/exact"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Money is what a site reckons in.
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
		return 0, fmt.Errorf("it is in %s, and this site reckons in no currency; set currency in [site]", from)
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
	return protocol.Micro(exact.Product(int64(a.MaxCost), int64(m.Exchange[a.Currency])).Down(int64(m.Exchange[m.Own])))
}

// Text is an amount in the site's own currency, for people.
func (m Money) Text(amount protocol.Micro) string { return amount.TextIn(m.Own) }

// Deadline is when an application should be over, if it has a max_time.
func Deadline(a *row.Application) protocol.Instant { return a.Submitted.Add(a.MaxTime) }

// Hopeless says why what has not started of an application cannot keep its limits any more; empty: it
// may.
func Hopeless(a *row.Application, m Money, now protocol.Instant) string {
	if limit := m.MaxCost(&a.Application); limit != protocol.Unlimited && a.Spent > limit {
		return fmt.Sprintf("its application has cost %s, and max_cost is %s", m.Text(a.Spent), m.Text(limit))
	}
	if a.MaxTime != protocol.Never && now >= Deadline(a) {
		return fmt.Sprintf("max_time of its application, %s from the submission on, is over", a.MaxTime.Text())
	}
	return ""
}

// BrokenBy says which limit of an application the end of a component, which has cost so much, has
// broken, and why; empty: none.
func BrokenBy(a *row.Application, j *row.Job, cost protocol.Micro, m Money) string {
	if limit := m.MaxCost(&a.Application); limit != protocol.Unlimited && a.Spent > limit {
		return fmt.Sprintf("max_cost: what has run cost %s of at most %s; %s", m.Text(a.Spent), m.Text(limit), asPredicted(j, cost, m))
	}
	if a.MaxTime != protocol.Never && j.Ended > Deadline(a) && j.Outcome != nil {
		return fmt.Sprintf("max_time: %s ended %s after the submission, at most %s; %s",
			j.ComponentName(), j.Ended.Sub(a.Submitted).Text(), a.MaxTime.Text(), asPredicted(j, cost, m))
	}
	return ""
}

// asPredicted compares a component with what was predicted of it.
func asPredicted(j *row.Job, cost protocol.Micro, m Money) string {
	if j.Foreseen == nil || j.Outcome == nil {
		return "nothing was foreseen of " + j.ComponentName()
	}
	return fmt.Sprintf("%s ran %s and cost %s, foreseen were %s and %s", j.ComponentName(), j.Outcome.Ran.Text(),
		m.Text(cost), j.Foreseen.Run.Text(), m.Text(j.Foreseen.Cost))
}
