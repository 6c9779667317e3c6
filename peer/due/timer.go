package due

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Timer is a key of a [Set]: what a peer does at an instant, and about which job, placement, round or site.
type Timer struct {
	Kind  Kind
	Job   protocol.JobID
	Epoch protocol.Epoch // of a placement
	Round protocol.RoundID
	Site  protocol.SiteName
}

// Kind is what a peer does when a timer fires.
type Kind uint8

// The kinds of timers.
const (
	JobTimer           Kind = iota // an unanswered message about a job of this origin
	CollectTimer                   // files to be collected again
	ReclaimTimer                   // a requeue job whose site may be lost
	GuestTimer                     // a prepared guest without a decision
	RunTimer                       // a placement: call the local scheduler again
	ReportTimer                    // a placement: report to the origin again
	RoundTimer                     // the deadline of a round
	ProbeTimer                     // a silent partner
	WatchTimer                     // the watch failed
	PruneTimer                     // old tombstones
	LoadCheckTimer                 // σ: the own utilization, and jobs that wait for volunteers
	CycleTimer                     // a round of all jobs
	PriceTimer                     // prices are asked for again
	StartTimer                     // a job of this origin should have started at its partner
	ListenTimer                    // the partners have been listened to for long enough
	MarkTimer                      // partners are sent how far the store has come
	QueueTimer                     // a local queue that was copied is looked through
	PaceTimer                      // facts about a partner were not made, because there were many
	OwnershipTimer                 // a partner is asked again whether it still has what was handed to it
	LimitTimer                     // an application has used up its max_time
	StartByTimer                   // a placement of a group has missed its start
	ReleaseTimer                   // room that the local scheduler has not given up yet
	HoldTimer                      // what keeps a job in the grid queue may be over, or its deadline cannot be met
	PriorityTimer                  // the priorities of the local queue are worked out again
	DependencyTimer                // the origins of jobs that one waits for are asked again
	PlannedStartsTimer             // the local scheduler is asked when it plans to start what waits
	TrialTimer                     // jobs that wait in a local queue may end sooner at another site
	UseReportTimer                 // partners get reports of what users have used here
	UseChangeTimer                 // partners get a report of users whose jobs have started or ended here
	RequeueableTimer               // jobs that have ended cannot be requeued any more
	ReleaseWaitTimer               // the cancellation of a reservation is not waited for any longer
)

// Once is a timer of which a peer has one.
func Once(kind Kind) Timer { return Timer{Kind: kind} }

// OfJob is the timer of a job.
func OfJob(kind Kind, job protocol.JobID) Timer { return Timer{Kind: kind, Job: job} }

// OfTag is the timer of a placement.
func OfTag(kind Kind, tag protocol.Tag) Timer {
	return Timer{Kind: kind, Job: tag.Job, Epoch: tag.Epoch}
}

// OfSite is the timer of a partner.
func OfSite(kind Kind, site protocol.SiteName) Timer { return Timer{Kind: kind, Site: site} }

// OfRound is the deadline of a round.
func OfRound(round protocol.RoundID) Timer { return Timer{Kind: RoundTimer, Round: round} }

// Tag is the placement that the timer is about.
func (t Timer) Tag() protocol.Tag { return protocol.Tag{Job: t.Job, Epoch: t.Epoch} }

// Compare orders timers by kind, job and epoch.
func (t Timer) Compare(other Timer) int {
	return cmp.Or(cmp.Compare(t.Kind, other.Kind), cmp.Compare(t.Job, other.Job), cmp.Compare(t.Epoch, other.Epoch))
}

// Resent says whether the timer repeats a message to a partner, about a job of this origin or a guest.
func (t Timer) Resent() (job, guest bool) {
	switch t.Kind { //nolint:exhaustive // the others repeat no message
	case JobTimer, CollectTimer:
		return true, false
	case GuestTimer, ReportTimer:
		return false, true
	}
	return false, false
}
