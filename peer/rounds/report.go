package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Report shows the quotes of a round to people.
type Report struct {
	Round *Round
	Own   Own
	Now   protocol.Instant
	// Unasked says why a partner that is asked about other jobs is not asked about a row.
	Unasked func(row int, one *partner.Partner) string
	// Describe adds what people want to know of components; a is nil for the own site.
	Describe func(row int, a *Ask, q view.Quote) view.Quote
}

// QuoteView is a site's quote as people see it.
func QuoteView(site protocol.SiteName, q *protocol.Quote, load protocol.Load, age protocol.Duration) view.Quote {
	return view.Quote{
		Site: site, Declined: q.Declined, AWT: q.AWT, AWTLow: q.AWTLow, AWTHigh: q.AWTHigh, ERT: q.ERT,
		RUS: load.RUS(), Age: age,
		Bound: q.Bound, Terms: view.PriceTerms(q.Terms), Cost: q.Cost(), Currency: q.Currency, Note: q.Note,
	}
}

// Quote is a partner's quote for a row as people see it; without an ask the own one.
func (p *Report) Quote(row int, a *Ask) view.Quote {
	if a == nil {
		return p.Describe(row, nil, QuoteView(p.Own.Site, &p.Round.Home[row], p.Own.Load, 0))
	}
	quote := a.Quote(row)
	q := QuoteView(a.Partner.Site, &quote, a.Partner.Load, a.Partner.LoadAge(p.Now))
	if q.Declined == NotAsked {
		q.Declined = p.Unasked(row, a.Partner)
	}
	if q.Declined == "" {
		q.Transfer = a.Partner.Transfer(&p.Round.Specs[row])
	}
	return p.Describe(row, a, q)
}

// Row are the quotes for a row, the least turnaround first, refusals last, each by name: at most so
// many of them.
func (p *Report) Row(row, limit int) []view.Quote {
	type ranked struct {
		turnaround protocol.Duration
		name       protocol.SiteName
		ask        *Ask // nil: the own site's
	}
	r := p.Round
	rank := make([]ranked, 0, len(r.Asks)+1)
	rank = append(rank, ranked{turnaround: r.Home[row].ATT(), name: p.Own.Site})
	for _, a := range r.Asks {
		rank = append(rank, ranked{a.turnaround(row, &r.Specs[row]), a.Partner.Site, a})
	}
	slices.SortFunc(rank, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.turnaround, b.turnaround), cmp.Compare(a.name, b.name))
	})
	rank = rank[:min(limit, len(rank))]
	out := make([]view.Quote, len(rank))
	for k := range rank {
		out[k] = p.Quote(row, rank[k].ask)
	}
	return out
}

// Log events have all quotes for each job in rounds of at most manyJobs; in larger ones the
// best, so that what is logged grows with the jobs and not with the sites.
const (
	manyJobs   = 256
	bestQuotes = 8
)

// Job are the quotes for the job whose first row is i, as far as log events have them, and how many
// others there are.
func (p *Report) Job(i int) (quotes []view.Quote, others int) {
	all := len(p.Round.Asks) + 1
	limit := all
	if len(p.Round.Specs) > manyJobs {
		limit = bestQuotes
	}
	end := p.Round.End(i)
	for row := i; row < end; row++ {
		quotes = append(quotes, p.Row(row, limit)...)
	}
	return quotes, all*(end-i) - len(quotes)
}

// All are all quotes for the job whose first row is i.
func (p *Report) All(i int) (quotes []view.Quote) {
	for row := i; row < p.Round.End(i); row++ {
		quotes = append(quotes, p.Row(row, len(p.Round.Asks)+1)...)
	}
	return quotes
}

// Declines says what the sites said that take a job not, and how many others said so.
func Declines(quotes []view.Quote, others int) string {
	noes := make([]string, 0, len(quotes)+1)
	for _, q := range quotes {
		noes = append(noes, fmt.Sprintf("%s: %s", q.Site, q.Declined))
	}
	if others > 0 {
		noes = append(noes, fmt.Sprintf("and %d others", others))
	}
	return strings.Join(noes, "; ")
}

// FrontView is a front of cost and time as people see it.
func FrontView(in *policy.Snapshot, f *policy.ParetoFront) *view.ParetoFront {
	out := &view.ParetoFront{Currency: f.Currency, Truncated: f.More, Gap: f.Gap, Reason: f.Reason, Points: []view.ParetoPoint{}}
	for _, point := range f.Points {
		seen := view.ParetoPoint{Time: point.Time, Cost: point.Cost, Chosen: point.Chosen}
		for _, c := range point.Choices {
			seen.Choices = append(seen.Choices, view.ParetoChoice{
				Site: in.Sites[c.Site].Name, CPUs: c.CPUs, Wait: c.Wait, Run: c.Run, Cost: c.Cost,
			})
		}
		out.Points = append(out.Points, seen)
	}
	return out
}
