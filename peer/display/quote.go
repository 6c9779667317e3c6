package display

import (
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// CostNotice says how the costs in quotes differ under a policy that computes with other
// prices than those of the planned hours; empty under all others.
func CostNotice(policy string) string {
	switch mcmf.Variant(policy) {
	case mcmf.Inst:
		return "COST is computed as by the policy inst: with the present electricity price, as if each job started immediately"
	case mcmf.TwoPrice:
		return "COST is computed as by the policy twoprice: with two electricity prices per day instead of those of the planned hours"
	case mcmf.Full:
	}
	return ""
}

// quoteColumn is a column of a table of quotes.
type quoteColumn struct {
	title    string
	cell     func(view.Quote) string
	declined bool // shown of a quote that is declined, too
}

// Quotes shows one job's quotes, those of sites that decline included.
func Quotes(quotes []view.Quote, long bool) *console.Table {
	columns := slices.Concat(
		[]quoteColumn{{"SITE", func(q view.Quote) string { return console.Plain(string(q.Site)) }, true}},
		shapeColumn(quotes),
		[]quoteColumn{
			{" WAIT", func(q view.Quote) string { return console.Span(q.AWT) }, false},
			{" P10", func(q view.Quote) string { return console.Span(q.AWTLow) }, false},
			{" P50", func(q view.Quote) string { return console.Span(q.Median) }, false},
			{" P90", func(q view.Quote) string { return console.Span(q.AWTHigh) }, false},
			{" RUN", func(q view.Quote) string { return console.Span(q.ERT) }, false},
			{" TOTAL", func(q view.Quote) string { return console.Span(q.ATT()) }, false},
			{" COST", func(q view.Quote) string {
				if abroad(q, long) {
					return console.Amount(q.Money.Cost, q.Money.Currency)
				}
				return cost(q)
			}, false},
		},
		moneyColumns(long),
		[]quoteColumn{
			{" RUS", func(q view.Quote) string { return console.Percent(q.RUS) }, true},
			{"NOTE", func(q view.Quote) string {
				if q.Declined != "" {
					return console.Plain(q.Declined)
				}
				asks := ""
				if abroad(q, long) {
					asks = "asks " + cost(q)
				}
				return notes(console.Plain(q.Note), asks, travels(q), bound(q), oldLoad(q.Age))
			}, true},
		},
	)
	return tableOf(quotes, columns)
}

func tableOf(quotes []view.Quote, columns []quoteColumn) *console.Table {
	t := &console.Table{}
	for _, column := range columns {
		t.Titles = append(t.Titles, column.title)
	}
	for _, q := range quotes {
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = "-"
			if q.Declined == "" || column.declined {
				cells[i] = column.cell(q)
			}
		}
		t.Add(cells...)
	}
	return t
}

// abroad says whether a quote is in another currency than the terms beside it: it is shown in theirs.
func abroad(q view.Quote, long bool) bool {
	return long && q.Money != nil && q.Currency != "" && q.Money.Currency != "" && q.Currency != q.Money.Currency && q.Money.Cost != 0
}

// shapeColumn tells the CPUs of a job that may run on several counts.
func shapeColumn(quotes []view.Quote) []quoteColumn {
	if !moldable(quotes) {
		return nil
	}
	return []quoteColumn{{" CPUS", func(q view.Quote) string { return strconv.Itoa(q.CPUs) }, true}}
}

func moldable(quotes []view.Quote) bool {
	return slices.ContainsFunc(quotes, func(q view.Quote) bool { return q.CPUs > 0 })
}

// moneyColumns tell the terms of [IS 4.2] that count in choosing a site.
func moneyColumns(long bool) []quoteColumn {
	if !long {
		return nil
	}
	column := func(title string, term func(*view.Money) protocol.Micro) quoteColumn {
		return quoteColumn{title, func(q view.Quote) string {
			if q.Money == nil {
				return "-"
			}
			return console.Amount(term(q.Money), q.Money.Currency)
		}, false}
	}
	return []quoteColumn{
		column(" CPU", func(m *view.Money) protocol.Micro { return m.CPU }),
		column(" LICENSE", func(m *view.Money) protocol.Micro { return m.License }),
		column(" ENERGY", func(m *view.Money) protocol.Micro { return m.Energy }),
		column(" DATA", func(m *view.Money) protocol.Micro { return m.Data }),
	}
}

// cost is what a quote comes to, "-" when the site names no price.
func cost(q view.Quote) string {
	if q.Currency == "" {
		return "-"
	}
	return console.Amount(q.Cost, q.Currency)
}

// travels says how long the job's data are on their way to the site.
func travels(q view.Quote) string {
	if q.Transfer == 0 {
		return ""
	}
	return "data transfer takes " + console.Span(q.Transfer)
}

// bound says until when a job starts for almost sure, if the site states that.
func bound(q view.Quote) string {
	if q.Bound == 0 {
		return ""
	}
	return "starts within " + console.Span(q.Bound) + ", nominally 95 %"
}

// terms lists what a quote's price is made of.
func terms(q view.Quote) string {
	all := make([]string, len(q.Terms))
	for i, term := range q.Terms {
		all[i] = console.Plain(term.Name) + " " + console.Amount(term.Amount, q.Currency)
	}
	return strings.Join(all, " + ")
}

// weighed lists the terms that counted in choosing a site.
func weighed(m *view.Money) string {
	if m == nil {
		return ""
	}
	term := func(name string, of protocol.Micro) string { return name + " " + console.Amount(of, m.Currency) }
	return "weighted: " + strings.Join([]string{
		term("K_e", m.CPU), term("K_l", m.License), term("K_eco", m.Energy), term("K_d", m.Data),
	}, " + ")
}

// notes joins remarks, without those that are empty.
func notes(remarks ...string) string {
	return joined("; ", remarks...)
}

// oldLoad remarks on a RUS that is not from just now.
func oldLoad(age *protocol.Duration) string {
	if age == nil || *age < 10*protocol.Second {
		return ""
	}
	return "RUS is " + console.Span(*age) + " old"
}

// joined joins texts, without those that are empty.
func joined(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), between)
}
