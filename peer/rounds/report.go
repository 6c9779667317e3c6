package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Report shows the quotes of a round to people.
type Report struct {
	Round *Round
	Own   Own
	Now   protocol.Instant
	// Asking judges whom the round asks about which rows.
	Asking *Asking
	// Money converts the parts of prices for a policy that decides about applications; nil: the policy does
	// not.
	Money *pricing.Money
	// LocalOnly says that the policy asks no partner.
	LocalOnly bool
}

// Quote is a partner's quote for a row as people see it; without an ask the own one.
func (p *Report) Quote(row int, a *Ask) view.Quote {
	if a == nil {
		return p.describe(row, nil, view.NewQuote(p.Own.Site, p.Round.Home[row], p.Own.Load, new(protocol.Duration(0))))
	}
	quote := a.Quote(row)
	q := view.NewQuote(a.Partner.Site, quote, a.Partner.Load, a.Partner.LoadAge(p.Now))
	if q.Declined == NotAsked {
		q.Declined = p.Asking.UnaskedReason(row, a.Partner)
	}
	if q.Declined == "" {
		q.Transfer = a.Transfer(row, &p.Round.Specs[row])
	}
	return p.describe(row, a, q)
}

// describe adds to a quote what users want to know of components; a is nil for the local site.
func (p *Report) describe(row int, a *Ask, q view.Quote) view.Quote {
	if j := p.Asking.Job(row).Row; j != nil && len(j.Shapes()) > 1 {
		q.CPUs = p.Round.Specs[row].CPUs
	}
	if p.Money == nil {
		return q
	}
	if q.Declined == "" {
		m := p.Round.Money(*p.Money, row, a)
		if all, err := p.Money.Convert(q.Cost, q.Currency); err == nil {
			m.Cost = all
		}
		q.Money = &m
	}
	return q
}

// leftOut are the partners that the round does not ask about the job whose first row is i, and that it could: those that are drained, that gave it
// back and said why, that the job names and that cannot be reached, and, if it is a component that starts with others, those that cannot reserve CPUs.
func (p *Report) leftOut(i int) (out []view.Quote) {
	j := p.Asking.Job(i)
	if j.Row == nil || p.LocalOnly {
		return nil
	}
	for _, one := range p.Asking.Partners {
		site, spec := one.AsSite(), &p.Round.Specs[i]
		named := len(spec.Sites) > 0 && spec.Allows(one.Site)
		if p.Round.AskOf(one) != nil || !one.Available() && !named {
			continue
		}
		q := protocol.Quote{Declined: j.Excluded.Reason(one.Site, p.Now)}
		if one.Row.Drain.StopsSending() && site.Judge(spec, j.Row.Together()) == eligible.Eligible {
			q.Declined = one.Row.Drain.String()
		}
		if j.Row.Together() && site.Judge(spec, true) == eligible.HoldsNoRoom {
			q.Declined = site.IneligibleReason(spec, true)
		}
		if !one.Available() {
			q.Declined = unavailableReason(one)
		}
		if q.Declined == "" {
			continue
		}
		out = append(out, p.describe(i, nil, view.NewQuote(one.Site, q, one.Load, one.LoadAge(p.Now))))
	}
	return out
}

// unavailableReason is why no jobs can be exchanged with a partner now.
func unavailableReason(one *partner.Partner) string {
	switch {
	case one.Barred != "":
		return one.Barred
	case one.Linked && one.Unresponsive:
		return "it does not answer in time"
	}
	return "it cannot be reached"
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
	others = all*(end-i) - len(quotes)
	return append(quotes, p.leftOut(i)...), others
}

// Jobs are all quotes for each job of the round, the least turnaround first.
func (p *Report) Jobs() (jobs [][]view.Quote) {
	for i := 0; i < len(p.Round.Specs); i = p.Round.End(i) {
		quotes := []view.Quote{} // a list, also in JSON
		for row := i; row < p.Round.End(i); row++ {
			quotes = append(quotes, p.Row(row, len(p.Round.Asks)+1)...)
		}
		quotes = append(quotes, p.leftOut(i)...)
		slices.SortStableFunc(quotes, func(a, b view.Quote) int { return cmp.Compare(a.ATT(), b.ATT()) })
		jobs = append(jobs, quotes)
	}
	return jobs
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

// NoFrontReason says why no policy can find the choices between cost and time that the jobs have; empty: one
// can. BuiltIn says that a built-in policy finds them where the policy of the site does not.
func NoFrontReason(in *policy.Snapshot, by *policy.Description, builtIn bool) string {
	switch {
	case len(in.Applications) != 1:
		return "the jobs are of several applications; ask about one"
	case !by.HasParetoFront() && !builtIn:
		return fmt.Sprintf("the policy %s of this site lays out none", by.Name)
	}
	return ""
}
