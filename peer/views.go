package peer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (p *Peer) askJob(ev AskJob) {
	if j := p.jobs[ev.Job]; j != nil {
		p.answer(ev.Asked, p.jobView(j, spending{}))
		return
	}
	if g := p.guests[ev.Job]; g != nil && g.Phase == row.GuestAccepted {
		p.answer(ev.Asked, p.guestView(g))
		return
	}
	p.answer(ev.Asked, p.noSuchJob(ev.Job))
}

// askOutput says whether a partner may fetch a guest's output. That there is none ends the job
// at its origin, so it is said only while these rows are certainly the newest.
func (p *Peer) askOutput(ev AskOutput) {
	switch {
	case p.hasOutput(ev.From, ev.Tag):
		p.answer(ev.Asked, view.Done{})
	case p.site.StopReason() != "":
		p.answer(ev.Asked, view.Refusal{Code: view.NotNow, Reason: p.site.StopReason()})
	default:
		p.answer(ev.Asked, view.Refusal{
			Code: view.NotFound, Reason: fmt.Sprintf("job %v is not here for site %s", ev.Tag, ev.From),
		})
	}
}

func (p *Peer) hasOutput(origin protocol.SiteName, tag protocol.Tag) bool {
	if g := p.guests[tag.Job]; g != nil {
		return g.Phase == row.GuestAccepted && g.Origin == origin && g.Epoch == tag.Epoch
	}
	one := p.byName[origin]
	return one != nil && p.ownsAside(one, tag)
}

// spending is what applications have spent, each reckoned once for a view of many jobs.
type spending map[*application]protocol.Micro

func (p *Peer) jobView(j *job, spent spending) view.Job {
	v := view.Described(j.Spec)
	v.State, v.Reason, v.Origin, v.Site, v.Epoch = j.State, p.reasonOf(j), p.cfg.Site, j.shownSite(), j.Epoch
	v.Placed, v.Started, v.Ended, v.QuotedAWT = j.Placed, j.Started, j.Ended, j.QuotedAWT
	v.WorkDir, v.Stdout, v.Stderr = j.WorkDir, j.Stdout, j.Stderr
	if v.Local = j.local; v.Local == "" && p.runs[j.tag()] != nil {
		v.Local = p.runs[j.tag()].Local
	}
	v.Application, v.Component, v.Held = j.Application, j.ComponentName(), j.Held
	if j.Component == nil {
		v.Component = ""
	}
	v.Wishes, v.Together = p.wishesView(j, spent), j.startView()
	if j.Foreseen != nil {
		v.Cost, v.Foreseen = j.Foreseen.Cost, j.Foreseen.Run
	}
	v.Quoted, v.ClockOffset = j.Quoted, j.Offset
	if v.Bill = pricing.BillView(j.Tariff, j.State, j.Started, j.Outcome, p.now); v.Bill != nil {
		v.Bill.Disputed = j.Disputed
	}
	v.Home, v.Energy = j.Home, p.ownEnergy(j, v.Bill)
	return v
}

// wishesView are the wishes for a job's application; nil for a job on its own.
func (p *Peer) wishesView(j *job, known spending) *view.Objectives {
	a := j.application
	if a == nil {
		return nil
	}
	spent, ok := known[a]
	if !ok {
		spent, _ = p.placedCost(a)
		known[a] = spent
	}
	w := &view.Objectives{Application: a.Application.Application, Components: a.Count, Spent: spent, SpentCurrency: p.currency(), Broken: a.Broken}
	w.Alpha, w.Gamma, w.Delta = p.weights(j)
	return w
}

// reasonOf says what a job that has not ended waits for.
func (p *Peer) reasonOf(j *job) string {
	if why := p.doubtOf(j); why != "" {
		return "NeedsOperator: " + why + p.remedyOf(j)
	}
	if why := p.site.StopReason(); why != "" && !p.site.Listening && j.State == protocol.Pending && j.Phase != row.JobStagingOut {
		return "NeedsOperator: " + why
	}
	one := p.byName[j.Site]
	switch {
	case j.Phase == row.JobStagingOut:
		return cmp.Or(j.Reason, reasonCollecting)
	case j.Phase == row.JobEnding:
		return j.endingReason()
	case one != nil && (!one.linked || one.silent) && j.Phase != row.JobOffered:
		return reasonUnreachable
	case j.Cancelling:
		return reasonCancelling
	}
	return j.unplacedReason()
}

// unplacedReason is why a job is not in a local queue yet; else what that says.
func (j *job) unplacedReason() string {
	switch {
	case j.Phase == row.JobInGridQueue && j.unknown:
		return reasonNoKnownSite
	case j.Phase == row.JobInGridQueue:
		return detailed(cmp.Or(j.Reason, reasonGridQueue), j.detail)
	case j.SeeksRoom():
		return reasonGroup
	case j.Phase == row.JobOffered:
		return reasonHandOff
	case j.Held != 0 && j.State == protocol.Pending:
		return startsTogether(j.Held)
	case j.Phase == row.JobGranted:
		return reasonHandOff
	}
	return j.Reason
}

// startsTogether is what a job waits for that has its room from an instant on.
func startsTogether(at protocol.Instant) string {
	return detailed(reasonTogether, "at "+at.Time().Format("15:04:05Z"))
}

// finishedView is how a job is shown after its end.
func (p *Peer) finishedView(j *job) view.Job {
	v := p.jobView(j, spending{})
	v.State, v.Reason, v.Ended = j.State, j.Reason, j.Ended
	if j.Outcome != nil {
		v.ExitCode, v.Signal, v.Usage = j.Outcome.ExitCode, j.Outcome.Signal, j.Outcome.Usage
	}
	return v
}

func (p *Peer) guestView(g *guest) view.Job {
	v := view.Described(g.Spec)
	v.Guest, v.Origin, v.Site, v.Epoch = true, g.Origin, p.cfg.Site, g.Epoch
	v.State, v.Reason, v.Placed, v.Together = protocol.Pending, reasonHandOff, g.Since, g.startView()
	r := p.runs[g.tag()]
	if r == nil {
		return v
	}
	v.Bill = pricing.BillView(g.Tariff, protocol.Running, r.Started, r.Outcome, p.now)
	v.Energy = p.guestEnergy(r, v.Bill)
	v.Reason, v.Started, v.Local = cmp.Or(r.Stuck, r.Reason), r.Started, r.Local
	if v.Held = g.Held; g.Held != 0 && v.Reason == "" && r.Phase != row.RunRunning {
		v.Reason = startsTogether(g.Held)
	}
	switch r.Phase {
	case row.RunRunning:
		v.State = protocol.Running
	case row.RunEnded:
		v.State, v.Reason = r.Outcome.State, cmp.Or(r.Outcome.Reason, "waits for "+string(g.Origin)+" to take its result")
		v.ExitCode, v.Signal = r.Outcome.ExitCode, r.Outcome.Signal
		v.Ended = r.ended()
	case row.RunSubmitting, row.RunQueued:
	}
	return v
}

func (p *Peer) sitesView() view.Sites {
	own := view.Site{
		Site: p.cfg.Site, Number: p.cfg.Number, Self: true, Link: "self", Why: p.site.StopReason(),
		CPUs: p.cfg.Capacity.CPUs, Nodes: p.cfg.Capacity.Nodes, Age: -1,
		Busy: p.load.Busy, Queued: p.load.QueuedJobs, RUS: p.load.RUS(), LastSeen: p.now, Software: p.cfg.Software,
		Withheld: p.load.Withheld, Draw: watts(p.load.Draw), Budget: budgetWatts(p.load.Budget),
		Benefit: p.benefit.ppm(), Prices: p.prices.Text(p.cfg.Area),
	}
	if p.loadAt != 0 {
		own.Age = 0
	}
	own.Price, own.PriceCurrency = p.prices.At(p.now)
	own.Electricity = p.electricityView()
	for _, j := range p.jobs {
		if j.Phase == row.JobCommittedLocal {
			own.JobsHere++
		}
	}
	out := view.Sites{Sites: []view.Site{own}}
	for _, one := range p.partners {
		out.Sites = append(out.Sites, p.partnerView(one))
	}
	return out
}

func (p *Peer) partnerView(one *partner) view.Site {
	v := view.Site{
		Site: one.Site, Link: "up", Age: -1, LastSeen: one.heard,
		JobsHere: one.jobsHere, JobsSent: one.jobsThere,
	}
	if all := one.row.Quality.Total(); all > 0 {
		v.Kept = one.row.Quality.Weights[row.Kept] * protocol.PPM / all
	}
	if one.row.Quality.Doubtful {
		v.Doubt = one.row.Quality.String()
	}
	switch {
	case one.departed:
		v.Link, v.Why = "missing", p.partnerJobs()[one.Site].Missing()
	case one.refused != "":
		v.Link, v.Why = "refused", one.refused
	case !one.linked:
		v.Link, v.Why = "down", one.unlinked
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
		v.Withheld, v.Draw, v.Budget = one.load.Withheld, watts(one.load.Draw), budgetWatts(one.load.Budget)
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

// budgetWatts is a budget of [protocol.Load] in watts; nil where there is none.
func budgetWatts(mw int64) *int64 {
	var w int64
	switch {
	case mw == 0:
		return nil
	case mw > protocol.NoPower:
		w = watts(mw)
	}
	return &w
}

func (p *Peer) quoted(r *round) view.TestSubmitResult {
	out := view.TestSubmitResult{Elsewhere: p.mayLeave(r.specs)}
	for i := 0; i < len(r.specs); i = r.rows(i) {
		var quotes []view.Quote
		for row := i; row < r.rows(i); row++ {
			quotes = append(quotes, p.siteQuotes(r, row, len(r.asks)+1)...)
		}
		quotes = append(quotes, p.leftOut(r, i)...)
		slices.SortStableFunc(quotes, func(a, b view.Quote) int { return cmp.Compare(a.ATT(), b.ATT()) })
		out.Jobs = append(out.Jobs, quotes)
	}
	return out
}

func viewQuote(site protocol.SiteName, q protocol.Quote, load protocol.Load, age protocol.Duration) view.Quote {
	return view.Quote{
		Site: site, Declined: q.Declined, AWT: q.AWT, AWTLow: q.AWTLow, AWTHigh: q.AWTHigh, ERT: q.ERT,
		RUS: load.RUS(), Age: age,
		Bound: q.Bound, Terms: view.PriceTerms(q.Terms), Cost: q.Cost(), Currency: q.Currency, Note: q.Note,
	}
}
