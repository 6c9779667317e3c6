package peer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (p *Peer) askJob(ev event.AskJob) {
	if j := p.rows.Jobs[ev.Job]; j != nil {
		p.answer(ev.Asked, p.jobView(j, spending{}))
		return
	}
	if g := p.rows.Guests[ev.Job]; g != nil && g.Phase == row.GuestAccepted {
		p.answer(ev.Asked, p.guestView(g))
		return
	}
	p.answer(ev.Asked, p.noSuchJob(ev.Job))
}

// askOutput says whether a partner may fetch a guest's output. That there is none ends the job
// at its origin, so it is said only while these rows are certainly the newest.
func (p *Peer) askOutput(ev event.AskOutput) {
	switch {
	case p.hasOutput(ev.From, ev.Tag):
		p.answer(ev.Asked, view.Done{})
	case p.site.StopReason() != "":
		p.answer(ev.Asked, view.Refusal{Code: view.Unavailable, Reason: p.site.StopReason()})
	default:
		p.answer(ev.Asked, view.Refusal{
			Code: view.NotFound, Reason: fmt.Sprintf("job %v is not here for site %s", ev.Tag, ev.From),
		})
	}
}

func (p *Peer) hasOutput(origin protocol.SiteName, tag protocol.Tag) bool {
	if p.rows.Guests[tag.Job] != nil {
		return p.rows.HasOutput(origin, tag)
	}
	one := p.partners.Of(origin)
	return one != nil && p.ownsAside(one, tag)
}

// spending is what applications have spent, each reckoned once for a view of many jobs.
type spending map[*tables.Application]protocol.Micro

// standing is a job as its rows and what is known beside them have it.
func (p *Peer) standing(j *tables.Job) *status.Job {
	s := &status.Job{Job: &j.Job, Detail: j.Detail, NoEligibleSite: j.NoEligibleSite}
	if r := p.rows.Runs[j.Tag()]; r != nil {
		s.Run = &r.Run
	}
	if a := j.App; a != nil {
		s.Application = &a.Application
	}
	return s
}

// linkOf is how a site stands to this one.
func (p *Peer) linkOf(site protocol.SiteName) status.Link {
	one := p.partners.Of(site)
	switch {
	case one == nil:
		return status.NoPartner
	case one.Departed:
		return status.Departed
	case !one.Linked || one.Unresponsive:
		return status.Unreached
	}
	return status.Reached
}

func (p *Peer) jobView(j *tables.Job, spent spending) view.Job {
	s := p.standing(j)
	v := s.View(p.cfg.Site)
	v.Reason, v.Objectives = p.reasonOf(s), p.objectivesView(j, spent)
	v.Local = cmp.Or(j.Local, v.Local)
	if v.Bill = pricing.BillView(j.Tariff, j.State, j.Started, j.Outcome, p.now); v.Bill != nil {
		v.Bill.Disputed = j.Disputed
	}
	v.Energy = p.ownEnergy(j, v.Bill)
	return v
}

// objectivesView are the wishes for a job's application; nil for a job on its own.
func (p *Peer) objectivesView(j *tables.Job, known spending) *view.Objectives {
	a := j.App
	if a == nil {
		return nil
	}
	spent, ok := known[a]
	if !ok {
		spent = p.placed(&a.Application).Cost
		known[a] = spent
	}
	w := &view.Objectives{Application: a.Application.Application, Components: a.Count, Spent: spent, SpentCurrency: p.currency(), Broken: a.Broken}
	w.Alpha, w.Gamma, w.Delta = p.objectives().Weights(&j.Job, &a.Application)
	return w
}

// reasonOf says what a job that has not ended waits for.
func (p *Peer) reasonOf(s *status.Job) string {
	stopped := ""
	if !p.site.Listening {
		stopped = p.site.StopReason()
	}
	return s.Reason(p.linkOf, stopped)
}

// finishedView is how a job is shown after its end.
func (p *Peer) finishedView(j *tables.Job) view.Job {
	v := p.jobView(j, spending{})
	status.ShowOutcome(&v, &j.Job)
	return v
}

func (p *Peer) guestView(g *tables.Guest) view.Job {
	r := p.rows.Runs[g.Tag()]
	if r == nil {
		return status.Guest(&g.Guest, nil, p.cfg.Site)
	}
	v := status.Guest(&g.Guest, &r.Run, p.cfg.Site)
	v.Bill = pricing.BillView(g.Tariff, protocol.Running, r.Started, r.Outcome, p.now)
	v.Energy = pricing.EnergyOfRun(&r.Run, p.powerOf(r.Tag), v.Bill, p.now)
	return v
}

func (p *Peer) sitesView() view.Sites {
	own := view.Site{
		Site: p.cfg.Site, Number: p.cfg.Number, Self: true, Link: "self", Reason: p.site.StopReason(),
		CPUs: p.cfg.Capacity.CPUs, Nodes: p.cfg.Capacity.Nodes, Age: -1,
		LastSeen: p.now, Software: p.cfg.Software, Prices: p.prices.Text(p.cfg.Area),
	}
	own.ShowLoad(&p.load)
	own.Benefit = p.benefit.PPM()
	if p.loadAt != 0 {
		own.Age = 0
	}
	own.Price, own.PriceCurrency = p.prices.At(p.now)
	own.Electricity = p.electricityView()
	own.GuestJobs = p.rows.Committed()
	out, missing := view.Sites{Sites: []view.Site{own}}, p.rows.PartnerJobs()
	for _, one := range p.partners.All() {
		out.Sites = append(out.Sites, one.View(p.now, missing[one.Site].Missing()))
	}
	return out
}

func (p *Peer) quoted(r *round) view.TestSubmitResult {
	report := p.reportOf(r)
	out := view.TestSubmitResult{Elsewhere: p.admission().MayLeaveTo(r.Specs)}
	for i := 0; i < len(r.Specs); i = r.End(i) {
		quotes := append(report.All(i), p.leftOut(r, i)...)
		slices.SortStableFunc(quotes, func(a, b view.Quote) int { return cmp.Compare(a.ATT(), b.ATT()) })
		out.Jobs = append(out.Jobs, quotes)
	}
	return out
}

// queueView answers [event.AskQueue]. There may be very many jobs: only those of the page are shown.
func (p *Peer) queueView(f view.QueueFilter) view.Queue {
	page := status.NewPage(&f)
	p.listOn(&page, &f)
	listed, next := page.Jobs()
	out, spent := view.Queue{Next: next}, spending{}
	for _, one := range listed {
		if one.Guest {
			out.Jobs = append(out.Jobs, p.guestView(p.rows.Guests[one.ID]))
		} else {
			out.Jobs = append(out.Jobs, p.jobView(p.rows.Jobs[one.ID], spent))
		}
	}
	return out
}

// listOn lists the jobs that a filter wants, by their IDs where it names them.
func (p *Peer) listOn(page *status.Page, f *view.QueueFilter) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(f.Jobs))) {
		if j := p.rows.Jobs[id]; j != nil {
			page.Add(status.TraitsOf(&j.Job))
		}
		p.listGuest(page, p.rows.Guests[id])
	}
	if len(f.Jobs) > 0 {
		return
	}
	for id, j := range p.rows.Jobs {
		if page.Reaches(id) {
			page.Add(status.TraitsOf(&j.Job))
		}
	}
	for _, g := range p.rows.Guests {
		p.listGuest(page, g)
	}
}

func (p *Peer) listGuest(page *status.Page, g *tables.Guest) {
	if g != nil && status.Shown(&g.Guest) {
		v := p.guestView(g)
		page.Add(view.TraitsOf(&v))
	}
}

// noteBenefit compares a job that has run with what it would have had here.
func (p *Peer) noteBenefit(j *tables.Job) {
	if !j.LocalQuote.Known {
		return
	}
	var there *protocol.Capacity
	if one := p.partners.Of(j.Site); one != nil {
		if one.Card == nil {
			return
		}
		there = &one.Card.Capacity
	}
	p.benefit.AddJob(&j.Job, j.LocalQuote.AWT, &p.cfg.Capacity, there)
}
