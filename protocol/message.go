package protocol

// Message is what one peer says to another about rounds and hand-offs. The set
// is closed: the kinds are the types of this file. Messages may be lost,
// doubled, reordered and delayed.
//
//sumtype:decl
type Message interface {
	// Kind is the message's name in subjects, logs and transcripts.
	Kind() string
	message()
}

// RoundID numbers the rounds of one origin.
type RoundID uint64

// QuoteRequest asks a partner for quotes. Without jobs it is a probe.
type QuoteRequest struct {
	Round         RoundID
	Deadline      Duration // from the sending; a later reply is not read
	Jobs          []Spec
	EnergyPricing EnergyPricing // of the energy terms
	MarginalJobs  int           // how many jobs of the round to quote the growing wait for; 0: none
}

// MaxMarginalJobs is the most that [QuoteRequest.MarginalJobs] may be.
const MaxMarginalJobs = 64

// QuoteReply answers a [QuoteRequest].
type QuoteReply struct {
	Round   RoundID
	Quotes  []Quote // in the order of the jobs
	Load    Load
	Free    int      // CPUs that neither run a job nor are promised to one
	MaxJobs int      // how many of the jobs the site takes this round (MaxQ)
	Valid   Duration // how long the quotes hold if nothing arrives
	// MaxCPUs is how many CPUs all jobs of the receiver may have here together, besides those
	// that it has here now; 0: any number.
	MaxCPUs int
	// MarginalWaits are how much longer the second, third … job of the round would wait when the
	// earlier ones came too. It does not fall. At most one less than was asked for.
	MarginalWaits []Duration
	// Draining is why the site takes no jobs of the receiver, as its operator says; empty: it takes them.
	Draining string
}

// Volunteer states that the sender's utilization is low and that it asks for jobs
// (availability message, [SS 2.1.2]).
type Volunteer struct {
	Load  Load
	Valid Duration // from the sending
}

// Offer asks a partner to make room for a job (hand-off, message 1).
type Offer struct { //nolint:recvcheck // a message is a value; its tag is read in place
	Spec    Spec
	Epoch   Epoch
	Payload *Payload
	Start   Instant // room is to be held firmly, from this instant on or as soon after as there is any; 0: not firmly
	Forced  bool    // an operator of the origin has requeued the job by force: it may run although it has ended at the partner before

	Tolerance Duration // how long after the instant since which room is held the job may start; 0: as the partner likes
}

// Tag names the placement that is offered.
func (m *Offer) Tag() Tag { return Tag{Job: m.Spec.Job, Epoch: m.Epoch} }

// Prepared says that the partner holds room for the job (message 2).
type Prepared struct {
	Tag    Tag
	Start  Instant // since when the room is held firmly; 0: it is not
	Tariff *Tariff // that holds for the run if the job is granted; nil: the site charges nothing, or does not say
}

// Refused says that the partner will not take the job and holds nothing.
type Refused struct {
	Tag    Tag
	Reason string
	Full   bool // it has taken its share of this period's jobs, and may take the job in the next
}

// Grant gives the job to the partner for good (message 3). Signed.
type Grant struct{ Tag Tag }

// Accept says that the partner owns the job (message 4). Signed.
type Accept struct{ Tag Tag }

// PrepareExpired says that the partner has given its room up before the grant and can
// never start this epoch (message 4).
type PrepareExpired struct{ Tag Tag }

// Status reports what the job does at its owner (message 5).
type Status struct {
	Tag       Tag
	Seq       uint32
	State     State // Pending or Running
	Reason    string
	Waited    Duration // from the commit to the local queue to the start, or until now
	Ran       Duration // until now
	At        Instant  // when this is sent, by the sender's clock; 0: not stated
	TimeLimit Duration // with which it runs; 0: the one that it asked for
}

// PlannedStarts says when the sender's batch system now plans to start jobs of the receiver that wait in its queue. It is
// not acknowledged: the sender says it again and again as long as the jobs wait.
type PlannedStarts struct{ Starts []PlannedStart }

// MaxPlannedStarts is how many jobs a [PlannedStarts] names at most.
const MaxPlannedStarts = 1024

// PlannedStart is the planned start of one job.
type PlannedStart struct {
	Tag  Tag
	Wait Duration // from the sending until the start; [Never]: none is planned any more
}

// StatusAck says that the origin has the status, durably.
type StatusAck struct {
	Tag Tag
	Seq uint32
}

// Result says how the job ended (message 5). Signed.
type Result struct {
	Tag     Tag
	Outcome Outcome
	// By the sender's clock: when the job started and ended, and when this is sent. 0: not stated;
	// a job that did not start has no first one.
	Started, Ended, At Instant
	// Contents are those of the outcome's files, in their order, if they are at most
	// [MaxContents] bytes together and were at hand; empty: they are to be fetched.
	Contents [][]byte
}

// MaxContents is how many bytes of files a [Result] brings at most.
const MaxContents = 16 << 10

// ResultAck says that the origin has the result and the files, durably, or has
// heard that the job was given back; the owner drops it (message 6).
type ResultAck struct{ Tag Tag }

// Recall takes a granted job back, or cancels it (message 7).
type Recall struct {
	Tag    Tag
	Cancel bool // kill it if it has started
}

// Recalled proves that the job did not start and never will in this epoch.
type Recalled struct{ Tag Tag }

// DecisionQuery asks the origin what became of a prepared job (message 8).
type DecisionQuery struct{ Tag Tag }

// Abort says that the origin did not and will not grant this epoch.
type Abort struct{ Tag Tag }

// UnknownJob says that the site has no trace of the job. It proves nothing.
type UnknownJob struct {
	Tag Tag
	// InDoubt: the site does have it, and its local scheduler cannot tell whether it was started.
	InDoubt bool
}

// Fenced tells a former owner that the job lives on at a higher epoch; it must
// end what it still runs and forget it.
type Fenced struct {
	Tag     Tag
	Current Epoch
}

// OutcomeQuery asks the origin of a job what has become of it, and to report again when it starts and ends: a job of the sender
// depends on it. The sender repeats it until it knows.
type OutcomeQuery struct {
	Job  JobID
	User string // of the job that depends on it, by the name at the sender; empty: an earlier version does not say
}

// JobOutcome answers an [OutcomeQuery], at once and when the job starts or ends. It is evidence: jobs start by it.
type JobOutcome struct {
	Job     JobID
	User    string   // for whose jobs it is alone, as the query named the user; empty: for those of all users
	State   State    // 0: its origin has no such job, or does not show it to the user
	Started Duration // how long ago it did; [Never]: it has not
	Ended   Duration // how long ago it did; 0 unless the state is terminal
}

// ElementsQuery asks the origin of a job array which elements have ended, and how, and to report again when others of them end:
// those of an array of the sender wait for them. The sender repeats it for those of which it does not know yet.
type ElementsQuery struct {
	Array    JobID
	User     string  // of the array that depends on it, by the name at the sender
	Elements Indexes // at most [MaxElementRuns] runs; more come in further queries
}

// ElementsOutcome answers an [ElementsQuery], in as many messages as it takes, and again when elements end. Of an element that is
// in neither set it says nothing. It is evidence, as [JobOutcome] is.
type ElementsOutcome struct {
	Array     JobID
	User      string  // as of [JobOutcome]
	Unknown   bool    // its origin has no such job, or does not show it to the user
	NoArray   bool    // it has it, and it is no array
	Completed Indexes // elements that have ended as COMPLETED; at most [MaxElementRuns] runs
	Others    Indexes // those that have ended otherwise, or never were; at most as many
}

// MaxElementRuns is how many runs of indexes a set has at most in an [ElementsQuery] and an [ElementsOutcome].
const MaxElementRuns = 1000

// UseReport says what users have used of the sender's machine, all that it knows: what jobs used that ran there, whose
// users have the same names at the receiver. It is not acknowledged. The sender says it again and again, so a report that is
// lost comes with the next one. It is evidence: users have less priority by it.
type UseReport struct {
	At       Instant  // when it was made, by the sender's clock
	HalfLife Duration // by which the use has decayed
	Uses     []Use    // in no order, each of another user
}

// MaxUses is how many users a [UseReport] names at most. More come in further ones.
const MaxUses = 128

// Use is what the jobs of one user in one account have used.
type Use struct {
	Origin  SiteName // where the jobs were submitted
	Account string   // by its name there; empty: none
	User    string   // by the name there
	Period  int64    // as of which hour it has decayed: whole hours since 1970
	Amount  int64    // CPU·ms
	// Remaining is what those that run may still use by their time limits, in CPU·ms: not used yet, and at the time of the report.
	Remaining int64
}

// Watermark says how far the sender's store has come, and what the sender durably knows of
// the receiver's, so that a store that was restored or copied is known.
type Watermark struct {
	Life       Life   // of the sender
	Seen       Life   // the latest of the receiver; zero: none
	SeenSeq    uint64 // highest job sequence number of the receiver that the sender has seen
	Twin       Life   // another life of the receiver that is heard beside this one; zero: none
	Stopped    bool   // the sender starts nothing until an operator decides
	Overlapped bool   // an earlier life of the receiver had a session when this one's began
}

// Kind implements [Message], as for every message below.
func (QuoteRequest) Kind() string    { return "quote-request" }
func (QuoteReply) Kind() string      { return "quote-reply" }
func (Volunteer) Kind() string       { return "volunteer" }
func (Offer) Kind() string           { return "offer" }
func (Prepared) Kind() string        { return "prepared" }
func (Refused) Kind() string         { return "refused" }
func (Grant) Kind() string           { return "grant" }
func (Accept) Kind() string          { return "accept" }
func (PrepareExpired) Kind() string  { return "prepare-expired" }
func (Status) Kind() string          { return "status" }
func (PlannedStarts) Kind() string   { return "planned-starts" }
func (StatusAck) Kind() string       { return "status-ack" }
func (Result) Kind() string          { return "result" }
func (ResultAck) Kind() string       { return "result-ack" }
func (Recall) Kind() string          { return "recall" }
func (Recalled) Kind() string        { return "recalled" }
func (DecisionQuery) Kind() string   { return "decision-query" }
func (Abort) Kind() string           { return "abort" }
func (UnknownJob) Kind() string      { return "unknown-job" }
func (Fenced) Kind() string          { return "fenced" }
func (Watermark) Kind() string       { return "watermark" }
func (OutcomeQuery) Kind() string    { return "outcome-query" }
func (JobOutcome) Kind() string      { return "job-outcome" }
func (ElementsQuery) Kind() string   { return "elements-query" }
func (ElementsOutcome) Kind() string { return "elements-outcome" }
func (UseReport) Kind() string       { return "use-report" }

func (QuoteRequest) message()    {}
func (QuoteReply) message()      {}
func (Volunteer) message()       {}
func (Offer) message()           {}
func (Prepared) message()        {}
func (Refused) message()         {}
func (Grant) message()           {}
func (Accept) message()          {}
func (PrepareExpired) message()  {}
func (Status) message()          {}
func (PlannedStarts) message()   {}
func (StatusAck) message()       {}
func (Result) message()          {}
func (ResultAck) message()       {}
func (Recall) message()          {}
func (Recalled) message()        {}
func (DecisionQuery) message()   {}
func (Abort) message()           {}
func (UnknownJob) message()      {}
func (Fenced) message()          {}
func (Watermark) message()       {}
func (OutcomeQuery) message()    {}
func (JobOutcome) message()      {}
func (ElementsQuery) message()   {}
func (ElementsOutcome) message() {}
func (UseReport) message()       {}

// Evidence says whether a message must carry the sender's signature and not
// only the session's MAC, because it may have to be shown to others later.
func Evidence(m Message) bool { return EvidenceKind(m.Kind()) }

// EvidenceKind is [Evidence] of all messages of a kind.
func EvidenceKind(kind string) bool {
	switch kind {
	case Grant{}.Kind(), Accept{}.Kind(), Result{}.Kind(), JobOutcome{}.Kind(), ElementsOutcome{}.Kind(), UseReport{}.Kind():
		return true
	default:
		return false
	}
}
