package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// receive takes a partner's message in. Messages about jobs are believed only
// from the site that they are about.
func (p *Peer) receive(from protocol.SiteName, m protocol.Message) { //nolint:cyclop // one line for each kind of message
	one := p.partners.Of(from)
	if one == nil || one.Departed {
		p.logEvent(event.LogEvent{Kind: event.LogUnexpectedMessage, Site: from, Text: "from a site that is no partner"})
		return
	}
	p.markResponsive(one)
	acts, unknown := handoff.ActsOn(m, one.DistrustReason() != "", p.site.Mute())
	if unknown != nil {
		p.site.NoteUnknown(one.Site, *unknown, p.rows.JobRow(unknown.Job))
	}
	if !acts || one.Row.Drain.Isolates() && !handoff.Needs(m) {
		return
	}
	switch m := m.(type) {
	case protocol.QuoteRequest:
		p.handleQuoteRequest(one, m)
	case protocol.QuoteReply:
		p.handleQuoteReply(one, m)
	case protocol.Volunteer:
		p.handleVolunteer(one, m)
	case protocol.Offer:
		p.handleOffer(one, m)
	case protocol.Prepared:
		p.handlePrepared(one, m)
	case protocol.Refused:
		p.handleRefused(one, m)
	case protocol.Grant:
		p.handleGrant(one, m.Tag)
	case protocol.Accept:
		p.handleAccept(one, m.Tag)
	case protocol.PrepareExpired:
		p.notStarted(one, m.Tag, "its site gave its room up")
	case protocol.Status:
		p.handleStatus(one, m)
	case protocol.PlannedStarts:
		p.handlePlannedStarts(one, m)
	case protocol.StatusAck:
		p.handleStatusAck(one, m)
	case protocol.Result:
		p.handleResult(one, m)
	case protocol.ResultAck:
		p.handleResultAck(one, m.Tag)
	case protocol.Recall:
		p.handleRecall(one, m)
	case protocol.Recalled:
		p.handleReturn(one, m.Tag)
	case protocol.DecisionQuery:
		p.handleDecisionQuery(one, m.Tag)
	case protocol.Abort:
		p.handleAbort(one, m.Tag)
	case protocol.UnknownJob:
		p.handleUnknown(one, m)
	case protocol.Fenced:
		p.handleFenced(one, m)
	case protocol.OutcomeQuery:
		p.handleOutcomeQuery(one, m)
	case protocol.JobOutcome:
		p.handleJobOutcome(one, m)
	case protocol.ElementsQuery:
		p.handleElementsQuery(one, m)
	case protocol.ElementsOutcome:
		p.handleElementsOutcome(one, m)
	case protocol.UseReport:
		p.handleUseReport(one, m)
	case protocol.Watermark:
		p.handleWatermark(one, m)
	}
}
