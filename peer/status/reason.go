package status

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Link is how a site that jobs are at stands to this one.
type Link uint8

// The links.
const (
	NoPartner Link = iota // the own site, or one that no row has named before
	Departed              // not configured any more
	Unreached             // not connected, or it does not answer
	Reached
)

// Links says how a site stands to this one.
type Links func(protocol.SiteName) Link

// Job is a job of this site, and what is known of it beside its row.
type Job struct {
	*row.Job

	Run            *row.Run         // in the own local queue; nil: there is none
	Application    *row.Application // that it is a component of; nil: none
	Detail         string           // what else there is to say of its reason while it is in the grid queue
	NoEligibleSite bool             // no site that is known can run it
	Held           protocol.State   // as which its run has ended here, which does not count yet; zero: it has not
}

// Remedy is what an operator can do about a job that may have run.
const Remedy = "; check whether it ran, then cancel it, or requeue it with `switchyard requeue --force`"

// LostRecords is why it is unknown whether a job ran that was at a site.
func LostRecords(site protocol.SiteName) string {
	return fmt.Sprintf("%s has lost its records of this job, which may have run there", site)
}

// stuck is why it is unknown whether the job ran, empty if it is known.
func (j *Job) stuck() string {
	if j.OperatorReason == "" && j.Run != nil {
		return j.Run.OperatorReason
	}
	return j.OperatorReason
}

// NeedsOperator is why only an operator can decide about the job, empty if it proceeds
// by itself.
func (j *Job) NeedsOperator(links Links) string {
	if why := j.stuck(); why != "" {
		return why
	}
	if j.Phase == row.JobEnding {
		return j.unheardForGood(links)
	}
	switch {
	case j.Phase == row.JobOffered || links(j.Site) != Departed:
		return ""
	case j.Phase == row.JobStagingOut:
		return fmt.Sprintf("it has ended at %s, which is no longer a partner and has its output; "+
			"configure that site again, or cancel the job to close it without its output", j.Site)
	}
	return fmt.Sprintf("%s has the job, and is no longer a partner; configure that site again, or cancel the job", j.Site)
}

// unheardForGood is why an ending job needs an operator: no partner is left that could say that
// it is over; empty: one is.
func (j *Job) unheardForGood(links Links) (why string) {
	for _, f := range j.Fenced {
		if f.Lost {
			continue
		}
		if link := links(f.Site); link != NoPartner && link != Departed {
			return ""
		}
		why = cmp.Or(why, fmt.Sprintf("%s may still run the job, and is no longer a partner; configure that site again, or cancel the job", f.Site))
	}
	return why
}

// UnheardReason says which site an ending job waits for; empty: none.
func UnheardReason(j *row.Job) string {
	for _, f := range j.Fenced {
		if !f.Lost {
			return fmt.Sprintf("it was reclaimed from %s, which was unreachable and may still run it until it is reachable again", f.Site)
		}
	}
	return ""
}

// EndingReason is why an ending job has not ended.
func EndingReason(j *row.Job) string {
	return view.Detailed(view.ReasonCancelling, UnheardReason(j)+"; cancel it again to close it with its outcome unknown")
}

// Reason says what a job that has not ended waits for. Stopped is why an operator has to decide
// before anything is started here; empty: none has to.
func (j *Job) Reason(links Links, stopped string) string {
	if why := j.NeedsOperator(links); why != "" {
		if j.stuck() != "" {
			why += Remedy
		}
		return view.ReasonOperator + ": " + why
	}
	if stopped != "" {
		if why := j.waitsFor(stopped); why != "" {
			return why
		}
	}
	switch {
	case j.Phase == row.JobStagingOut:
		return cmp.Or(j.Job.Reason, view.ReasonStagingOut)
	case j.Phase == row.JobEnding:
		return EndingReason(j.Job)
	case j.Phase != row.JobOffered && links(j.Site) == Unreached:
		return view.ReasonUnreachable
	case j.Cancelling:
		return view.ReasonCancelling
	case j.Requeueing:
		return view.ReasonRequeueing
	case j.State == protocol.Pending && j.Wants().Hold != "": // though it may still be on its way back
		return row.HoldWord(j.Wants().Hold)
	}
	return j.unplacedReason()
}

// waitsFor is the reason of a job that waits for what keeps its site from starting any; empty: it does not.
func (j *Job) waitsFor(stopped string) string {
	switch {
	case j.Held != 0:
		return fmt.Sprintf("%s: its run has ended as %v, which counts once this database goes on: %s", view.ReasonOperator, j.Held, stopped)
	case j.State == protocol.Pending && j.Phase != row.JobStagingOut:
		return view.ReasonOperator + ": " + stopped
	}
	return ""
}

// RequeueRefusal is why the job, which needs an operator for a reason, is not requeued at an
// operator's word; no reason: it needs none. Empty: it is.
func (j *Job) RequeueRefusal(why string) string {
	switch {
	case why == "":
		return fmt.Sprintf("job %v is %v and does not need an operator; only jobs in NeedsOperator can be requeued by force", j.Spec.Job, j.State)
	case j.Phase == row.JobStagingOut:
		return fmt.Sprintf("job %v: %s", j.Spec.Job, why)
	case j.Phase == row.JobEnding:
		return fmt.Sprintf("job %v is cancelled and cannot be requeued: %s", j.Spec.Job, why)
	}
	return ""
}

// unplacedReason is why a job is not in a local queue yet; else what that says.
func (j *Job) unplacedReason() string {
	switch {
	case j.Phase == row.JobInGridQueue && j.NoEligibleSite && !view.KeepsFromRounds(j.Job.Reason):
		return view.ReasonNoEligibleSite
	case j.Phase == row.JobInGridQueue:
		return view.Detailed(cmp.Or(j.Job.Reason, view.ReasonWaitingForRound), j.Detail)
	case j.SeeksRoom():
		return view.ReasonGroup
	case j.Phase == row.JobOffered:
		return view.ReasonHandOff
	case j.ReservedAt != 0 && j.State == protocol.Pending:
		return startsTogether(j.ReservedAt)
	case j.Phase == row.JobGranted:
		return view.ReasonHandOff
	}
	return j.Job.Reason
}

// startsTogether is what a job waits for that has its room from an instant on.
func startsTogether(at protocol.Instant) string {
	return view.Detailed(view.ReasonStartTime, "at "+at.Time().Format("15:04:05Z"))
}
