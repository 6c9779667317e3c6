package view

// Why a job is pending, one CamelCase word as in squeue. They are part of the API.
const (
	ReasonGridQueue   = "GridQueue"          // waits for its round
	ReasonNoKnownSite = "NoKnownSite"        // no site that is known can run it; one that is not might
	ReasonNoQuote     = "NoSiteQuoted"       // no site took it in the last round
	ReasonRoundFull   = "SitesFull"          // sites quoted, but none takes more in this round
	ReasonUnreachable = "PartnerUnreachable" // its site does not answer
	ReasonHandOff     = "HandOff"            // on its way to its site
	ReasonVolunteer   = "WaitsForVolunteer"  // its own site would let it wait too long, and nobody volunteers
	ReasonGroup       = "WaitsForGroup"      // room is held until all that start together have theirs
	ReasonTogether    = "StartsTogether"     // it has its room, and waits for the instant
	ReasonPolicy      = "WaitsForPolicy"     // the policy in force does not look at what its user wants
	ReasonInfeasible  = "Infeasible"         // the limits of its application rule out every site
	ReasonNoRoom      = "NoRoomForGroup"     // sites quoted, but have no room for all that start together at one instant
	ReasonCancelling  = "Cancelling"
	ReasonCollecting  = "CollectingOutput"
	ReasonOperator    = "NeedsOperator" // what comes next depends on what only people can find out
)
