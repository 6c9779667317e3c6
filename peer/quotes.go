package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/hosting"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// host is the local site as it takes jobs now.
func (p *Peer) host() hosting.Host {
	return hosting.Host{
		Config: &p.cfg, Site: p.site, Partners: p.partners, Desk: p.desk(), Claims: p.tentatives, Load: p.load, Fair: &p.rows.Fair, Files: &p.rows.Files, Now: p.now,
	}
}

// handleQuoteRequest answers a partner's question; without jobs it is a probe.
func (p *Peer) handleQuoteRequest(one *partner.Partner, m protocol.QuoteRequest) {
	if len(m.Jobs) == 0 {
		p.send(one.Site, p.host().Complete(one, protocol.QuoteReply{Round: m.Round}))
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
	p.send(one.Site, p.host().Complete(one, quoting.Declined(before.Request, why)))
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
	m := question.Request
	answer, query := p.host().Answer(one, m, p.intake.Left(p.now))
	if answer.Asked() == 0 {
		p.send(one.Site, p.host().Complete(one, answer.Reply))
		return
	}
	one.Questions.Begin()
	p.call(event.QuoteOp{Query: query, Until: question.Until}, quotePartner{
		from: one.ID(), answer: answer, marginalUntil: p.now.Add(cmp.Or(m.Deadline, p.cfg.QuoteTimeout) / 2),
	})
}

// quotePartner asks for quotes for a partner, and then for the marginal waits, for one of its
// requests at a time.
type quotePartner struct {
	from          partner.ID
	answer        hosting.Answer
	marginalUntil protocol.Instant
}

func (c quotePartner) answered(p *Peer, result event.Result, err error) {
	quoted, err := step.QuotesFor(c.answer.Asked(), result, err)
	if err == nil {
		p.setLoad(quoted.Load)
	}
	one := p.partners.At(c.from)
	if one == nil {
		return
	}
	p.host().Fill(&c.answer, &quoted, err)
	if one.Questions.Marginal {
		c.send(p, one, nil)
		return
	}
	one.Questions.Marginal = true
	m, there := quoting.FindMarginal(
		c.answer.Request.Jobs, c.answer.Reply.Quotes, c.answer.Request.MarginalJobs, c.marginalUntil,
		p.host().RequestOf(one.Site), p.host().Mapped(one.Site),
	)
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
	c.answer.Reply.MarginalWaits = extra
	p.send(one.Site, p.host().Complete(one, c.answer.Reply))
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
