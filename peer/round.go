package peer

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// round is a round of this peer: it places jobs of the grid queue, or answers a question.
type round struct {
	rounds.Round
	asked        event.AskID                    // the question it answers; 0: it places jobs, or is a trial
	front        bool                           // the question is about the choices between cost and time, too
	frontOf      policy.Snapshot                // of these
	tests        map[protocol.JobID]*tables.Job // of a question or a trial
	waitAt       protocol.SiteName              // a trial: where its jobs wait; empty: it is none
	crowded      bool                           // there were more jobs than one message holds
	opening      bool                           // jobs may still stay at home by the own quotes alone
	fitting      *broker.Fitting                // what the policy was asked, and the places of its groups; nil: nothing yet
	reconfigured int                            // the number of reconfigurations when it was asked first
	outcomes     uint64                         // end of the outcomes that the policy was given, see [rounds.Outcomes]
}

// openRound lets the next jobs of the grid queue be placed. One such round at a
// time, as [SS 2.1.1] asks.
func (p *Peer) openRound() {
	if p.open != nil || p.site.StopReason() != "" {
		return
	}
	if p.cfg.Policy.LocalOnly() {
		ids, kept := p.lineup().All()
		p.keepOut(kept)
		p.commitLocalJobs(ids, "the policy "+p.cfg.Policy.Name+" keeps jobs at home")
		return
	}
	specs := p.takeJobs()
	if len(specs) == 0 {
		return
	}
	r := p.newRound(specs)
	r.crowded, r.opening = p.queue.Ready(), true
	p.open = r
	p.quoteLocal(r)
}

// commitLocalJobs commits jobs that must not leave the local site. No quote is needed for that.
func (p *Peer) commitLocalJobs(ids []protocol.JobID, because string) {
	for _, id := range ids {
		j := p.rows.Jobs[id]
		if !p.withinLimits(j) {
			continue
		}
		why := p.host().DeclineOwn(j, &j.Spec)
		if why != "" {
			p.logEvent(event.LogEvent{Kind: event.LogJobDeferred, Job: id, Site: p.cfg.Site, Text: clip(why)})
			p.requeueAfter(j, p.dice.Jitter(p.cfg.CheckInterval), why, "")
			continue
		}
		p.logEvent(event.LogEvent{Kind: event.LogRoundDecided, Job: id, Site: p.cfg.Site, Text: because})
		p.commitLocal(j, nil)
	}
}

func (p *Peer) newRound(specs []protocol.Spec) *round {
	p.lastRound++
	r := &round{Round: rounds.Round{ID: p.lastRound, Opened: p.now, Specs: specs}}
	p.rounds[r.ID] = r
	return r
}

// quoteLocal asks the own scheduler about the round's jobs.
func (p *Peer) quoteLocal(r *round) {
	r.HomeDone = false
	query := localsched.Query{Ahead: p.tentatives.Ahead()}
	host := p.host()
	for i := range r.Specs {
		mapped, _ := host.Associate(p.cfg.Site, &r.Specs[i]) // one that is refused gets no quote, see localQuotes
		query.Add(host.Request(p.cfg.Site, &r.Specs[i], mapped.Account), mapped.Association)
	}
	p.call(event.QuoteOp{Query: query}, quoteLocal{r.ID})
}

// quoteLocal asks for the own quotes of a round.
type quoteLocal struct{ round protocol.RoundID }

func (c quoteLocal) answered(p *Peer, result event.Result, err error) {
	r := p.rounds[c.round]
	if r == nil {
		return
	}
	r.Home = p.localQuotes(r, result, err)
	m, there := quoting.FindMarginal(r.Specs, r.Home, p.marginalJobs(r), p.now.Add(p.cfg.QuoteTimeout/2), p.host().RequestOf(p.cfg.Site), p.host().Mapped(p.cfg.Site))
	p.askMarginal(marginalWait{quotes: c, search: m}, there)
}

func (c quoteLocal) marginal(p *Peer, extra []protocol.Duration) {
	r := p.rounds[c.round]
	if r == nil {
		return
	}
	r.HomeDone, r.Extra = true, extra
	if r.opening {
		r.opening = false
		p.applyLocalQuotes(r)
		return
	}
	p.decideIfComplete(r)
}

// marginalJobs is for how many jobs of a round the policy wants to know the marginal wait.
func (p *Peer) marginalJobs(r *round) int {
	if r.asked != 0 {
		return 0
	}
	return p.cfg.Policy.MarginalJobs
}

// energyPricing is how energy terms are worked out in a round; people who ask get the
// hourly prices.
func (p *Peer) energyPricing(r *round) protocol.EnergyPricing {
	if r.asked != 0 {
		return protocol.Hourly
	}
	return p.cfg.Policy.EnergyPricing
}

// localQuotes are the own scheduler's answers, declined where the site must not
// run the job.
func (p *Peer) localQuotes(r *round, result event.Result, err error) []protocol.Quote {
	quoted, err := step.QuotesFor(len(r.Specs), result, err)
	if err == nil {
		p.setLoad(quoted.Load)
	} else {
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Site: p.cfg.Site, Text: clip("quote: " + err.Error())})
		quoted.Quotes = make([]protocol.Quote, len(r.Specs))
	}
	out, host := make([]protocol.Quote, len(r.Specs)), p.host()
	for i, spec := range r.Specs {
		p.predict(r.entry(p, i), &spec, p.cfg.Site, &p.cfg.Capacity)
		out[i] = host.QuoteOwn(r.job(p, i), &spec, quoted.Quotes[i], err, p.energyPricing(r))
		p.declineUnknownCurrency(&out[i])
	}
	return out
}

// job is that of a row of the round, or of the question.
func (r *round) job(p *Peer, i int) *tables.Job {
	id := r.Specs[i].Job
	if j := r.tests[id]; j != nil {
		return j
	}
	return p.rows.Jobs[id]
}

// entry is a row of the round as a job in one of its shapes.
func (r *round) entry(p *Peer, i int) entry {
	e := entry{job: r.job(p, i)}
	if e.job == nil {
		return e // it has ended meanwhile
	}
	e.shape = r.Shape(i, e.job.Shapes())
	return e
}

// applyLocalQuotes goes on with a placing round when the own quotes are in: a job with an
// AWT below φ stays at home without the network [SS 2.1, Figure 2]; the others
// go on together. Several jobs of one round share what is free now.
func (p *Peer) applyLocalQuotes(r *round) {
	r.Keep(func(i int) bool {
		return p.mayPlaceByRound(p.rows.Jobs[r.Specs[i].Job]) // else it has left the grid queue meanwhile, is held, or has been changed
	})
	var kept []int
	if p.cfg.Policy.SkipsRoundBelowThreshold() {
		kept = r.StayHome(p.cfg.LocalWaitThreshold, p.host().Free())
	}
	for _, i := range kept {
		j := p.rows.Jobs[r.Specs[i].Job]
		if !p.withinLimits(j) {
			continue
		}
		j.NoteLocalQuote(&r.Home[i])
		j.Quoted = pricing.QuotedPrice(&r.Home[i])
		j.NoteWaits(&r.Home[i], p.now)
		p.logPlacedLocally(r, i)
		p.commitLocal(j, &r.Home[i].AWT)
	}
	if len(kept) > 0 {
		r.Keep(func(i int) bool {
			_, stays := slices.BinarySearch(kept, i)
			return !stays
		})
	}
	p.setReach(r)
	if len(r.Specs) == 0 {
		p.closeRound(r)
		return
	}
	if len(kept) > 0 {
		p.quoteLocal(r) // what was just kept changes the others' quotes
	}
	p.askPartners(r)
}

func (p *Peer) logPlacedLocally(r *round, i int) {
	if p.cfg.DisableLogEvents {
		return
	}
	p.logEvent(event.LogEvent{
		Kind: event.LogJobPlacedLocally, Job: r.Specs[i].Job, Site: p.cfg.Site, Round: r.ID, Quotes: []view.Quote{p.reportOf(r).Quote(i, nil)},
		Text: rounds.StaysReason(r.Home[i].AWT, p.cfg.LocalWaitThreshold), Duration: p.now.Sub(r.Opened),
	})
}

// askPartners sends the round's jobs to the partners, and decides at once when there are
// none to ask.
func (p *Peer) askPartners(r *round) {
	asking := p.asking(r)
	for _, one := range p.choosePartners(asking) {
		p.askPartner(r, one, asking.Rows(one))
	}
	if len(r.Asks) > 0 {
		if !p.cfg.DisableLogEvents && r.waitAt == "" {
			p.logEvent(event.LogEvent{Kind: event.LogRoundOpened, Round: r.ID, Text: protocol.Count(len(r.Specs), "job") + ", " + protocol.Count(len(r.Asks), "partner")})
		}
		p.after(p.cfg.QuoteTimeout, due.OfRound(r.ID))
	}
	p.decideIfComplete(r)
}

func (p *Peer) askPartner(r *round, one *partner.Partner, rows []int) {
	a := &rounds.Ask{Partner: one, Volunteer: one.Volunteer.Number, Jobs: rows}
	request := protocol.QuoteRequest{Round: r.ID, Deadline: p.cfg.QuoteTimeout, EnergyPricing: p.energyPricing(r), MarginalJobs: p.marginalJobs(r)}
	for _, i := range rows {
		spec := r.Specs[i].Asked()
		if j := r.job(p, i); j != nil && j.SharedWith(one) {
			spec.StayInPlace()
			a.InPlace = append(a.InPlace, i)
		}
		p.predict(r.entry(p, i), &spec, one.Site, &one.Card.Capacity)
		request.Jobs = append(request.Jobs, spec)
		if r.Reach[i] == rounds.Volunteers {
			one.Volunteer.Use()
		}
	}
	if r.asked == 0 {
		one.Asked(p.now, p.cfg.CheckInterval)
	}
	r.Asks = append(r.Asks, a)
	p.send(one.Site, request)
}

// handleQuoteReply takes a partner's quotes in.
func (p *Peer) handleQuoteReply(one *partner.Partner, m protocol.QuoteReply) {
	if m.Load.CPUs > 0 { // a site does not say its load to a partner that it has isolated
		one.HearLoad(m.Load, p.now)
	}
	one.HearLimits(m.MaxJobs, m.MaxCPUs)
	one.Draining = clip(m.Draining)
	p.endVolunteering(one)
	r := p.rounds[m.Round]
	if r == nil {
		return // a probe's answer, or too late
	}
	a := r.AskOf(one)
	if a == nil || !a.Waits() {
		return
	}
	for k := range m.Quotes {
		p.declineUnknownCurrency(&m.Quotes[k])
	}
	if err := r.Take(a, m); err != nil {
		p.logEventAbout(one, event.LogEvent{Kind: event.LogUnexpectedMessage, Round: r.ID, Text: clip(err.Error())})
	}
	p.decideIfComplete(r)
}

// roundDue ends the wait for quotes: who has not answered is ignored for this
// round and left out until heard again.
func (p *Peer) roundDue(id protocol.RoundID) {
	r := p.rounds[id]
	if r == nil || r.Decided {
		return
	}
	for _, a := range r.Asks {
		if a.Waits() {
			a.Missed = true
			p.markUnresponsive(a.Partner)
		}
	}
	p.decideIfComplete(r)
}

// stopWaitingFor stops waiting for a partner that has gone.
func (p *Peer) stopWaitingFor(one *partner.Partner) {
	for _, id := range p.roundIDs() {
		r := p.rounds[id]
		if a := r.AskOf(one); a != nil && a.Waits() {
			a.Missed = true
		}
		p.decideIfComplete(r)
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

// decideIfComplete goes on once every answer that the round waits for is in.
func (p *Peer) decideIfComplete(r *round) {
	if r.Decided || !r.Complete() {
		return
	}
	r.Decided = true
	p.timers.Stop(due.OfRound(r.ID))
	if r.asked != 0 {
		p.answerQuestion(r)
		return
	}
	p.decide(r)
}

func (p *Peer) closeRound(r *round) {
	delete(p.rounds, r.ID)
	p.timers.Stop(due.OfRound(r.ID))
	if p.open == r {
		p.open = nil
	}
	if p.trial == r {
		p.trial = nil
	}
}

// reportOf shows the quotes of a round to users.
func (p *Peer) reportOf(r *round) *rounds.Report {
	report := &rounds.Report{Round: &r.Round, Own: p.own(), Now: p.now, Asking: p.asking(r), LocalOnly: p.cfg.Policy.LocalOnly()}
	if money := p.money(); p.cfg.Policy.DecidesApplications() {
		report.Money = &money
	}
	return report
}
