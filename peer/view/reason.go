package view

import "strings"

// Reasons why a job is pending, one CamelCase word as in squeue. They are part of the API.
const (
	ReasonWaitingForRound   = "WaitingForRound"     // it waits for its first round
	ReasonNoEligibleSite    = "NoEligibleSite"      // no known site can run it; a site that is not known yet might
	ReasonAllDeclined       = "AllSitesDeclined"    // all sites declined it in the last round
	ReasonCycleLimit        = "CycleLimitReached"   // sites quoted, but take no more jobs in this cycle
	ReasonUnreachable       = "PartnerUnreachable"  // its site does not answer
	ReasonHandOff           = "HandOff"             // its hand-off is in progress
	ReasonVolunteer         = "WaitingForVolunteer" // the local wait is too long, and no partner volunteers
	ReasonGroup             = "WaitingForGroup"     // the components of its group have no common reservation yet
	ReasonStartTime         = "WaitingForStartTime" // it has a reservation, which has not started
	ReasonPolicyUnsupported = "PolicyUnsupported"   // the active policy does not support its objectives or limits
	ReasonInfeasible        = "Infeasible"          // no choice of sites meets the limits of its application
	ReasonNoCommonStart     = "NoCommonStart"       // sites quoted, but cannot start all components of its group together
	ReasonHeldByUser        = "JobHeldUser"
	ReasonHeldByAdmin       = "JobHeldAdmin"             // by an administrator; its user cannot release it
	ReasonBeginTime         = "BeginTime"                // the instant of --begin has not come
	ReasonDependency        = "Dependency"               // a job that it depends on has not started or ended
	ReasonDependencyNever   = "DependencyNeverSatisfied" // one has ended otherwise than it must for this one
	ReasonDeadline          = "DeadLine"                 // it ended since it could not end by its --deadline
	ReasonArrayThrottle     = "JobArrayTaskLimit"        // as many elements of its array are placed or run as its user allows
	ReasonArrayOrder        = "EarlierElements"          // elements of its array before it are to start first
	ReasonCancelling        = "Cancelling"
	ReasonRequeueing        = "Requeueing" // it is ended where it runs, to be placed again
	ReasonStagingOut        = "StagingOut"
	ReasonOperator          = "NeedsOperator" // an operator has to decide what happens next
)

// ReasonOther stands for all other reasons where jobs are counted by their reasons.
const ReasonOther = "Other"

// ReasonClass is the reason without what is said of the one job: one of the words above, [ReasonOther], or empty if there is none. What
// local schedulers and failures say is text that may name a job, its user and their files.
func ReasonClass(reason string) string {
	if reason == "" {
		return ""
	}
	word := reason
	if end := strings.IndexAny(reason, " :"); end >= 0 {
		word = reason[:end]
	}
	switch word {
	case ReasonWaitingForRound, ReasonNoEligibleSite, ReasonAllDeclined, ReasonCycleLimit, ReasonUnreachable, ReasonHandOff, ReasonVolunteer,
		ReasonGroup, ReasonStartTime, ReasonPolicyUnsupported, ReasonInfeasible, ReasonNoCommonStart, ReasonHeldByUser, ReasonHeldByAdmin,
		ReasonBeginTime, ReasonDependency, ReasonDependencyNever, ReasonDeadline, ReasonArrayThrottle, ReasonArrayOrder, ReasonCancelling,
		ReasonRequeueing, ReasonStagingOut, ReasonOperator:
		return word
	}
	return ReasonOther
}

// KeepsFromRounds says whether a job with a reason gets no round whatever sites there are.
func KeepsFromRounds(reason string) bool {
	switch reason {
	case ReasonHeldByUser, ReasonHeldByAdmin, ReasonBeginTime, ReasonDependency, ReasonDependencyNever:
		return true
	}
	return false
}
