package display

import (
	"cmp"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// Round has all that the quotes of a round say, the best first, then the sites that did not answer: the waits with their
// interval, each term of the price, and what counted in the choice. An arrow marks the quote that was chosen.
func Round(fact event.LogEvent) *console.Table {
	quotes := bestFirst(fact.Quotes)
	chosen := func(q view.Quote) bool { return q.Site == fact.Site && q.CPUs == fact.CPUs }
	columns := slices.Concat(
		[]quoteColumn{chosenColumn(chosen), {"SITE", func(q view.Quote) string { return console.Plain(string(q.Site)) }, true}},
		shapeColumn(quotes),
		[]quoteColumn{
			{" WAIT", func(q view.Quote) string { return console.Span(q.AWT) }, false},
			{" P10", func(q view.Quote) string { return console.Span(q.AWTLow) }, false},
			{" P50", func(q view.Quote) string { return console.Span(q.Median) }, false},
			{" P90", func(q view.Quote) string { return console.Span(q.AWTHigh) }, false},
			{" RUN", func(q view.Quote) string { return console.Span(q.ERT) }, false},
			{" TOTAL", func(q view.Quote) string { return console.Span(q.ATT()) }, false},
			{" COST", cost, false},
		},
		termColumns(quotes),
		[]quoteColumn{
			{" RUS", func(q view.Quote) string { return console.Percent(q.RUS) }, true},
			{"NOTE", func(q view.Quote) string {
				if q.Declined != "" {
					return "declines: " + console.Plain(q.Declined)
				}
				return notes(console.Plain(q.Note), travels(q), weighed(q.Money), bound(q), oldLoad(q.Age))
			}, true},
		},
	)
	rows := tableOf(quotes, columns)
	addSilent(rows, fact.Silent)
	return rows
}

// termColumns have a column for each term of the prices.
func termColumns(quotes []view.Quote) (columns []quoteColumn) {
	seen := map[string]bool{}
	for _, q := range quotes {
		for _, term := range q.Terms {
			if seen[term.Name] {
				continue
			}
			seen[term.Name] = true
			columns = append(columns, quoteColumn{" " + strings.ToUpper(console.Plain(term.Name)), func(q view.Quote) string {
				at := slices.IndexFunc(q.Terms, func(one view.PriceTerm) bool { return one.Name == term.Name })
				if at < 0 {
					return "-"
				}
				return q.Terms[at].Amount.Text()
			}, false})
		}
	}
	return columns
}

// chosenColumn marks the quote that was chosen.
func chosenColumn(chosen func(view.Quote) bool) quoteColumn {
	return quoteColumn{"", func(q view.Quote) string {
		if chosen(q) {
			return "→"
		}
		return ""
	}, true}
}

// bestFirst are quotes by their turnaround times, and then those that are declined.
func bestFirst(quotes []view.Quote) []view.Quote {
	quotes = slices.Clone(quotes)
	slices.SortStableFunc(quotes, func(x, y view.Quote) int {
		switch {
		case (x.Declined == "") != (y.Declined == ""):
			if x.Declined == "" {
				return -1
			}
			return 1
		case x.Declined != "":
			return strings.Compare(string(x.Site), string(y.Site))
		}
		return cmp.Compare(x.ATT(), y.ATT())
	})
	return quotes
}

// addSilent adds the sites that did not answer.
func addSilent(rows *console.Table, silent []string) {
	for _, site := range silent {
		cells := slices.Repeat([]string{"-"}, len(rows.Titles))
		cells[0], cells[1], cells[len(cells)-1] = "", console.Plain(site), "did not answer in time"
		rows.Add(cells...)
	}
}
