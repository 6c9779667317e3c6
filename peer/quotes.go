package peer

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// free is how many CPUs neither run a job nor are claimed by one.
func (p *Peer) free() int { return p.tentatives.Free(p.load.Free()) }

// handleQuoteRequest answers a partner's question; without jobs it is a probe.
func (p *Peer) handleQuoteRequest(one *partner.Partner, m protocol.QuoteRequest) {
	if len(m.Jobs) == 0 {
		p.send(one.Site, protocol.QuoteReply{Round: m.Round, Load: p.load, Free: p.free()})
		return
	}
	question := partner.Question{Request: m, Until: p.now.Add(cmp.Or(m.Deadline, p.cfg.QuoteTimeout))}
	if one.Questions.Full() {
		p.deferQuestion(one, question)
		return
	}
	p.answerRequest(one, question)
}

// deferQuestion has a question wait for a place. The one that has waited so far is declined at once, so
// that the partner does not take this site for silent.
func (p *Peer) deferQuestion(one *partner.Partner, question partner.Question) {
	before := one.Questions.PutOff(question)
	if before == nil {
		return
	}
	const why = "a newer question took its place"
	p.logEvent(event.LogEvent{Kind: event.LogQuoteRequestDropped, Site: one.Site, Text: why})
	reply := quoting.Declined(before.Request, why)
	reply.Load, reply.Free = p.load, p.free()
	p.send(one.Site, quoting.Truncated(reply))
}

// questionAnswered gives the place of an answered question to the one that waits, unless its
// time is over.
func (p *Peer) questionAnswered(one *partner.Partner) {
	next := one.Questions.Answered()
	switch {
	case next == nil:
	case p.now >= next.Until:
		p.logEvent(event.LogEvent{Kind: event.LogQuoteRequestDropped, Site: one.Site, Text: "it had waited until its deadline"})
	default:
		p.answerRequest(one, *next)
	}
}

// answerRequest has the local scheduler quote the jobs that the site would take. A quote that
// is not there by the instant is not asked for any more.
func (p *Peer) answerRequest(one *partner.Partner, question partner.Question) {
	m, limits := question.Request, p.limitsOf(one)
	reply := protocol.QuoteReply{
		Round: m.Round, Quotes: make([]protocol.Quote, len(m.Jobs)),
		MaxJobs: limits.Accept(p.intakeLeft()), Valid: p.cfg.CheckInterval,
		MaxCPUs: limits.CPUsLeft(),
	}
	query := localsched.Query{Ahead: p.tentatives.Ahead(), ProtectSite: p.protectedSite()}
	guarded := p.newGuarded()
	var places []int
	for i, spec := range m.Jobs {
		why := p.declineReason(one, spec, false)
		if why == "" && !guarded.Reserve(spec.ScaledRequest(&p.cfg.Capacity)) {
			why = quoting.GuardedReason
		}
		reply.Quotes[i] = protocol.Quote{Job: spec.Job, Declined: why}
		if reply.Quotes[i].Declined == "" {
			query.Jobs, places = append(query.Jobs, spec.ScaledRequest(&p.cfg.Capacity)), append(places, i)
		}
	}
	if len(places) == 0 {
		reply.Load, reply.Free = p.load, p.free()
		p.send(one.Site, quoting.Truncated(reply))
		return
	}
	one.Questions.Begin()
	p.call(event.QuoteOp{Query: query, Until: question.Until}, quotePartner{
		from: one.ID(), request: m, reply: reply, places: places,
		marginalUntil: p.now.Add(cmp.Or(m.Deadline, p.cfg.QuoteTimeout) / 2),
	})
}

// quotePartner asks for quotes for a partner, and then for the marginal waits, for one of its
// requests at a time.
type quotePartner struct {
	from          partner.ID
	request       protocol.QuoteRequest
	reply         protocol.QuoteReply // as far as it is known
	places        []int               // in the reply, of the jobs that the local scheduler is asked about
	marginalUntil protocol.Instant
}

func (c quotePartner) answered(p *Peer, result event.Result, err error) {
	quoted, err := step.ResultAs[event.QuoteResult](result, err)
	if err == nil && len(quoted.Quotes) != len(c.places) {
		err = fmt.Errorf("%d quotes for %d jobs", len(quoted.Quotes), len(c.places))
	}
	if err == nil {
		p.setLoad(quoted.Load)
	}
	one := p.partners.At(c.from)
	if one == nil {
		return
	}
	for k, i := range c.places {
		if err != nil {
			c.reply.Quotes[i].Declined = clip("the local scheduler does not answer: " + err.Error())
			continue
		}
		c.reply.Quotes[i] = p.guestQuote(quoted.Quotes[k], &c.request.Jobs[i], c.request.EnergyPricing)
	}
	if one.Questions.Marginal {
		c.send(p, one, nil)
		return
	}
	one.Questions.Marginal = true
	m, there := quoting.FindMarginal(c.request.Jobs, c.reply.Quotes, c.request.MarginalJobs, &p.cfg.Capacity, c.marginalUntil)
	p.askMarginal(marginalWait{quotes: c, search: m}, there)
}

func (c quotePartner) marginal(p *Peer, extra []protocol.Duration) {
	if one := p.partners.At(c.from); one != nil {
		one.Questions.Marginal = false
		c.send(p, one, extra)
	}
}

// send answers the partner, and gives the request's place to the next one.
func (c quotePartner) send(p *Peer, one *partner.Partner, extra []protocol.Duration) {
	c.reply.Load, c.reply.Free, c.reply.MarginalWaits = p.load, p.free(), extra
	p.send(one.Site, quoting.Truncated(c.reply))
	p.questionAnswered(one)
}

// askMarginal asks about the wait of job after job, if there is more to be found, and then hands on
// what is known.
func (p *Peer) askMarginal(c marginalWait, more bool) {
	if more {
		if query, ok := c.search.Next(p.tentatives.Ahead(), p.now); ok {
			p.call(event.QuoteOp{Query: query}, c)
			return
		}
	}
	c.quotes.marginal(p, c.search.Waits())
}

// marginalWait asks about the wait of one job more.
type marginalWait struct {
	quotes quotes
	search quoting.Marginal
}

// quotes are those that the marginal waits are for, [quoteLocal] or [quotePartner].
type quotes interface {
	marginal(p *Peer, extra []protocol.Duration)
}

func (c marginalWait) answered(p *Peer, result event.Result, err error) {
	quoted, err := step.ResultAs[event.QuoteResult](result, err)
	p.askMarginal(c, err == nil && c.search.Take(quoted.Quotes))
}

// protectedSite is the site whose waiting jobs the local scheduler shall look after; 0: none.
func (p *Peer) protectedSite() protocol.SiteNumber {
	if p.cfg.Protect.Delay == 0 {
		return 0
	}
	return p.cfg.Number
}

// newGuarded has no bound while no job waits here, since then none can be delayed.
func (p *Peer) newGuarded() quoting.Guarded {
	if p.protectedSite() == 0 || p.load.QueuedJobs == 0 {
		return nil
	}
	return quoting.Guarded{}
}

// guestQuote is what a partner is told of the local scheduler's quote for its job.
func (p *Peer) guestQuote(q protocol.Quote, spec *protocol.Spec, by protocol.EnergyPricing) protocol.Quote {
	if why := quoting.DelayReason(&q, p.cfg.Protect.Delay); why != "" {
		q = protocol.Quote{Declined: why}
	}
	if q.Declined != "" {
		return protocol.Quote{Job: spec.Job, Declined: q.Declined}
	}
	q.Job, q.Delay, q.Note = spec.Job, 0, quoting.Note(&q)
	p.charge(&q, spec, by)
	return q
}

// limitsOf is what the jobs of a partner may have here, and what guests have now.
func (p *Peer) limitsOf(one *partner.Partner) quoting.Limits {
	l := quoting.Limits{
		MaxJobs: one.MaxJobs, MaxCPUs: one.MaxCPUs, MaxQ: p.cfg.MaxJobsPerCycle, Jobs: one.JobsHere, CPUs: one.CPUsHere,
		Share: p.cfg.Protect.Share, Site: p.cfg.Capacity.CPUs,
	}
	if l.Share != 0 {
		l.Guests = p.partners.CPUsHere()
	}
	return l
}

// declineReason says why a partner's job would not be taken; empty: it would.
func (p *Peer) declineReason(one *partner.Partner, spec protocol.Spec, together bool) string {
	switch {
	case p.site.StopReason() != "":
		return p.site.StopReason()
	case one.Barred != "":
		return fmt.Sprintf("%s %s", one.Site, one.Barred)
	}
	limits := p.limitsOf(one)
	if why := limits.Reason(one.Site, spec.CPUs); why != "" {
		return why
	}
	if err := spec.CheckRequest(); err != nil {
		return err.Error()
	}
	here := p.localSite()
	if why := here.Why(&spec, together); why != "" {
		return why
	}
	if _, err := p.cfg.Accounts.Guest(one.Site, spec.User); err != nil {
		return clip(err.Error())
	}
	if why := p.desk().Unsold(&spec); why != "" {
		return why
	}
	return limits.ShareReason(spec.CPUs)
}
