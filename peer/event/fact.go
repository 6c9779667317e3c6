package event

import (
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Fact is something worth telling people: a line in the log, a count in the
// metrics, a paragraph of `explain`. Facts are not state; losing one changes
// nothing.
type Fact struct {
	At   protocol.Instant  `json:"at_ms"`
	Kind FactKind          `json:"kind"`
	Job  protocol.JobID    `json:"job,omitempty"` // 0: not about one job
	Site protocol.SiteName `json:"site,omitempty"`
	Text string            `json:"text,omitempty"`

	Epoch  protocol.Epoch    `json:"epoch,omitempty"`
	Round  protocol.RoundID  `json:"round,omitempty"`
	Quotes []view.Quote      `json:"quotes,omitempty"`  // Decided: every quote of the round, of a large one the best
	Others int               `json:"others,omitempty"`  // Decided: quotes that are left out; else facts that this one stands for, 0: itself
	Silent []string          `json:"silent,omitempty"`  // Decided: partners that did not answer in time
	Took   protocol.Duration `json:"took_ms,omitempty"` // of a round or a hand-off
	State  protocol.State    `json:"state,omitempty"`   // of a job's change
	CPUs   int               `json:"cpus,omitempty"`    // Decided: of the shape that was chosen, when there are several
	Price  *view.HeldPrice   `json:"price,omitempty"`   // RoomHeld: of the hours that are held; nil: the site names none
}

// FactKind names what happened. Its text is part of logs and metrics.
type FactKind string

// The kinds of facts.
const (
	JobSubmitted      FactKind = "submitted"
	JobShortcut       FactKind = "shortcut" // AWT below φ: committed at once
	RoundOpened       FactKind = "round-opened"
	RoundDecided      FactKind = "decided" // one for each job of the round
	JobWaits          FactKind = "waits"   // no site for it now
	JobCommitted      FactKind = "committed"
	JobOffered        FactKind = "offered"
	OfferRefused      FactKind = "refused"
	StartMissed       FactKind = "start-missed" // by a component that starts together with others
	RoomHeld          FactKind = "room-held"    // for a component that starts together with others
	JobGranted        FactKind = "granted"
	JobHanded         FactKind = "handed"
	JobStarted        FactKind = "started"
	JobEnded          FactKind = "ended"
	JobReturned       FactKind = "returned" // recalled, or given up by its site: back in the grid queue
	JobCancelled      FactKind = "cancel-asked"
	JobRequeued       FactKind = "requeued"
	PartnerQuality    FactKind = "partner-quality" // it is in doubt, or no more
	OutputLeft        FactKind = "output-left"     // not brought home
	NeedsOperator     FactKind = "needs-operator"
	RecoveryNeeded    FactKind = "recovery-needed" // the store is older than what was seen of this site; nothing is started
	Recovered         FactKind = "recovered"       // an operator says that this store goes on
	TwoPeers          FactKind = "two-peers"       // two peers run as one site
	RequeueForced     FactKind = "requeue-forced"  // by an operator; the job may run twice
	SetAside          FactKind = "set-aside"       // the local scheduler has a job that no row knows
	GuestPrepared     FactKind = "guest-prepared"
	GuestRefused      FactKind = "guest-refused"
	GuestOwned        FactKind = "guest-owned"
	GuestAborted      FactKind = "guest-aborted"
	GuestStarted      FactKind = "guest-started"
	GuestEnded        FactKind = "guest-ended"
	GuestClosed       FactKind = "guest-closed"
	PartnerUp         FactKind = "partner-up"
	PartnerDown       FactKind = "partner-down"
	PartnerSilent     FactKind = "partner-silent"
	KeyRefused        FactKind = "key-refused"     // a partner's here, or this site's there: no link comes up
	PartnerMissing    FactKind = "partner-missing" // not configured, and rows name it
	Volunteered       FactKind = "volunteered"     // this site
	PartnerVolunteers FactKind = "partner-volunteers"
	Retuned           FactKind = "retuned"
	NameClash         FactKind = "name-clash"   // a partner's card does not go with this site, or with another partner
	MemberClash       FactKind = "member-clash" // a hint: a site that gossips says it has this one's name or number
	CallFailed        FactKind = "call-failed"
	CallWorks         FactKind = "call-works"       // again
	QuestionDropped   FactKind = "question-dropped" // a partner's quote request that was not worked on
	OfferDropped      FactKind = "offer-dropped"    // refused without a word in explain: the partner is refused too often
	PricesMissing     FactKind = "prices-missing"
	BillDisputed      FactKind = "bill-disputed" // a partner bills another amount than its tariff comes to
	LimitBroken       FactKind = "limit-broken"  // an application has cost more, or taken longer, than its user allowed
	PolicyFailed      FactKind = "policy-failed" // and another decided in its stead
	MessageOdd        FactKind = "message-odd"   // authentic, but makes no sense here
)
