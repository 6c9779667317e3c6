package peer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// round collects quotes for some jobs from this site and from partners: to place
// jobs of the grid queue, or to answer a question.
type round struct {
	id       protocol.RoundID
	opened   protocol.Instant
	specs    []protocol.Spec
	reach    []reach                 // whom to ask, for each job
	asked    event.AskID             // the question it answers; 0: it places jobs
	front    bool                    // the question is about the choices between cost and time, too
	frontOf  policy.Snapshot         // of these
	tests    map[protocol.JobID]*job // of a question
	crowded  bool                    // there were more jobs than one message holds
	opening  bool                    // jobs may still stay at home by the own quotes alone
	home     []protocol.Quote
	extra    []protocol.Duration // of the own site, see [policy.Site]
	homeDone bool
	asks     []*ask // by site
	decided  bool
	fitting  *broker.Fitting // what the policy was asked, and the places of its groups; nil: nothing yet
	tuning   int             // in force when it was asked first
}

// ask is what one partner was asked and answered.
type ask struct {
	partner   *partner.Partner
	volunteer uint64 // number of the availability message that it was asked by
	jobs      []int  // indices in the round's specs, ascending
	reply     *protocol.QuoteReply
	missed    bool
}

// openRound lets the next jobs of the grid queue be placed. One such round at a
// time, as [SS 2.1.1] asks.
func (p *Peer) openRound() {
	if p.open != nil || p.site.StopReason() != "" {
		return
	}
	if p.cfg.Policy.KeepsAll() {
		p.keep(p.placeable(p.queue.Take(p.queue.Len())), "the policy "+p.cfg.Policy.Name+" keeps jobs at home")
		return
	}
	specs := p.takeJobs()
	if len(specs) == 0 {
		return
	}
	r := p.newRound(specs)
	r.crowded, r.opening = p.queue.Ready(), true
	p.open = r
	p.quoteHome(r)
}

// keep commits jobs at home that nobody would send away. No quote is needed for that.
func (p *Peer) keep(ids []protocol.JobID, because string) {
	for _, id := range ids {
		j := p.jobs[id]
		why := p.homeRefuses(j, j.Spec)
		if why != "" {
			p.fact(event.Fact{Kind: event.JobWaits, Job: id, Site: p.cfg.Site, Text: clip(why)})
			p.hold(j, p.jitter(p.cfg.Sigma), why, "")
			continue
		}
		p.fact(event.Fact{Kind: event.RoundDecided, Job: id, Site: p.cfg.Site, Text: because})
		p.commitHome(j, notQuoted)
	}
}

// notQuoted is the quoted wait of a job that nobody was asked about.
const notQuoted protocol.Duration = -1

func (p *Peer) newRound(specs []protocol.Spec) *round {
	p.lastRound++
	r := &round{id: p.lastRound, opened: p.now, specs: specs}
	p.rounds[r.id] = r
	return r
}

// quoteHome asks the own scheduler about the round's jobs.
func (p *Peer) quoteHome(r *round) {
	r.homeDone = false
	query := localsched.Query{Ahead: p.tentatives.Ahead()}
	for i := range r.specs {
		query.Jobs = append(query.Jobs, r.specs[i].On(&p.cfg.Capacity))
	}
	p.call(event.QuoteOp{Query: query}, quoteHome{r.id})
}

// quoteHome asks for the own quotes of a round.
type quoteHome struct{ round protocol.RoundID }

func (c quoteHome) answered(p *Peer, result event.Result, err error) {
	r := p.rounds[c.round]
	if r == nil {
		return
	}
	r.home = p.homeQuotes(r, result, err)
	m, there := quoting.FindMarginal(r.specs, r.home, p.extraOf(r), &p.cfg.Capacity, p.now.Add(p.cfg.Deadline/2))
	p.askMarginal(marginalWait{quotes: c, search: m}, there)
}

func (c quoteHome) marginal(p *Peer, extra []protocol.Duration) {
	r := p.rounds[c.round]
	if r == nil {
		return
	}
	r.homeDone, r.extra = true, extra
	if r.opening {
		r.opening = false
		p.arrived(r)
		return
	}
	p.settle(r)
}

// extraOf is for how many jobs of a round the policy wants to know the marginal wait.
func (p *Peer) extraOf(r *round) int {
	if r.asked != 0 {
		return 0
	}
	return p.cfg.Policy.Extra
}

// reckoning is how energy terms are worked out in a round; people who ask get the
// hourly prices.
func (p *Peer) reckoning(r *round) protocol.Reckoning {
	if r.asked != 0 {
		return protocol.Hourly
	}
	return p.cfg.Policy.Reckon
}

// homeQuotes are the own scheduler's answers, declined where the site must not
// run the job.
func (p *Peer) homeQuotes(r *round, result event.Result, err error) []protocol.Quote {
	quoted, err := resultAs[event.QuoteResult](result, err)
	if err == nil && len(quoted.Quotes) != len(r.specs) {
		err = fmt.Errorf("the local scheduler gave %d quotes for %d jobs", len(quoted.Quotes), len(r.specs))
	}
	if err == nil {
		p.setLoad(quoted.Load)
	} else {
		p.fact(event.Fact{Kind: event.CallFailed, Site: p.cfg.Site, Text: clip("quote: " + err.Error())})
	}
	out := make([]protocol.Quote, len(r.specs))
	for i, spec := range r.specs {
		p.foresee(r.entry(p, i), &spec, p.cfg.Site, &p.cfg.Capacity)
		switch why := p.homeRefuses(r.job(p, i), spec); {
		case err != nil:
			out[i] = protocol.Quote{Job: spec.Job, Declined: clip("the local scheduler does not answer: " + err.Error())}
		case why != "":
			out[i] = protocol.Quote{Job: spec.Job, Declined: why}
		default:
			out[i] = quoted.Quotes[i]
			out[i].Job, out[i].Note = spec.Job, quoting.Note(&out[i])
			p.charge(&out[i], &spec, p.reckoning(r))
			p.readable(&out[i])
		}
	}
	return out
}

// job is that of a row of the round, or of the question.
func (r *round) job(p *Peer, i int) *job {
	id := r.specs[i].Job
	if j := r.tests[id]; j != nil {
		return j
	}
	return p.jobs[id]
}

// quoteOf is what a site said of a row: a partner, or the own one.
func (r *round) quoteOf(i int, site protocol.SiteName) *protocol.Quote {
	for _, a := range r.asks {
		if a.partner.Site == site {
			q := a.quote(i)
			return &q
		}
	}
	return &r.home[i]
}

// entry is a row of the round as a job in one of its shapes.
func (r *round) entry(p *Peer, i int) entry {
	e := entry{job: r.job(p, i)}
	if e.job == nil {
		return e // it has ended meanwhile
	}
	e.shape = max(0, slices.IndexFunc(e.job.Shapes(), func(s protocol.Shape) bool { return s.CPUs == r.specs[i].CPUs }))
	return e
}

// rows is the end of the rows of the job whose first row is i.
func (r *round) rows(i int) int {
	end := i + 1
	for end < len(r.specs) && r.specs[end].Job == r.specs[i].Job {
		end++
	}
	return end
}

// triedInVain is why a site is not asked about a job that has just failed there.
const triedInVain = "left out for a while, since an earlier try there failed"

func (p *Peer) homeRefuses(j *job, spec protocol.Spec) string {
	here := p.here()
	if why := here.Why(&spec, j != nil && j.Together()); why != "" {
		return why
	}
	if j != nil && j.shuns(p.cfg.Site, p.now) {
		return cmp.Or(j.notHere, triedInVain)
	}
	if why := p.desk().Unsold(&spec); why != "" {
		return why
	}
	if _, err := p.cfg.Accounts.Local(spec.User); err != nil {
		return err.Error()
	}
	return ""
}

// arrived goes on with a placing round when the own quotes are in: a job with an
// AWT below φ stays at home without the network [SS 2.1, Figure 2]; the others
// go on together. Several jobs of one round share what is free now.
func (p *Peer) arrived(r *round) {
	p.dropGone(r)
	free, kept := p.free(), 0
	rest, restHome := r.specs[:0:0], r.home[:0:0]
	for i, spec := range r.specs {
		q := r.home[i]
		short := p.cfg.Policy.TakesShortcut() && q.Declined == "" && q.AWT < p.cfg.Phi
		if !short || (kept > 0 && spec.CPUs > free) {
			rest, restHome = append(rest, spec), append(restHome, q)
			continue
		}
		kept++
		p.jobs[spec.Job].noteAlone(&r.home[i])
		p.jobs[spec.Job].Quoted = pricing.QuotedPrice(&r.home[i])
		free -= spec.CPUs
		p.tellShortcut(r, i)
		p.commitHome(p.jobs[spec.Job], q.AWT)
	}
	r.specs, r.home = rest, restHome
	p.setReach(r)
	if len(r.specs) == 0 {
		p.closeRound(r)
		return
	}
	if kept > 0 {
		p.quoteHome(r) // what was just kept changes the others' quotes
	}
	p.askPartners(r)
}

func (p *Peer) tellShortcut(r *round, i int) {
	if p.cfg.NoFacts {
		return
	}
	own := "own wait " + r.home[i].AWT.Text()
	if r.home[i].AWT.Text() == p.cfg.Phi.Text() {
		own = "own wait" // would read as no less than φ
	}
	p.fact(event.Fact{
		Kind: event.JobShortcut, Job: r.specs[i].Job, Site: p.cfg.Site, Round: r.id, Quotes: []view.Quote{p.siteQuote(r, i, nil)},
		Text: own + " is below φ = " + p.cfg.Phi.Text() + " ([rounds] phi), so no partner was asked",
	})
}

// dropGone takes jobs out of the round that left the grid queue meanwhile.
func (p *Peer) dropGone(r *round) {
	specs, home := r.specs[:0:0], r.home[:0:0]
	for i, spec := range r.specs {
		if j := p.jobs[spec.Job]; j != nil && j.Phase == row.JobInGridQueue {
			specs = append(specs, spec)
			home = append(home, r.home[i])
		}
	}
	r.specs, r.home = specs, home
}

// askPartners sends the round's jobs to the partners and settles at once when
// there is nobody to ask.
func (p *Peer) askPartners(r *round) {
	for _, one := range p.choosePartners(r) {
		p.askPartner(r, one)
	}
	if len(r.asks) > 0 {
		if !p.cfg.NoFacts {
			p.fact(event.Fact{Kind: event.RoundOpened, Round: r.id, Text: protocol.Count(len(r.specs), "job") + ", " + protocol.Count(len(r.asks), "partner")})
		}
		p.after(p.cfg.Deadline, timer{kind: roundTimer, round: r.id})
	}
	p.settle(r)
}

func (p *Peer) askPartner(r *round, one *partner.Partner) {
	a := &ask{partner: one, volunteer: one.Volunteer.Number}
	request := protocol.QuoteRequest{Round: r.id, Deadline: p.cfg.Deadline, Reckon: p.reckoning(r), Extra: p.extraOf(r)}
	for i := range r.specs {
		if p.asks(r, i, one) && p.probed(r, i, one, len(a.jobs)) {
			a.jobs = append(a.jobs, i)
			spec := r.specs[i].Asked()
			p.foresee(r.entry(p, i), &spec, one.Site, &one.Card.Capacity)
			request.Jobs = append(request.Jobs, spec)
			if r.reach[i] == volunteers && one.Volunteer.Left > 0 {
				one.Volunteer.Left--
			}
		}
	}
	if r.asked == 0 {
		one.Asked(p.now, p.cfg.Sigma)
	}
	r.asks = append(r.asks, a)
	p.send(one.Site, request)
}

// quoteReply takes a partner's quotes in.
func (p *Peer) quoteReply(one *partner.Partner, m protocol.QuoteReply) {
	one.HearLoad(m.Load, p.now)
	one.HearLimits(m.Accept, m.MostCPUs)
	p.refute(one)
	r := p.rounds[m.Round]
	if r == nil {
		return // a probe's answer, or too late
	}
	i := slices.IndexFunc(r.asks, func(a *ask) bool { return a.partner == one })
	if i < 0 || r.asks[i].reply != nil || r.asks[i].missed {
		return
	}
	if err := checkReply(r, r.asks[i], m); err != nil {
		p.factOf(one, event.Fact{Kind: event.MessageOdd, Round: r.id, Text: clip(err.Error())})
		r.asks[i].missed = true
	} else {
		for k := range m.Quotes {
			p.readable(&m.Quotes[k])
		}
		r.asks[i].reply = &m
	}
	p.settle(r)
}

func checkReply(r *round, a *ask, m protocol.QuoteReply) error {
	if len(m.Quotes) != len(a.jobs) {
		return fmt.Errorf("%d quotes for %d jobs", len(m.Quotes), len(a.jobs))
	}
	for k, i := range a.jobs {
		if m.Quotes[k].Job != r.specs[i].Job {
			return errors.New("quotes that are not in the order of the jobs")
		}
	}
	return nil
}

// roundDue ends the wait for quotes: who has not answered is ignored for this
// round and left out until heard again.
func (p *Peer) roundDue(id protocol.RoundID) {
	r := p.rounds[id]
	if r == nil || r.decided {
		return
	}
	for _, a := range r.asks {
		if a.reply == nil && !a.missed {
			a.missed = true
			p.fallSilent(a.partner)
		}
	}
	p.settle(r)
}

// leaveOut stops waiting for a partner that has gone.
func (p *Peer) leaveOut(one *partner.Partner) {
	for _, id := range p.roundIDs() {
		r := p.rounds[id]
		for _, a := range r.asks {
			if a.partner == one && a.reply == nil {
				a.missed = true
			}
		}
		p.settle(r)
	}
}

func (p *Peer) roundIDs() []protocol.RoundID {
	ids := make([]protocol.RoundID, 0, len(p.rounds))
	for id := range p.rounds {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// settle goes on once every answer that the round waits for is in.
func (p *Peer) settle(r *round) {
	if r.decided || !r.homeDone || slices.ContainsFunc(r.asks, (*ask).waits) {
		return
	}
	r.decided = true
	p.timers.Stop(timer{kind: roundTimer, round: r.id})
	if r.asked != 0 {
		p.answerQuestion(r)
		return
	}
	p.decide(r)
}

func (a *ask) waits() bool { return a.reply == nil && !a.missed }

func (p *Peer) closeRound(r *round) {
	delete(p.rounds, r.id)
	p.timers.Stop(timer{kind: roundTimer, round: r.id})
	if p.open == r {
		p.open = nil
	}
}

// notAsked is the quote of a partner that the round asks about other jobs only; [Peer.unasked] says
// why.
const notAsked = "not asked in this round"

// quote is site a's quote for job i; declined when the site was not asked.
func (a *ask) quote(i int) protocol.Quote {
	k, asked := slices.BinarySearch(a.jobs, i)
	switch {
	case !asked:
		return protocol.Quote{Declined: notAsked}
	case a.reply == nil:
		return protocol.Quote{Declined: "no answer in time"}
	}
	return a.reply.Quotes[k]
}

// takers counts the sites that would take job i in one of its shapes.
func (r *round) takers(i int) (n int) {
	some := func(quote func(row int) protocol.Quote) {
		for row := i; row < r.rows(i); row++ {
			if quote(row).Declined == "" {
				n++
				return
			}
		}
	}
	some(func(row int) protocol.Quote { return r.home[row] })
	for _, a := range r.asks {
		some(a.quote)
	}
	return n
}

// siteQuotes are the quotes for job i as people see them, the least turnaround first,
// refusals last, each by name: the first so many of them.
func (p *Peer) siteQuotes(r *round, i, most int) []view.Quote {
	type ranked struct {
		att protocol.Duration
		answeredSite
	}
	rank := make([]ranked, 0, len(r.asks)+1)
	rank = append(rank, ranked{r.home[i].ATT(), answeredSite{name: p.cfg.Site}})
	for _, a := range r.asks {
		rank = append(rank, ranked{a.arrival(i, &r.specs[i]), answeredSite{name: a.partner.Site, ask: a}})
	}
	slices.SortFunc(rank, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.att, b.att), cmp.Compare(a.name, b.name)) })
	rank = rank[:min(most, len(rank))]
	out := make([]view.Quote, len(rank))
	for k := range rank {
		out[k] = p.siteQuote(r, i, rank[k].ask)
	}
	return out
}

// siteQuote is a partner's quote for job i as people see it; without an ask the own one.
func (p *Peer) siteQuote(r *round, i int, a *ask) view.Quote {
	if a == nil {
		return p.told(r, i, nil, view.Quoted(p.cfg.Site, r.home[i], p.load, 0))
	}
	q := view.Quoted(a.partner.Site, a.quote(i), a.partner.Load, a.partner.LoadAge(p.now))
	if q.Declined == notAsked {
		q.Declined = p.unasked(r, i, a.partner)
	}
	if q.Declined == "" {
		q.Transfer = a.partner.Transfer(&r.specs[i])
	}
	return p.told(r, i, a, q)
}

// unasked says why a partner that is asked about other jobs of the round is not asked about job i.
func (p *Peer) unasked(r *round, i int, one *partner.Partner) string {
	j, spec := r.job(p, i), &r.specs[i]
	if j == nil {
		return notAsked
	}
	site := one.AsSite()
	if why := site.Why(spec, j.Together()); why != "" {
		return why
	}
	switch {
	case j.shuns(one.Site, p.now):
		return triedInVain
	case r.reach[i] == volunteers:
		return notAsked + ", since it does not volunteer for it"
	case one.Row.Quality.Doubtful:
		return notAsked + ", since it does not keep its quotes"
	}
	return notAsked
}

// arrival is the turnaround of job i at the partner, with the way of its data.
func (a *ask) arrival(i int, spec *protocol.Spec) protocol.Duration {
	q := a.quote(i)
	if q.Declined == "" {
		q.AWT = max(q.AWT, a.partner.Transfer(spec))
	}
	return q.ATT()
}

// Facts tell all quotes for each job in rounds of at most manyJobs; in larger ones the
// best, so that what is told grows with the jobs and not with the sites.
const (
	manyJobs   = 256
	bestQuotes = 8
)

// toldQuotes are the quotes for job i that facts tell, and how many others there are.
func (p *Peer) toldQuotes(r *round, i int) (quotes []view.Quote, others int) {
	all := len(r.asks) + 1
	most := all
	if len(r.specs) > manyJobs {
		most = bestQuotes
	}
	for row := i; row < r.rows(i); row++ {
		quotes = append(quotes, p.siteQuotes(r, row, most)...)
	}
	others = all*(r.rows(i)-i) - len(quotes)
	return append(quotes, p.leftOut(r, i)...), others
}
