package pricing

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Totals counts in what the runs that are over came to. What is counted first says since when that is.
type Totals view.Totals

// AddRun counts a run that has ended at this site, with its power in milliwatts, and reports
// whether anything changed.
func (t *Totals) AddRun(milliwatts int64, o *protocol.Outcome, now protocol.Instant) (changed bool) {
	if energy := Energy(milliwatts, o.Ran); energy > 0 {
		t.begin(now)
		t.Energy, changed = AddEnergy(t.Energy, energy), true
	}
	if o.Bill == nil {
		return changed
	}
	if amount, named := energyCost(o.Bill.Terms); named && amount != 0 {
		m := t.in(o.Bill.Currency, now)
		split(amount, &m.Cost, &m.Credit)
		changed = true
	}
	return changed
}

// AddSaving counts what a job has saved that home had quoted at so much and a partner billed at so
// much, and says whether anything changed.
func (t *Totals) AddSaving(home, billed protocol.Micro, currency string, now protocol.Instant) (changed bool) {
	saved := home.Plus(-max(billed, -maxMoney))
	if saved == 0 {
		return false
	}
	m := t.in(currency, now)
	split(saved, &m.Saved, &m.Lost)
	return true
}

// AddRunElsewhere counts what a job of this site has saved by its run at a partner, which at home would
// have taken so long, and says whether anything changed. A job is not counted that home did not quote a
// price for, that was not billed, or whose two prices cannot be compared.
func (t *Totals) AddRunElsewhere(j *row.Job, o *protocol.Outcome, atHome protocol.Duration, m Money, now protocol.Instant) (changed bool) {
	if j.Home == nil || j.Home.Run <= 0 || o.Bill == nil {
		return false
	}
	home, billed, currency := HomeCost(j.Home, atHome), o.Bill.Cost(), o.Bill.Currency
	if currency != j.Home.Currency {
		var fromHome, fromThere error
		home, fromHome = m.Convert(home, j.Home.Currency)
		billed, fromThere = m.Convert(billed, currency)
		if fromHome != nil || fromThere != nil {
			return false
		}
		currency = m.Own
	}
	return t.AddSaving(home, billed, currency, now)
}

// HomeCost is what home had quoted for a job, for a run of so long at home.
func HomeCost(home *view.QuotedPrice, ran protocol.Duration) protocol.Micro {
	return protocol.Micro(int128.Product(int64(home.Cost), int64(ran)).Nearest(int64(home.Run)))
}

func (t *Totals) begin(now protocol.Instant) { t.Since = cmp.Or(t.Since, now) }

// in are the totals of a currency, to be changed. Rows that were given out stay as they are.
func (t *Totals) in(currency string, now protocol.Instant) *view.MoneyTotals {
	t.begin(now)
	all := slices.Clone(t.Money)
	at, found := slices.BinarySearchFunc(all, currency, func(m view.MoneyTotals, c string) int { return cmp.Compare(m.Currency, c) })
	if !found {
		all = slices.Insert(all, at, view.MoneyTotals{Currency: currency})
	}
	t.Money = all
	return &all[at]
}

// split adds an amount to the total of those above 0, or to that of those below.
func split(amount protocol.Micro, above, below *protocol.Micro) {
	if amount > 0 {
		*above = above.Plus(amount)
		return
	}
	*below = below.Plus(-max(amount, -maxMoney))
}

// maxMoney is the largest amount.
const maxMoney = protocol.Micro(1<<63 - 1)
