package view

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
	ReasonCancelling        = "Cancelling"
	ReasonStagingOut        = "StagingOut"
	ReasonOperator          = "NeedsOperator" // an operator has to decide what happens next
)
