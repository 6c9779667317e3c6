package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func (p *Peer) askJob(ev AskJob) {
	if j := p.jobs[ev.Job]; j != nil {
		p.answer(ev.Asked, p.jobView(j))
		return
	}
	if g := p.guests[ev.Job]; g != nil && g.Phase == GuestIsOwned {
		p.answer(ev.Asked, p.guestView(g))
		return
	}
	p.answer(ev.Asked, p.noSuchJob(ev.Job))
}

func (p *Peer) queueView() Queue {
	var out []JobView
	for _, j := range p.jobs {
		out = append(out, p.jobView(j))
	}
	for _, g := range p.guests {
		if g.Phase == GuestIsOwned || g.Phase == GuestIsPrepared {
			out = append(out, p.guestView(g))
		}
	}
	slices.SortFunc(out, func(a, b JobView) int { return cmp.Compare(a.ID, b.ID) })
	return Queue{Jobs: out}
}

func specView(s protocol.Spec) JobView {
	return JobView{
		ID: s.Job, Name: s.Name, User: s.User, CPUs: s.CPUs, Nodes: s.Nodes, MemoryMB: s.MemoryMB,
		WallTime: s.WallTime, Sites: s.Sites, Requeue: s.Requeue, Submitted: s.Submitted,
		Power: s.Power, Data: s.Data,
	}
}

func (p *Peer) jobView(j *job) JobView {
	v := specView(j.Spec)
	v.State, v.Reason, v.Origin, v.Site, v.Epoch = j.State, p.reasonOf(j), p.cfg.Site, j.Site, j.Epoch
	v.Placed, v.Started, v.Ended, v.QuotedAWT = j.Placed, j.Started, j.Ended, j.QuotedAWT
	v.WorkDir, v.Stdout, v.Stderr = j.WorkDir, j.Stdout, j.Stderr
	if j.Phase == Offered {
		v.Site = ""
	}
	return v
}

// reasonOf says what a job that has not ended waits for.
func (p *Peer) reasonOf(j *job) string {
	if j.Stuck != "" {
		return "NeedsOperator: " + j.Stuck
	}
	if r := p.runs[j.tag()]; r != nil && r.Stuck != "" {
		return "NeedsOperator: " + r.Stuck
	}
	one := p.byName[j.Site]
	switch {
	case j.Phase == Collecting:
		return cmp.Or(j.Reason, reasonCollecting)
	case one != nil && (!one.linked || one.silent) && j.Phase != Offered:
		return reasonUnreachable
	case j.Cancelling:
		return reasonCancelling
	case j.Phase == InGridQueue && j.unknown:
		return reasonNoKnownSite
	case j.Phase == InGridQueue:
		return detailed(cmp.Or(j.Reason, reasonGridQueue), j.detail)
	case j.Phase == Offered || j.Phase == Granted:
		return reasonHandOff
	}
	return j.Reason
}

// finishedView is how a job is shown after its end.
func (p *Peer) finishedView(j *job) JobView {
	v := p.jobView(j)
	v.State, v.Reason, v.Ended = j.State, j.Reason, j.Ended
	if j.Outcome != nil {
		v.ExitCode, v.Signal = j.Outcome.ExitCode, j.Outcome.Signal
	}
	return v
}

func (p *Peer) guestView(g *guest) JobView {
	v := specView(g.Spec)
	v.Guest, v.Origin, v.Site, v.Epoch = true, g.Origin, p.cfg.Site, g.Epoch
	v.State, v.Reason, v.Placed = protocol.Pending, reasonHandOff, g.Since
	r := p.runs[g.tag()]
	if r == nil {
		return v
	}
	v.Reason, v.Started = cmp.Or(r.Stuck, r.Reason), r.Started
	switch r.Phase {
	case Running:
		v.State = protocol.Running
	case Ended:
		v.State, v.Reason = r.Outcome.State, cmp.Or(r.Outcome.Reason, "waits for "+string(g.Origin)+" to take its result")
		v.ExitCode, v.Signal = r.Outcome.ExitCode, r.Outcome.Signal
		v.Ended = r.Started.Add(r.Outcome.Ran)
	case Submitting, Queued:
	}
	return v
}

func (p *Peer) sitesView() Sites {
	own := SiteView{
		Site: p.cfg.Site, Number: p.cfg.Number, Self: true, Link: "self", Why: p.clash,
		CPUs: p.cfg.Capacity.CPUs, Nodes: p.cfg.Capacity.Nodes, Age: -1,
		Busy: p.load.Busy, Queued: p.load.QueuedJobs, RUS: p.load.RUS(), LastSeen: p.now, Software: p.cfg.Software,
		Withheld: p.load.Withheld, Draw: watts(p.load.Draw), Budget: watts(p.load.Budget),
		Benefit: p.benefit.ppm(), Prices: p.pricesView(),
	}
	if p.loadAt != 0 {
		own.Age = 0
	}
	for _, j := range p.jobs {
		if j.Phase == AtHome {
			own.JobsHere++
		}
	}
	out := Sites{Sites: []SiteView{own}}
	for _, one := range p.partners {
		out.Sites = append(out.Sites, p.partnerView(one))
	}
	return out
}

func (p *Peer) partnerView(one *partner) SiteView {
	v := SiteView{
		Site: one.Site, Link: "up", Age: -1, LastSeen: one.heard,
		JobsHere: one.jobsHere, JobsSent: one.jobsThere,
	}
	switch {
	case one.refused != "":
		v.Link, v.Why = "refused", one.refused
	case !one.linked:
		v.Link = "down"
	case one.silent:
		v.Link, v.Why = "silent", "missed a deadline; left out until heard again"
	}
	if one.card != nil {
		v.Number, v.Software = one.card.Number, one.card.Software
		v.CPUs, v.Nodes = one.card.Capacity.CPUs, one.card.Capacity.Nodes
	}
	if one.loadAt != 0 {
		v.Age, v.Busy, v.Queued, v.RUS = p.now.Sub(one.loadAt), one.load.Busy, one.load.QueuedJobs, one.load.RUS()
		v.Benefit = one.load.Benefit
		v.Withheld, v.Draw, v.Budget = one.load.Withheld, watts(one.load.Draw), watts(one.load.Budget)
	}
	return v
}

// watts are milliwatts in watts, rounded up, so that a small draw never reads as none.
func watts(mw int64) int64 {
	w := mw / 1000
	if mw%1000 > 0 {
		w++
	}
	return w
}

func (p *Peer) quoted(r *round) Quoted {
	var out Quoted
	for i := range r.specs {
		out.Jobs = append(out.Jobs, p.siteQuotes(r, i, len(r.asks)+1))
	}
	return out
}

func viewQuote(site protocol.SiteName, q protocol.Quote, load protocol.Load, age protocol.Duration) SiteQuote {
	return SiteQuote{
		Site: site, Declined: q.Declined, AWT: q.AWT, AWTLow: q.AWTLow, AWTHigh: q.AWTHigh, ERT: q.ERT,
		RUS: load.RUS(), Age: age,
		Bound: q.Bound, Terms: termsView(q.Terms), Cost: q.Cost(), Currency: q.Currency, Note: q.Note,
	}
}

func termsView(terms []protocol.Term) (out []PriceTerm) {
	for _, one := range terms {
		out = append(out, PriceTerm{Name: one.Name, Amount: one.Amount})
	}
	return out
}
