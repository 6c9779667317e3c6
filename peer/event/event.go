package event

import (
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Event is one thing that happened to the peer. The set is closed.
//
//sumtype:decl
type Event interface{ event() }

// AskID is the shell's own number of a question from its API.
type AskID uint64

// Tick says that time has passed: the instant of [Ready.Wake] has come, or the
// shell has just restored the peer. Early and repeated ticks are harmless.
type Tick struct{}

// ClockSet says that the clock was set forward, or that the machine was suspended: this step's
// instant is that much later than one by the time that has gone by. All that the peer waits for
// is put off by it. A clock that is set back is the shell's business, since time never runs back.
type ClockSet struct{ By protocol.Duration }

// MessageIn is an authenticated message from a configured partner.
type MessageIn struct {
	From protocol.SiteName
	Body protocol.Message
}

// Connected says that a session with a partner is up and what its card says.
type Connected struct{ Card protocol.Card }

// Disconnected says that there is no session with the partner, any more or still, and why if
// that is known: a key that one of the two sites refuses.
type Disconnected struct {
	Site   protocol.SiteName
	Reason string
}

// DigestSeen is a partner's advertised load, age old when it was handed over.
type DigestSeen struct {
	Digest protocol.Digest
	Age    protocol.Duration
}

// MemberSeen is the identity of a site that gossips with this one, partner or
// not. It changes nothing: a clash of names or numbers is reported to the operator.
type MemberSeen struct {
	Site       protocol.SiteName
	Number     protocol.SiteNumber
	PublicKey  string
	FirstStart protocol.Instant
}

// CallDone answers a [Call]. Err is set, or Result has the type that belongs to
// the call's Op; an Err leaves open whether the call took effect.
type CallDone struct {
	ID     CallID
	Result Result
	Err    error
}

// Submit asks for jobs to be taken in, all or none. Answered by [view.Submitted] or
// [view.Refusal].
type Submit struct {
	Asked AskID
	Key   string // makes a repetition harmless; empty: no such promise
	// SHA256 is of all that is submitted, by which a repetition is known from another submission with its key. It is 0 without a key.
	SHA256 [32]byte
	User   string // who submits, at this site
	// OwnOnly says that the user sees no jobs of others: they are answered for as jobs that are not there.
	OwnOnly bool
	Admin   bool // the user may favor jobs, and give them priorities
	Jobs    []protocol.Job
	// Application is what the user wants of all the jobs together; nil: each is one of its
	// own, without objectives and limits.
	Application *protocol.Application
}

// Cancel asks for the end of a job, of an array, or of some elements of one. Answered by [view.Done] or [view.Refusal].
type Cancel struct {
	Asked AskID
	Job   protocol.JobID // or that of an array

	Elements protocol.Indexes // of the array; empty: all

	User  string // must own the job, or be the account that has it in the local queue
	Admin bool   // may cancel anybody's job of this site
}

// SetHold has a pending job held, or released. One that waits in a local queue is recalled first, unless it starts
// meanwhile. Answered by [view.Done] or [view.Refusal].
type SetHold struct {
	Asked AskID
	Job   protocol.JobID
	Hold  bool   // false: it is released
	User  string // must own the job
	Admin bool   // may hold and release anybody's
}

// SetDrain drains the local site or a partner, or ends that: which new jobs it does not take, or get, from here on, also after a
// restart. Answered by [view.Done] or [view.Refusal].
type SetDrain struct {
	Asked  AskID
	Site   protocol.SiteName // the local site, or a partner
	Scope  view.DrainScope   // empty: the site is resumed
	Reason string            // for partners and users, too
	User   string
	Admin  bool
}

// Update changes a job, an element of an array, or what of an array has not started. A job that waits in a local queue is taken
// back first if its site must know of the change, unless it starts meanwhile. Answered by [view.Done] or [view.Refusal].
type Update struct {
	Asked   AskID
	Job     protocol.JobID
	Change  protocol.Change
	User    string // must own the job
	OwnOnly bool   // as in [Submit]
	Admin   bool   // may change anybody's, raise time limits and priorities, and lower nice values
}

// Requeue has a job start again: it is ended where it runs, and put back into the grid queue under its ID. Its end is
// not reported as one. Answered by [view.Done] or [view.Refusal].
type Requeue struct {
	Asked AskID
	Job   protocol.JobID // or that of an array

	Elements protocol.Indexes // of the array; empty: all

	Hold  bool   // it is held in the grid queue
	Force bool   // puts a job that needs an operator back; it may run twice
	User  string // must own the job
	UID   int    // of the user, for the audit
	Admin bool   // may requeue anybody's
}

// AskRecovery asks what is wrong with the store, if anything, and what a [Recover] would do.
// Answered by [view.Recovery].
type AskRecovery struct{ Asked AskID }

// Recover is an operator's word that this store goes on, though it is older than what has been
// seen of this site, or another peer ran as this one. Answered by [view.Recovery] or [view.Refusal].
type Recover struct {
	Asked   AskID
	Requeue bool // jobs that may have run since are run again
	Cancel  bool // they are cancelled
	User    string
	UID     int // of the user, for the audit
	Admin   bool
}

// Reconfigure changes how rounds are opened and decided, from here on. Answered by
// [view.Done] or [view.Refusal]. The shell must ask the policy of that name by the time it
// hands this in.
type Reconfigure struct {
	Asked   AskID
	Runtime rules.RuntimeConfig
}

// SetPartners replaces the configured partners, what the accounts, partitions and QOS of their jobs
// and of local users' jobs mean here, and the local site's public key, from here on. Answered by [view.Done] or [view.Refusal].
type SetPartners struct {
	Asked        AskID
	PublicKey    string          // empty: as it was
	Partners     []rules.Partner // in any order
	Associations association.Table
}

// ChangePrices says that the feed of electricity prices has been replaced: the peer asks it now, and
// not at the next refresh. Until it answers, the prices of the previous one are used. Answered by
// [view.Done].
type ChangePrices struct{ Asked AskID }

// TestSubmit asks for the quotes that jobs would get now, from every site.
// Answered by [view.TestSubmitResult] or [view.Refusal].
type TestSubmit struct {
	Asked AskID
	User  string
	Jobs  []protocol.Job // without payloads
	// Application is as in [Submit]. With Front the answer tells the choices that the user
	// has between cost and time.
	Application *protocol.Application
	Front       bool
}

// AskQueue asks for the jobs of this site's users and the guests. Answered by
// [view.Queue].
type AskQueue struct {
	Asked  AskID
	Filter view.QueueFilter
}

// AskJob asks for one job. Answered by [view.Job] or [view.Refusal] (NotFound: the
// shell looks in the archive).
type AskJob struct {
	Asked AskID
	Job   protocol.JobID
}

// AskOutput asks whether a partner may fetch the output of a guest, or the inputs of a job that it runs. Answered by [view.Done] or
// [view.Refusal]: NotFound when the site has nothing of the job and will not have it again, Unavailable
// when its rows may be older than what has happened.
type AskOutput struct {
	Asked  AskID
	From   protocol.SiteName // the partner
	Tag    protocol.Tag
	Inputs bool // asked for are the files that go with a job of this origin which the partner has got
}

// AskSites asks for what is known of every site. Answered by [view.Sites].
type AskSites struct{ Asked AskID }

// AskShares asks how users stand with their shares. Answered by [view.Shares].
type AskShares struct {
	Asked AskID
	User  string // whose; empty: those of all users
}

// AskRunHistory asks for the run history of a user's components. Answered by [view.RunHistory].
type AskRunHistory struct {
	Asked     AskID
	User      string // whose; empty: those of all users
	Component string // empty: all
}

func (Tick) event()          {}
func (MessageIn) event()     {}
func (Connected) event()     {}
func (Disconnected) event()  {}
func (DigestSeen) event()    {}
func (MemberSeen) event()    {}
func (CallDone) event()      {}
func (Submit) event()        {}
func (Cancel) event()        {}
func (SetHold) event()       {}
func (SetDrain) event()      {}
func (Update) event()        {}
func (Requeue) event()       {}
func (AskRecovery) event()   {}
func (Recover) event()       {}
func (Reconfigure) event()   {}
func (SetPartners) event()   {}
func (ChangePrices) event()  {}
func (ClockSet) event()      {}
func (TestSubmit) event()    {}
func (AskQueue) event()      {}
func (AskJob) event()        {}
func (AskOutput) event()     {}
func (AskSites) event()      {}
func (AskShares) event()     {}
func (AskRunHistory) event() {}

// Settlement is what the operator decides about all jobs of which it is not known whether they ran; empty:
// nothing.
func (ev Recover) Settlement() row.Settlement {
	switch {
	case ev.Cancel:
		return row.SettleByCancel
	case ev.Requeue:
		return row.SettleByRequeue
	}
	return ""
}
