package event

import (
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// LogEvent is an entry of the log of what happens to jobs: a line in the log, a count in the
// metrics, a paragraph of `explain`. It is not state; losing one changes nothing.
type LogEvent struct {
	At   protocol.Instant  `json:"at_ms"`
	Kind LogKind           `json:"kind"`
	Job  protocol.JobID    `json:"job,omitempty"` // 0: not about one job
	Site protocol.SiteName `json:"site,omitempty"`
	Text string            `json:"text,omitempty"`

	Epoch         protocol.Epoch    `json:"epoch,omitempty"`
	Round         protocol.RoundID  `json:"round,omitempty"`
	Quotes        []view.Quote      `json:"quotes,omitempty"`         // Decided: every quote of the round, of a large one the best
	OmittedQuotes int               `json:"omitted_quotes,omitempty"` // Decided: quotes that are left out; else events that this one stands for, 0: itself
	Asked         int               `json:"asked,omitempty"`          // Decided: partners that the round asked about the job
	Answered      int               `json:"answered,omitempty"`       // Decided: those of them that answered in time
	Silent        []string          `json:"silent,omitempty"`         // Decided: partners that did not answer in time
	Duration      protocol.Duration `json:"duration_ms,omitempty"`    // of a round or a hand-off
	State         protocol.State    `json:"state,omitempty"`          // of a job's change
	CPUs          int               `json:"cpus,omitempty"`           // Decided: of the shape that was chosen, when there are several
	Price         *view.HeldPrice   `json:"price,omitempty"`          // LogReserved: of the hours that are held; nil: the site names none
}

// LogKind names what happened. Its text is part of logs and metrics.
type LogKind string

// The kinds of events.
const (
	LogJobSubmitted        LogKind = "submitted"
	LogArraySubmitted      LogKind = "array-submitted"
	LogArrayEnded          LogKind = "array-ended"
	LogJobPlacedLocally    LogKind = "placed-locally" // AWT below φ: committed at once
	LogRoundOpened         LogKind = "round-opened"
	LogRoundDecided        LogKind = "decided"  // one for each job of the round
	LogJobDeferred         LogKind = "deferred" // no site for it now
	LogJobCommitted        LogKind = "committed"
	LogJobOffered          LogKind = "offered"
	LogOfferRefused        LogKind = "refused"
	LogStartMissed         LogKind = "start-missed" // by a component that starts together with others
	LogReserved            LogKind = "reserved"     // for a component that starts together with others
	LogJobGranted          LogKind = "granted"
	LogJobHandedOff        LogKind = "handed-off"
	LogJobStarted          LogKind = "started"
	LogJobEnded            LogKind = "ended"
	LogJobRequeued         LogKind = "requeued" // recalled, or returned by its site
	LogCancelRequested     LogKind = "cancel-requested"
	LogRequeueRequested    LogKind = "requeue-requested" // of a job that runs
	LogJobHeld             LogKind = "held"
	LogJobReleased         LogKind = "released" // from a hold
	LogJobUpdated          LogKind = "updated"  // by its user, or it is not to be any more
	LogJobReclaimed        LogKind = "reclaimed"
	LogMoveBegun           LogKind = "move-begun"      // another site would end the job sooner than the queue in which it waits; it is recalled from that
	LogJobMoved            LogKind = "moved"           // requeued, since that queue has given it back
	LogPartnerQuality      LogKind = "partner-quality" // it is in doubt, or no more
	LogOutputLeft          LogKind = "output-left"     // not staged out
	LogNeedsOperator       LogKind = "needs-operator"
	LogRecoveryNeeded      LogKind = "recovery-needed"   // the store is older than what was seen of this site; nothing is started
	LogRecovered           LogKind = "recovered"         // an operator says that this store goes on
	LogDrained             LogKind = "drained"           // the local site or a partner, by an operator
	LogResumed             LogKind = "resumed"           // from a drain
	LogTwoPeers            LogKind = "two-peers"         // two peers run as one site
	LogRequeueForced       LogKind = "requeue-forced"    // by an operator; the job may run twice
	LogUnknownLocalJob     LogKind = "unknown-local-job" // the local scheduler has a job that no row knows
	LogGuestPrepared       LogKind = "guest-prepared"
	LogGuestRefused        LogKind = "guest-refused"
	LogGuestAccepted       LogKind = "guest-accepted"
	LogGuestAborted        LogKind = "guest-aborted"
	LogGuestStarted        LogKind = "guest-started"
	LogGuestEnded          LogKind = "guest-ended"
	LogGuestClosed         LogKind = "guest-closed"
	LogPartnerUp           LogKind = "partner-up"
	LogPartnerDown         LogKind = "partner-down"
	LogPartnerUnresponsive LogKind = "partner-unresponsive"
	LogKeyRefused          LogKind = "key-refused"     // a partner's here, or this site's there: no link comes up
	LogPartnerMissing      LogKind = "partner-missing" // not configured, and rows name it
	LogVolunteered         LogKind = "volunteered"     // this site
	LogPartnerVolunteered  LogKind = "partner-volunteers"
	LogReconfigured        LogKind = "reconfigured"
	LogSiteIDConflict      LogKind = "site-id-conflict" // a partner's card does not go with this site, or with another partner
	LogMemberConflict      LogKind = "member-conflict"  // a hint: a site that gossips says it has this one's name or number
	LogCallFailed          LogKind = "call-failed"
	LogCallRestored        LogKind = "call-restored"         // again
	LogQuoteRequestDropped LogKind = "quote-request-dropped" // a partner's quote request that was not worked on
	LogOfferDropped        LogKind = "offer-dropped"         // refused without a word in explain: the partner is refused too often
	LogPricesMissing       LogKind = "prices-missing"
	LogBillDisputed        LogKind = "bill-disputed"      // a partner bills another amount than its tariff comes to
	LogLimitExceeded       LogKind = "limit-exceeded"     // an application has cost more, or taken longer, than its user allowed
	LogPolicyFailed        LogKind = "policy-failed"      // and the fallback policy decided
	LogUnexpectedMessage   LogKind = "unexpected-message" // authentic, but not valid here
)
