package handoff

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Step is what the origin does next about a job.
type Step uint8

// The steps of the origin.
const (
	Nothing         Step = iota
	SendOffer            // send the offer, with what the job runs
	ReserveLocally       // have the local scheduler reserve CPUs
	SendMessages         // send the messages that come with the step
	EndAttempts          // the site does not answer: another one gets the job
	DecideGroup          // the reservation is made: the group decides
	Grant                // commit: the site gets the job
	NoteReservation      // the site has reserved CPUs for a member of a group
	AbortGroup           // the members of the group cannot start at one instant
	ExcludeAndAbort      // the same, because of what this site says
	SendAgain            // the partner has not received what the phase asks for
	Requeue              // the job has not started there, and never will
	CloseUnknown         // the job ends, with its outcome unknown
	FenceAndRequeue      // the job runs elsewhere at a higher epoch, and may run twice
	MayHaveRun           // its site cannot say what became of it: see [InDoubt]
	AskOperator          // an operator says what became of it
)

// maxOfferAttempts is how often an offer is sent before another site is asked.
const maxOfferAttempts = 3

// MaxReserveAhead is how far ahead CPUs may be reserved. A site that names a later instant has none.
const MaxReserveAhead = 366 * protocol.Day

// Due says what the phase of a job asks for, the first time and again until it is answered: it is the
// outbox of the job. Attempts is how often that was done in this phase; checkOwnership says that the
// partner's store may be another one than that which accepted the job, so that the grant is repeated.
func Due(j *row.Job, attempts int, checkOwnership bool) (Step, []event.Outgoing) {
	toSite := func(m protocol.Message) []event.Outgoing { return []event.Outgoing{{To: j.Site, Body: m}} }
	switch j.Phase {
	case row.JobOffered, row.JobReserving:
		return seek(j, attempts), nil
	case row.JobGranted:
		return SendMessages, toSite(protocol.Grant{Tag: j.Tag()})
	case row.JobRecalling:
		return SendMessages, toSite(protocol.Recall{Tag: j.Tag(), Cancel: j.EndWanted()})
	case row.JobHandedOff:
		if checkOwnership {
			return SendMessages, toSite(protocol.Grant{Tag: j.Tag()})
		}
	case row.JobEnding:
		return SendMessages, recallFenced(j)
	case row.JobInGridQueue, row.JobCommittedLocal, row.JobStagingOut:
	}
	return Nothing, nil
}

// seek is what a job asks for that has no grant yet.
func seek(j *row.Job, attempts int) Step {
	switch {
	case j.ReservedAt != 0:
		return DecideGroup
	case attempts >= maxOfferAttempts:
		return EndAttempts
	case j.Phase == row.JobReserving:
		return ReserveLocally
	}
	return SendOffer
}

// recallFenced has the sites from which an ending job was taken end what they have of it.
func recallFenced(j *row.Job) (out []event.Outgoing) {
	for _, f := range j.Fenced {
		if !f.Lost {
			recall := protocol.Recall{Tag: protocol.Tag{Job: j.Spec.Job, Epoch: f.Epoch}, Cancel: true}
			out = append(out, event.Outgoing{To: f.Site, Body: recall})
		}
	}
	return out
}

// OfferOf is the offer of a job. For a member of a group CPUs are to be reserved, and it may start that
// much later than they are; payload is what may leave the site of what the job runs.
func OfferOf(j *row.Job, payload *protocol.Payload, tolerance protocol.Duration) protocol.Offer {
	m := protocol.Offer{Spec: j.Spec, Epoch: j.Epoch, Payload: payload, Start: j.ReserveFrom, Forced: j.Forced}
	if j.ReserveFrom != 0 {
		m.Tolerance = tolerance
	}
	return m
}

// Answer is what the receiver of a message does: the step, the reply, and why, for people.
type Answer[S any] struct {
	Do     S
	Send   protocol.Message // nil: nothing
	Reason string
}

// OnPrepared says what the origin does about a partner that has reserved what the job needs, or asks
// for the decision. The job is nil if the partner is not the one to which the present epoch was offered;
// fenced says that the job was taken from the partner at that epoch, whose grant may still be on its way.
func OnPrepared(j *row.Job, m protocol.Prepared, fenced bool, now protocol.Instant) Answer[Step] {
	switch {
	case fenced:
		return Answer[Step]{Send: protocol.Recall{Tag: m.Tag, Cancel: true}}
	case j == nil:
		return Answer[Step]{Send: protocol.Abort{Tag: m.Tag}}
	}
	switch j.Phase {
	case row.JobInGridQueue, row.JobCommittedLocal, row.JobReserving:
		return Answer[Step]{Send: protocol.Abort{Tag: m.Tag}}
	case row.JobOffered:
		if j.ReserveFrom != 0 {
			return onReserved(j, m.Start, now)
		}
		return Answer[Step]{Do: Grant}
	case row.JobGranted, row.JobRecalling:
		return Answer[Step]{Do: SendAgain}
	case row.JobHandedOff, row.JobStagingOut, row.JobEnding:
	}
	return Answer[Step]{}
}

// onReserved looks at the instant from which on a partner has CPUs for a member of a group.
func onReserved(j *row.Job, start, now protocol.Instant) Answer[Step] {
	switch {
	case start < j.ReserveFrom || start > now.Add(MaxReserveAhead):
		return Answer[Step]{Do: ExcludeAndAbort, Reason: fmt.Sprintf("%s would hold room from %s on, and was asked for %s, or up to %s from now",
			j.Site, start.Text(), j.ReserveFrom.Text(), MaxReserveAhead.Text())}
	case j.ReservedAt == 0:
		return Answer[Step]{Do: NoteReservation}
	case j.ReservedAt != start:
		return Answer[Step]{Do: AbortGroup, Reason: string(j.Site) + MovedReason(j.ReservedAt, start)}
	}
	return Answer[Step]{}
}

// MovedReason says, after the name of a site or scheduler, that it was asked twice for the same
// reservation and now has another one. No member starts by it, since the others would start at the first
// instant.
func MovedReason(from, to protocol.Instant) string {
	return fmt.Sprintf(" has moved the room that it held from %s on to %s", from.Text(), to.Text())
}

// OnUnknown says what the origin does about a partner that has no trace of a job which it was granted, or
// whose local scheduler cannot tell whether it has it. Incarnation is that of the partner's store; 0: not
// known. Only the store that made the reservation proves by this that the job did not start: it forgets
// only what it returned, or what this site has acknowledged.
func OnUnknown(j *row.Job, m protocol.UnknownJob, incarnation uint64) Answer[Step] {
	switch {
	case j == nil || !j.AtPartner():
		return Answer[Step]{}
	case m.InDoubt:
		return Answer[Step]{Do: MayHaveRun, Reason: fmt.Sprintf("the local scheduler of %s cannot tell whether it has this job, which may run there", j.Site)}
	case !j.Restored && j.Holder != 0 && j.Holder == incarnation:
		return Answer[Step]{Do: Requeue, Reason: "its site gave its room up long ago"}
	}
	return Answer[Step]{Do: MayHaveRun, Reason: status.LostRecords(j.Site)}
}

// InDoubt says how a job goes on of which its site cannot say what became of it. Lost says that the site
// has no records of it, endsGroup that its group would end if it were requeued.
func InDoubt(j *row.Job, why string, lost, endsGroup bool) Answer[Step] {
	switch {
	case j.Cancelling:
		return Answer[Step]{Do: CloseUnknown, Reason: why}
	case j.Spec.Requeue && !endsGroup && lost:
		return Answer[Step]{Do: FenceAndRequeue, Reason: "its site has lost its records"}
	case j.Spec.Requeue && !endsGroup:
		return Answer[Step]{Do: FenceAndRequeue, Reason: why}
	}
	return Answer[Step]{Do: AskOperator, Reason: why}
}

// FencedOf tells a site that reports on an epoch that is over to end it; nil: nothing is said. Issued says
// that this store issued the job ID, so that a job without a row has finished. Nothing is said of a job of
// restored rows: the lost life of this site may have granted it there.
func FencedOf(j *row.Job, tag protocol.Tag, issued bool) protocol.Message {
	switch {
	case j == nil && issued:
		return protocol.Fenced{Tag: tag, Current: tag.Epoch + 1}
	case j == nil || j.Restored || j.Epoch < tag.Epoch:
		return nil
	}
	return protocol.Fenced{Tag: tag, Current: max(j.Epoch, tag.Epoch+1)}
}

// RefusedByScheduler is how the reason of a job begins that a batch system has refused.
const RefusedByScheduler = "the local scheduler refused it: "

// NotInPlace is how the reason of a job begins that a site cannot run where its files are.
const NotInPlace = "it cannot run in its own directory: "

// ReturnReason is why a site returns a job: what it last said of it, where that says why.
func ReturnReason(j *row.Job, site protocol.SiteName) string {
	says := func(why string) bool { return strings.HasPrefix(j.Reason, why) }
	if j != nil && (says(RefusedByScheduler) || says(NotInPlace) || says(broker.MissedStart) || says(view.Draining)) {
		return string(site) + ": " + j.Reason
	}
	return "its site gave it back"
}

// ReservedText says from which instant on a member of a group has CPUs.
func ReservedText(j *row.Job) string {
	text := "from " + j.ReservedAt.Text() + " on"
	if j.ReservedAt > j.ReserveFrom {
		text += fmt.Sprintf(", %s later than it was asked for", j.ReservedAt.Sub(j.ReserveFrom).Text())
	}
	return text
}

// StartText says from which instant on all members of a job's group have CPUs; empty: it has no group.
func StartText(j *row.Job) string {
	if j.ReserveFrom == 0 {
		return ""
	}
	return fmt.Sprintf("all sites of its group hold room from %s on", j.ReservedAt.Text())
}
