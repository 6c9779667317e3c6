package answers

import (
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Here is what the local site shows of itself beside its accounts.
type Here struct {
	Software  string
	PublicKey string
	Area      string // of its prices
	Load      protocol.Load
	Loaded    bool // the load is known
	Benefit   int  // of its own jobs by the grid, see [status.Benefit]
}

// Sites are the local site and its partners.
func (a Answers) Sites(here Here) view.Sites {
	own := view.Site{
		Site: a.Name, Number: a.Number, Self: true, Link: "self", Reason: a.Site.StopReason(), Drain: a.Site.Drain,
		GuestJobs: a.Rows.Committed(), LastSeen: a.Now, Software: here.Software, PublicKey: here.PublicKey, Prices: a.Desk.Prices.Text(here.Area),
		OperatorJobs: a.operatorJobs(),
	}
	own.ShowCapacity(a.Desk.Capacity)
	own.ShowLoad(&here.Load)
	own.Benefit = here.Benefit
	if here.Loaded {
		own.Age = new(protocol.Duration(0))
	}
	own.Price, own.PriceCurrency = a.Desk.Prices.At(a.Now)
	own.Electricity = a.Electricity(here.Load.Draw)
	out, missing := view.Sites{Sites: []view.Site{own}}, a.Rows.PartnerJobs()
	for _, one := range a.Partners.All() {
		out.Sites = append(out.Sites, one.View(a.Now, missing[one.Site].Missing()))
	}
	return out
}

// operatorJobs counts the jobs that only an operator of this site can decide about.
func (a Answers) operatorJobs() (jobs int) {
	for _, j := range a.Rows.Jobs {
		if a.NeedsOperator(j) != "" {
			jobs++
		}
	}
	for tag, r := range a.Rows.Runs {
		if r.OperatorReason != "" && a.Rows.Guests[tag.Job] != nil {
			jobs++
		}
	}
	return jobs
}

// Recovery says what is wrong with the store, and what an operator's word would do.
func (a Answers) Recovery() view.Recovery {
	v := a.Site.View()
	lives.ListJobs(&v, func(yield func(*row.Job) bool) {
		for _, id := range a.Rows.JobIDs() {
			if !yield(a.Rows.JobRow(id)) {
				return
			}
		}
	})
	for _, id := range a.Rows.GuestIDs() {
		if a.Rows.Guests[id].Phase.Open() {
			v.Guests = append(v.Guests, id)
		}
	}
	for _, tag := range a.Watched.Tags() {
		c, _ := a.Watched.Aside(tag)
		v.Aside = append(v.Aside, view.AsideJob{Tag: tag, State: c.State})
	}
	for _, one := range a.Partners.All() {
		if mark, ok := one.Mark(a.Number); ok {
			v.Partners = append(v.Partners, mark)
		}
	}
	return v
}
