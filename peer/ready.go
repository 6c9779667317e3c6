package peer

import "github.com/switchyard-hpc/switchyard/protocol"

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
	Jobs    []protocol.JobID `json:"jobs"`
	Notices []string         `json:"notices,omitempty"`
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
	Jobs [][]SiteQuote `json:"jobs"`
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
	Jobs []JobView `json:"jobs"`
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
	Guest     bool                `json:"guest"` // submitted elsewhere, here only to run
	CPUs      int                 `json:"cpus"`
	Nodes     int                 `json:"nodes"`
	MemoryMB  int64               `json:"memory_mb"`
	WallTime  protocol.Duration   `json:"wall_time_ms"`
	Sites     []protocol.SiteName `json:"sites,omitempty"`
	Requeue   bool                `json:"requeue"`
	Power     int                 `json:"power_ppm,omitempty"`  // that the job says it draws, of the usual; 0: the usual
	Data      int64               `json:"data_bytes,omitempty"` // that travel with it
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
	Link     string              `json:"link"` // "self", "up", "down", "silent", "refused"
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
	Budget   int64  `json:"budget_w,omitempty"`      // that they may draw now; 0: there is no budget now
	Prices   string `json:"prices,omitempty"`        // of electricity, at the own site
}

func (Submitted) reply() {}
func (Done) reply()      {}
func (Refusal) reply()   {}
func (Quoted) reply()    {}
func (Queue) reply()     {}
func (JobView) reply()   {}
func (Sites) reply()     {}
