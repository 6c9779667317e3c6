package policy

import "github.com/switchyard-hpc/switchyard/protocol"

// MaxOutcomes bounds [Snapshot.Outcomes]. Of more the oldest are dropped.
const MaxOutcomes = 256

// Outcome says how a job ended that an earlier decision of this policy placed. A job that the
// policy did not place, that was taken back or that had to be placed again has none for the
// placement that is over.
type Outcome struct {
	Job        protocol.JobID
	Site       protocol.SiteName
	DecidedAt  protocol.Instant  // by the clock of the deciding site
	QuotedWait protocol.Duration // the site's AWT for the job when that was decided
	Wait       protocol.Duration // in the site's local queue; [protocol.Never]: it did not start
	State      protocol.State    // a terminal one
	ExitCode   int               // of the script; 0 if a signal ended it or it did not start
}
