package peer

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// mostQuestions is how many quote requests of one partner are worked on at once: that of its
// open round and one of its users'. However many it sends, the local scheduler is asked for no
// more, and one more waits.
const mostQuestions = 2

// replyUntil is when the partner stops waiting for the reply to a request that has just come.
func (p *Peer) replyUntil(m protocol.QuoteRequest) protocol.Instant {
	return p.now.Add(cmp.Or(m.Deadline, p.cfg.Deadline))
}

// putOff has a request wait for a place. The newest one wins, since its round is the one that
// the partner still has open; the one before it is declined at once, so that the partner does
// not take this site for silent.
func (p *Peer) putOff(one *partner.Partner, m protocol.QuoteRequest) {
	if before := one.Questions.Waiting; before != nil {
		p.declineAll(one, before.Request, "a newer question took its place")
	}
	one.Questions.Waiting = &partner.Waiting{Request: m, Until: p.replyUntil(m)}
}

// declineAll answers a request without any work.
func (p *Peer) declineAll(one *partner.Partner, m protocol.QuoteRequest, why string) {
	p.fact(event.Fact{Kind: event.QuestionDropped, Site: one.Site, Text: why})
	reply := protocol.QuoteReply{Round: m.Round, Quotes: make([]protocol.Quote, len(m.Jobs)), Load: p.load, Free: p.free()}
	for i := range m.Jobs {
		reply.Quotes[i] = protocol.Quote{Job: m.Jobs[i].Job, Declined: why}
	}
	p.send(one.Site, fitting(reply))
}

// questionAnswered gives the place of an answered request to the one that waits, unless its
// time is over.
func (p *Peer) questionAnswered(one *partner.Partner) {
	one.Questions.Answering--
	next := one.Questions.Waiting
	one.Questions.Waiting = nil
	switch {
	case next == nil:
	case p.now >= next.Until:
		p.fact(event.Fact{Kind: event.QuestionDropped, Site: one.Site, Text: "it had waited until its deadline"})
	default:
		p.answerRequest(one, next.Request, next.Until)
	}
}
