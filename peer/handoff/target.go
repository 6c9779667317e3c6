package handoff

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Reply is what the target of a hand-off does next.
type Reply uint8

// The replies of the target.
const (
	Ignore         Reply = iota
	Send                 // send the message that comes with the reply, if one does
	Refuse               // refuse the offer
	FenceAndRefuse       // end the earlier epoch of the job, and refuse the offer
	Replace              // the offer takes the place of an earlier epoch that was not granted
	Take                 // the offer may be prepared
	Start                // the job is this site's: confirm that, and start its run
	Withdraw             // take the run out of the local queue, or end it where that is wanted
	ReserveGuest         // have the local scheduler reserve CPUs
	Expire               // give the reservation up, with a tombstone
	Forget               // give it up without one: the origin can never grant what it has aborted
	NotHere              // no row knows the job
)

// maxDecisionQueries is how often the origin is asked for a decision before the reservation is given up:
// for about five minutes with the default pauses.
const maxDecisionQueries = 12

// Offered is an offer, and what this site knows of the job beside it.
type Offered struct {
	Offer   protocol.Offer
	From    protocol.SiteName
	Card    *protocol.Card // of the partner; nil: none has come
	Number  protocol.SiteNumber
	OwnJob  bool       // a job of this site has the ID
	InQueue bool       // the local scheduler has the job, and no row knows that
	Guest   *row.Guest // what is kept of the job; nil: nothing
}

// Judge says whether the offer is one that may be prepared, by the identity of the job and by what is kept
// of it. Whether the site would run it is asked after that.
func (o *Offered) Judge() Answer[Reply] {
	if why := o.identityMismatch(); why != "" {
		return Answer[Reply]{Do: Refuse, Reason: why}
	}
	if o.InQueue { // the offer is late: the job has come here by it
		return Answer[Reply]{Do: Refuse, Reason: "the local scheduler has this job already, from a database that was lost; `switchyard recover` there lists it"}
	}
	if o.Guest == nil {
		return Answer[Reply]{Do: Take}
	}
	return o.supersedes(o.Guest)
}

// identityMismatch says why the job cannot be one of the partner's; empty: it can. A partner issues only
// IDs with its own number, and never this site's.
func (o *Offered) identityMismatch() string {
	id := o.Offer.Spec.Job
	switch {
	case o.Offer.Payload == nil:
		return "the offer has no payload"
	case o.Card == nil:
		return "no site card has come yet"
	case id.Origin() != o.Card.Number || id.Origin() == o.Number || o.OwnJob:
		return fmt.Sprintf("job id %v is not one of %s", id, o.From)
	}
	return ""
}

// supersedes says whether the offer takes the place of what is kept of the job. A job that has ended here
// runs once more only if it may: by its user's --requeue, because its origin has taken its end and has it run again, or because
// an operator there says so.
func (o *Offered) supersedes(g *row.Guest) Answer[Reply] {
	epoch := o.Offer.Epoch
	switch mayRunAgain := o.Offer.Spec.Requeue || o.Offer.Spec.Restarts > 0 || o.Offer.Forced; {
	case g.Origin != o.From:
		return Answer[Reply]{Do: Refuse, Reason: fmt.Sprintf("this id belongs to a job of %s", g.Origin)}
	case epoch < g.Epoch:
		return Answer[Reply]{Do: Refuse, Reason: fmt.Sprintf("epoch %d of this job has been seen here", g.Epoch)}
	case epoch == g.Epoch:
		return Answer[Reply]{Do: Send, Send: offeredAgain(g)}
	case g.Phase == row.GuestAccepted:
		return Answer[Reply]{Do: FenceAndRefuse, Reason: "an earlier epoch of this job is not closed here"}
	case g.Phase == row.GuestClosed && !mayRunAgain && !g.OwnershipGuessed:
		return Answer[Reply]{Do: Refuse, Reason: fmt.Sprintf("this job has ended here in epoch %d and may not run twice", g.Epoch)}
	case g.Phase == row.GuestPrepared:
		return Answer[Reply]{Do: Replace}
	}
	return Answer[Reply]{Do: Take}
}

// offeredAgain answers an offer that has come before; nil: it is not answered.
func offeredAgain(g *row.Guest) protocol.Message {
	switch g.Phase {
	case row.GuestPrepared:
		if g.ReserveFrom == 0 || g.ReservedAt != 0 {
			return PreparedOf(g)
		}
	case row.GuestAccepted:
		return protocol.Accept{Tag: g.Tag()}
	case row.GuestAborted:
		return protocol.PrepareExpired{Tag: g.Tag()}
	case row.GuestClosed:
	}
	return nil
}

// PreparedOf says that a guest has what it needs, and what its run is charged by.
func PreparedOf(g *row.Guest) protocol.Prepared {
	return protocol.Prepared{Tag: g.Tag(), Start: g.ReservedAt, Tariff: g.Tariff}
}

// isOf says whether a guest is of an origin, at least at an epoch.
func isOf(g *row.Guest, origin protocol.SiteName, epoch protocol.Epoch) bool {
	return g != nil && g.Origin == origin && g.Epoch >= epoch
}

// OnGrant says what the target does about the decision of the origin. The guest is nil if no row knows
// the job. A grant that comes again is confirmed again.
func OnGrant(g *row.Guest, origin protocol.SiteName, tag protocol.Tag) Answer[Reply] {
	switch {
	case !isOf(g, origin, tag.Epoch):
		return Answer[Reply]{Do: NotHere}
	case g.Epoch > tag.Epoch || g.Phase == row.GuestAborted:
		return Answer[Reply]{Do: Send, Send: protocol.PrepareExpired{Tag: tag}}
	case g.Phase == row.GuestPrepared:
		return Answer[Reply]{Do: Start, Send: protocol.Accept{Tag: tag}}
	case g.Phase == row.GuestAccepted:
		return Answer[Reply]{Do: Send, Send: protocol.Accept{Tag: tag}}
	}
	return Answer[Reply]{Do: Send, Send: protocol.UnknownJob{Tag: tag}} // the origin took its end and has forgotten that
}

// OnRecall says what the target does about a job that its origin recalls. One that has started ends
// only if the origin cancels it; its result says what happened.
func OnRecall(g *row.Guest, origin protocol.SiteName, tag protocol.Tag) Answer[Reply] {
	switch {
	case !isOf(g, origin, tag.Epoch):
		return Answer[Reply]{Do: NotHere}
	case g.Epoch > tag.Epoch || g.Phase == row.GuestAborted:
		return Answer[Reply]{Do: Send, Send: protocol.Recalled{Tag: tag}}
	case g.Phase == row.GuestPrepared:
		return Answer[Reply]{Do: Expire, Send: protocol.Recalled{Tag: tag}}
	case g.Phase == row.GuestAccepted:
		return Answer[Reply]{Do: Withdraw}
	}
	return Answer[Reply]{Do: Send, Send: protocol.UnknownJob{Tag: tag}}
}

// OnAbort says what the target does about an offer that its origin did not grant and never will. Where
// CPUs are reserved a tombstone says after a crash which reservation to give up.
func OnAbort(g *row.Guest, origin protocol.SiteName, tag protocol.Tag) Reply {
	switch {
	case !isOf(g, origin, tag.Epoch) || g.Epoch != tag.Epoch || g.Phase != row.GuestPrepared:
		return Ignore
	case g.ReserveFrom != 0:
		return Expire
	}
	return Forget
}

// GuestDue says what the row of a guest asks for, again until it is answered: the origin is asked what
// became of a prepared job, and gets a message that a granted one is returned. A reservation is not kept for ever:
// after maxDecisionQueries it expires, and a later grant is answered so.
func GuestDue(g *row.Guest, attempts int) Answer[Reply] {
	switch {
	case g.Phase == row.GuestPrepared && attempts >= maxDecisionQueries:
		return Answer[Reply]{Do: Expire}
	case g.Phase == row.GuestPrepared && g.ReserveFrom != 0 && g.ReservedAt == 0:
		return Answer[Reply]{Do: ReserveGuest}
	case g.Phase == row.GuestPrepared:
		return Answer[Reply]{Do: Send, Send: protocol.DecisionQuery{Tag: g.Tag()}}
	case g.ReturnUnacked:
		return Answer[Reply]{Do: Send, Send: protocol.Recalled{Tag: g.Tag()}}
	}
	return Answer[Reply]{}
}

// Needs says whether hand-offs that are under way need a message, or it is one that only asks for what is then declined. Of an
// isolated partner the others have no effect.
func Needs(m protocol.Message) bool {
	switch m.(type) { //nolint:gochecksumtype // the others belong to hand-offs, or to what proves them
	case protocol.QuoteReply, protocol.Volunteer, protocol.OutcomeQuery, protocol.JobOutcome, protocol.ElementsQuery, protocol.ElementsOutcome, protocol.UseReport:
		return false
	}
	return true
}

// NeededBy says whether an isolated partner gets a message: one that hand-offs need which are under way, or the answer that its jobs
// are not taken, without which it would wait for quotes.
func NeededBy(m protocol.Message) bool {
	_, reply := m.(protocol.QuoteReply)
	return reply || Needs(m)
}

// ActsOn says whether a site acts on a message now. A partner that two peers speak for, or an older store, is
// not believed about jobs (distrusted); and while the store of this site may be older (mute), it takes nothing
// that may end what it does not remember. Unknown is a placement that the message reports meanwhile.
func ActsOn(m protocol.Message, distrusted, mute bool) (acts bool, unknown *protocol.Tag) {
	if _, mark := m.(protocol.Watermark); mark {
		return true, nil
	}
	if distrusted || !mute {
		return !distrusted, nil
	}
	switch m := m.(type) { //nolint:gochecksumtype // the others may end something
	case protocol.QuoteRequest, protocol.QuoteReply, protocol.Offer, protocol.Refused, protocol.OutcomeQuery, protocol.ElementsQuery:
		return true, nil // which end nothing
	case protocol.Status:
		return false, &m.Tag
	case protocol.Result: // its sender keeps it, and sends it again
		return false, &m.Tag
	}
	return false, nil
}
