package peer

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Ready is what the shell must do after a [Peer.Step], in the order of the
// fields. Records come first and must be durable before anything else of this
// Ready (or a later one) is done; the shell may step many events and commit
// their records together.
type Ready struct {
	Records  []Record
	Messages []Outgoing // may be lost, doubled, reordered, delayed
	Calls    []Call
	Wake     protocol.Instant // when to Tick next; 0: no need. Replaces the last one
	Digest   *protocol.Load   // to advertise in gossip, when it has changed
	Facts    []Fact           // for logs, metrics and explain
	Answers  []Answer         // to the API
	// Starts says whether the local scheduler may start the jobs of its queue from here on; nil:
	// as before. A peer that distinguishes lives says so in its first step.
	Starts *bool
}

// Outgoing is a message to a partner.
type Outgoing struct {
	To   protocol.SiteName
	Body protocol.Message
}

// Record puts or deletes one row, whole.
type Record struct {
	Table Table
	Key   string
	Row   Row // nil: delete
}

// Answer goes back to the API question that asked.
type Answer struct {
	Asked AskID
	Reply Reply
}

// Reply is what an answer says. The set is closed.
//
//sumtype:decl
type Reply interface{ reply() }

// Submitted answers [Submit].
type Submitted struct {
	Elsewhere

	Jobs    []protocol.JobID `json:"jobs"`
	Notices []string         `json:"notices,omitempty"`
}

// Elsewhere says where jobs may run beside the site where they are submitted.
type Elsewhere struct {
	Site       protocol.SiteName   `json:"site,omitempty"`         // where they are submitted
	MayLeaveTo []protocol.SiteName `json:"may_leave_to,omitempty"` // by what is known now, sorted
}

// Done answers [Cancel]: the wish is durable, and carried out as soon as it can
// be.
type Done struct{}

// Refusal answers a question that cannot be granted.
type Refusal struct {
	Code   RefusalCode `json:"code"`
	Reason string      `json:"reason"`
	Sites  []SiteNo    `json:"sites,omitempty"` // NoSite: each site's reason
}

// SiteNo is one site's reason for refusing.
type SiteNo struct {
	Site   protocol.SiteName `json:"site"`
	Reason string            `json:"reason"`
}

// RefusalCode says what kind of refusal it is. Its text is part of the API.
type RefusalCode string

// The refusal codes, and the exit codes that the command line gives them.
const (
	BadRequest RefusalCode = "bad-request" // 2
	NotFound   RefusalCode = "not-found"   // 3
	Denied     RefusalCode = "denied"      // 4
	NoSite     RefusalCode = "no-site"     // 5
	NotNow     RefusalCode = "not-now"     // 1
)

// Quoted answers [TestSubmit]: for each job every site's quote, best first.
type Quoted struct {
	Elsewhere

	Jobs  [][]SiteQuote `json:"jobs"`
	Front *Front        `json:"front,omitempty"` // when it was asked for
}

// Front are the choices of sites and CPU counts for an application that no other one beats
// in both cost and time, the fastest first [IS 4.2]; and the one that its weights and limits
// choose, which others may beat.
type Front struct {
	Currency string       `json:"currency"`
	Points   []FrontPoint `json:"points"`
	More     bool         `json:"more,omitempty"` // there are more choices than these, which are told by steps of time
	Gap      int          `json:"gap_ppm"`        // of the cost of each point above the least, at most
	Why      string       `json:"why,omitempty"`  // why there is none, or what the limits rule out
}

// FrontPoint is one such choice.
type FrontPoint struct {
	Time    protocol.Duration `json:"time_ms"`    // from now until all data are back
	Cost    protocol.Micro    `json:"cost_micro"` // K_e + K_l + K_eco + K_d, unweighted
	Chosen  bool              `json:"chosen"`     // by the user's weights and limits
	Choices []FrontChoice     `json:"choices"`    // one for each component
}

// FrontChoice is where a component would run.
type FrontChoice struct {
	Site protocol.SiteName `json:"site"`
	CPUs int               `json:"cpus"`
	Wait protocol.Duration `json:"wait_ms"`
	Run  protocol.Duration `json:"run_ms"`
	Cost protocol.Micro    `json:"cost_micro"`
}

// SiteQuote is one site's quote as people see it.
type SiteQuote struct {
	Site     protocol.SiteName `json:"site"`
	Declined string            `json:"declined,omitempty"`
	AWT      protocol.Duration `json:"awt_ms"`
	AWTLow   protocol.Duration `json:"awt_p10_ms"`
	AWTHigh  protocol.Duration `json:"awt_p90_ms"`
	ERT      protocol.Duration `json:"ert_ms"`
	Transfer protocol.Duration `json:"transfer_ms,omitempty"` // of the job's data to the site; it goes on while the job waits
	Bound    protocol.Duration `json:"bound_ms"`              // starts within it with 95 % confidence; 0: not stated
	Note     string            `json:"note,omitempty"`        // what else to know of the wait
	Terms    []PriceTerm       `json:"terms,omitempty"`
	Cost     protocol.Micro    `json:"cost_micro"` // of all terms
	Currency string            `json:"currency,omitempty"`
	RUS      int               `json:"rus_ppm"`
	Age      protocol.Duration `json:"rus_age_ms"`
	CPUs     int               `json:"cpus,omitempty"`  // of a component that may run on several counts
	Money    *Money            `json:"money,omitempty"` // the terms as an application's costs, in its currency
}

// Money are the cost terms of [IS 4.2] of one quote.
type Money struct {
	Use      protocol.Micro `json:"k_e_micro"`
	Licence  protocol.Micro `json:"k_l_micro"`
	Eco      protocol.Micro `json:"k_eco_micro"`
	Data     protocol.Micro `json:"k_d_micro"`
	Cost     protocol.Micro `json:"cost_micro"` // of the quote, in this currency
	Currency string         `json:"currency"`
}

// ATT is the approximate turnaround time: the wait, or until the job's data are there
// ([MC] equation 10), and the run time; [protocol.Never] when the quote is declined.
func (q *SiteQuote) ATT() protocol.Duration {
	if q.Declined != "" {
		return protocol.Never
	}
	return max(q.AWT, q.Transfer).Plus(q.ERT)
}

// PriceTerm is one named part of a quote's price.
type PriceTerm struct {
	Name   string         `json:"name"`
	Amount protocol.Micro `json:"amount_micro"`
}

// Queue answers [AskQueue], by job id.
type Queue struct {
	Jobs []JobView      `json:"jobs"`
	Next protocol.JobID `json:"next,omitempty"` // of a page: its last job, when more follow it
}

// JobView is a job as people see it, at its origin or at the site that runs it.
type JobView struct {
	ID        protocol.JobID      `json:"id"`
	Name      string              `json:"name"`
	User      string              `json:"user"`
	State     protocol.State      `json:"state"`
	Reason    string              `json:"reason"`
	Origin    protocol.SiteName   `json:"origin"`
	Site      protocol.SiteName   `json:"site"` // where it is committed; empty: still in the grid queue
	Epoch     protocol.Epoch      `json:"epoch"`
	Local     localsched.LocalID  `json:"local_id,omitempty"` // the local scheduler's own name of it, where that is known here
	Guest     bool                `json:"guest"`              // submitted elsewhere, here only to run
	CPUs      int                 `json:"cpus"`
	Nodes     int                 `json:"nodes"`
	Layout    protocol.Layout     `json:"layout,omitzero"`
	MemoryMB  int64               `json:"memory_mb"`
	WallTime  protocol.Duration   `json:"wall_time_ms"`
	Sites     []protocol.SiteName `json:"sites,omitempty"`
	Requeue   bool                `json:"requeue"`
	Power     int                 `json:"power_ppm,omitempty"`  // that the job says it draws, of the usual; 0: the usual
	Data      int64               `json:"data_bytes,omitempty"` // that travel with it
	Comment   string              `json:"comment,omitempty"`    // of its user's
	Submitted protocol.Instant    `json:"submitted_ms"`
	Placed    protocol.Instant    `json:"placed_ms"`     // the last commit or grant; 0: none
	Started   protocol.Instant    `json:"started_ms"`    // 0: not yet; by the origin's clock
	Ended     protocol.Instant    `json:"ended_ms"`      // 0: not yet
	QuotedAWT protocol.Duration   `json:"quoted_awt_ms"` // -1: nobody was asked
	ExitCode  int                 `json:"exit_code"`
	Signal    int                 `json:"signal"`
	WorkDir   string              `json:"work_dir"`
	Stdout    string              `json:"stdout"`
	Stderr    string              `json:"stderr"`

	Application protocol.JobID    `json:"application,omitempty"` // of its first component; 0: the job is on its own
	Component   string            `json:"component,omitempty"`
	Held        protocol.Instant  `json:"held_ms,omitempty"`     // from when on room is held for it; 0: it is not
	Cost        protocol.Micro    `json:"cost_micro,omitempty"`  // foreseen, in the site's own currency
	Foreseen    protocol.Duration `json:"foreseen_ms,omitempty"` // run time
	Usage       protocol.Usage    `json:"usage"`                 // measured
	Quoted      *QuotedPrice      `json:"quoted,omitempty"`      // the price that it was placed at; nil: none was named
	Home        *QuotedPrice      `json:"home,omitempty"`        // that its own site quoted when it was placed elsewhere; nil: none
	Energy      *JobEnergy        `json:"energy,omitempty"`      // nil: it is not known
	Bill        *BillView         `json:"bill,omitempty"`        // what it cost, or has cost so far; nil: nothing, or its site does not say
	// ClockOffset is how far the clock of the job's site is ahead of the origin's, as the job's last
	// message tells, its way counted with it. Started and Ended are by the origin's clock.
	ClockOffset protocol.Duration `json:"clock_offset_ms,omitempty"`
	Wishes      *Wishes           `json:"wishes,omitempty"`   // of its application; nil: it is on its own
	Together    *StartView        `json:"together,omitempty"` // nil: it starts on its own
}

// specView is what a job's description says of it.
func specView(s protocol.Spec) JobView {
	return JobView{
		ID: s.Job, Name: s.Name, User: s.User, CPUs: s.CPUs, Nodes: s.Nodes, Layout: s.Layout, MemoryMB: s.MemoryMB,
		WallTime: s.WallTime, Sites: s.Sites, Requeue: s.Requeue, Submitted: s.Submitted,
		Power: s.Power, Data: s.Data, Comment: s.Comment,
	}
}

// StartView is what holds of the start of a job that starts together with others.
type StartView struct {
	Tolerance protocol.Duration `json:"start_tolerance_ms"`     // how much later than its group it may start
	Missed    string            `json:"start_missed,omitempty"` // what becomes of its group if one starts later, as in [protocol.Application]; empty: its origin knows
}

// Wishes are what the user of a job's application wants, and how far it has come.
type Wishes struct {
	protocol.Application

	Components    int            `json:"components"`
	Spent         protocol.Micro `json:"spent_micro"`      // cost of those that have ended, and foreseen cost of those that are placed
	Broken        string         `json:"broken,omitempty"` // which limit was broken in fact, and why; empty: none
	SpentCurrency string         `json:"spent_currency,omitempty"`
	Alpha         int            `json:"alpha_ppm"` // of this component
	Gamma         int            `json:"gamma_ppm"`
	Delta         int            `json:"delta_ppm"`
}

// Warehouse answers [AskWarehouse]: what is known of components, by user and name.
type Warehouse struct {
	Components []KnownComponent `json:"components"`
}

// KnownComponent is what has been learnt of a component.
type KnownComponent struct {
	User      string             `json:"user"`
	Name      string             `json:"name"`
	Behaviour protocol.Behaviour `json:"behaviour"` // as it was last fitted; zero: not known
	Sites     []KnownSite        `json:"sites"`     // by name
}

// KnownSite is how a component ran at a site.
type KnownSite struct {
	Site protocol.SiteName `json:"site"`
	Runs []KnownRun        `json:"runs"` // the oldest first
}

// KnownRun is one execution, as the Epilogue saw it [IS 4.3].
type KnownRun struct {
	At        protocol.Instant  `json:"at_ms"`
	CPUs      int               `json:"cpus"`
	Ran       protocol.Duration `json:"ran_ms"`
	Foreseen  protocol.Duration `json:"foreseen_ms"`        // 0: nothing was
	Censored  bool              `json:"censored,omitempty"` // it was ended at its time limit: it would have run for longer
	Rate      int64             `json:"rate_flops"`         // r_a, flop/s of a CPU; 0: not known
	Bandwidth int64             `json:"words_per_s"`        // b; 0: not known
	Gamma     float64           `json:"gamma"`              // Γ; 0: not known
	Usage     protocol.Usage    `json:"usage"`
}

// Sites answers [AskSites], this site first, then by name.
type Sites struct {
	Sites []SiteView `json:"sites"`
}

// SiteView is a site as people see it.
type SiteView struct {
	Site     protocol.SiteName   `json:"site"`
	Number   protocol.SiteNumber `json:"number"` // 0: not known yet
	Self     bool                `json:"self"`
	Link     string              `json:"link"` // "self", "up", "down", "silent", "refused", "missing" (not configured, and jobs name it)
	Why      string              `json:"why,omitempty"`
	CPUs     int                 `json:"cpus"`
	Nodes    int                 `json:"nodes"`
	Busy     int                 `json:"busy_cpus"`
	Queued   int                 `json:"queued_jobs"`
	RUS      int                 `json:"rus_ppm"`
	Age      protocol.Duration   `json:"age_ms"`       // of the load; -1: never heard
	LastSeen protocol.Instant    `json:"last_seen_ms"` // 0: never
	Software string              `json:"software,omitempty"`
	JobsHere int                 `json:"jobs_here"`  // of that site, at this one
	JobsSent int                 `json:"jobs_there"` // of this site, at that one
	// Benefit is what the grid brings the site's own users, in parts per million: their
	// response alone over the one that they have. 0: not measured.
	Benefit  int    `json:"benefit_ppm"`
	Withheld int    `json:"withheld_cpus,omitempty"` // idle CPUs that a power budget keeps from working now
	Draw     int64  `json:"draw_w,omitempty"`        // that the jobs which run are taken to draw, in watts; 0: not known
	Budget   *int64 `json:"budget_w,omitempty"`      // that they may draw now; nil: there is no budget now
	Prices   string `json:"prices,omitempty"`        // of electricity, at the own site
	// Price is that of a MWh of electricity now, at the own site, in PriceCurrency; nil: it is not known.
	Price         *protocol.Micro `json:"price_micro_mwh,omitempty"`
	PriceCurrency string          `json:"price_currency,omitempty"`
	Electricity   *Electricity    `json:"electricity,omitempty"` // of the own site; nil: nothing is known
	// Kept is the share of this site's latest jobs that went at the partner as it had said, in
	// parts per million; 0: none was there, or none did. Doubt says what did
	// not, when the partner is asked last for it.
	Kept  int    `json:"kept_ppm,omitempty"`
	Doubt string `json:"doubt,omitempty"`
}

// Recovery answers [AskRecovery] and [Recover].
type Recovery struct {
	Needed  bool           `json:"needed"`            // nothing is started until an operator decides
	Reasons []string       `json:"reasons,omitempty"` // who has seen what
	Life    protocol.Life  `json:"life"`              // of this store, now
	Known   protocol.Life  `json:"known"`             // the most that partners have seen; zero: nothing that this store does not know
	NextID  protocol.JobID `json:"next_id"`           // that this store would give out
	// QueueCopied: the local queue is as old as this store, or a copy, so that what waits in it
	// may have started. It is taken out of the queue when this store goes on.
	QueueCopied bool `json:"queue_copied,omitempty"`
	// Jobs of this site: that would be placed if the rows were right; that have a place in the
	// local queue; that partners have by the rows; that need an operator.
	Waiting   []protocol.JobID `json:"waiting,omitempty"`
	Here      []protocol.JobID `json:"here,omitempty"`
	Elsewhere []protocol.JobID `json:"elsewhere,omitempty"`
	InDoubt   []protocol.JobID `json:"in_doubt,omitempty"`
	Guests    []protocol.JobID `json:"guests,omitempty"`   // open jobs of partners
	Aside     []AsideJob       `json:"aside,omitempty"`    // what the local scheduler has and no row knows
	Unknown   []UnknownJob     `json:"unknown,omitempty"`  // what partners have of this site and no row knows
	Partners  []PartnerMark    `json:"partners,omitempty"` // what partners have said of this site
}

// AsideJob is a placement that the local scheduler has and no row knows.
type AsideJob struct {
	Tag   protocol.Tag   `json:"tag"`
	State protocol.State `json:"state"`
}

// UnknownJob is a job of this site at a partner, which no row knows.
type UnknownJob struct {
	Tag  protocol.Tag      `json:"tag"`
	Site protocol.SiteName `json:"site"`
}

// PartnerMark is what a partner has said of this site.
type PartnerMark struct {
	Site    protocol.SiteName `json:"site"`
	Life    protocol.Life     `json:"life"`
	Highest protocol.JobID    `json:"highest_job"` // that it has seen
}

func (Submitted) reply() {}
func (Done) reply()      {}
func (Refusal) reply()   {}
func (Quoted) reply()    {}
func (Queue) reply()     {}
func (JobView) reply()   {}
func (Sites) reply()     {}
func (Warehouse) reply() {}
func (Recovery) reply()  {}
