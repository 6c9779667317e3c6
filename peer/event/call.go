package event

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// CallID numbers the calls of one life of a peer.
type CallID uint64

// Call is work that the shell does for the peer and answers by [CallDone], at
// most once. What was called before a crash is not answered after it.
type Call struct {
	ID CallID
	Op Op
}

// Op is what a call does. The set is closed.
//
//sumtype:decl
type Op interface{ op() }

// QuoteOp asks the local scheduler for quotes and the load: [QuoteResult]. After Until the
// answer is not read, and the call need not be carried out; 0: it is always read.
type QuoteOp struct {
	Query localsched.Query
	Until protocol.Instant
}

// SubmitOp puts a job in the local queue: [SubmitResult].
type SubmitOp struct{ Job localsched.Submission }

// StageInOp fetches the files of a guest from its origin, before it is submitted: [StageInResult]. For a guest that runs in
// place it finds out instead whether its directories are those that its origin has.
type StageInOp struct {
	Tag     protocol.Tag
	From    protocol.SiteName
	File    protocol.File
	Account string   // that runs a guest in place
	Dirs    []string // in which it works and has its output; none: it has files that are fetched
}

// LookupOp asks whether an earlier SubmitOp took effect: [LookupResult].
type LookupOp struct{ Tag protocol.Tag }

// WithdrawOp takes a job out of the local queue: [WithdrawResult].
type WithdrawOp struct{ Tag protocol.Tag }

// KillOp ends a job that runs here: [KillResult].
type KillOp struct{ Tag protocol.Tag }

// WatchOp waits for changes in the local queue: [WatchResult].
type WatchOp struct{ After localsched.Cursor }

// ForgetOp lets the local scheduler drop a job that has ended: [ForgetResult].
type ForgetOp struct{ Tag protocol.Tag }

// PrioritizeOp gives jobs in the local queue other priorities: [PrioritizeResult].
type PrioritizeOp struct{ Priorities []localsched.Priority }

// PlannedStartsOp asks when the local scheduler plans to start jobs that wait in its queue: [PlannedStartsResult].
type PlannedStartsOp struct{ Tags []protocol.Tag }

// CollectOp fetches a finished job's output from the site that ran it and puts
// it where the submitter wants it: [CollectResult].
type CollectOp struct {
	Tag     protocol.Tag
	From    protocol.SiteName
	Files   []protocol.File
	User    string // the submitter, at this site
	Payload *protocol.Payload
}

// DiscardOp gives up what has come home of a job's output, or of the files of a guest, and ends a
// CollectOp or StageInOp that is under way, and a SubmitOp that unpacks files: [DiscardResult].
type DiscardOp struct{ Tag protocol.Tag }

// DecideOp asks the active policy about a round, or the fallback policy when that has
// failed: [DecideResult].
type DecideOp struct {
	Snapshot policy.Snapshot
	Fallback bool // asked is [rules.Config.Fallback]
}

// ParetoOp asks the active policy, or the built-in one that [rules.Config.Fronts] allows, for the
// choices that an application leaves between cost and time: [ParetoResult]. The snapshot has one
// application.
type ParetoOp struct {
	Snapshot policy.Snapshot
	BuiltIn  bool
}

// ReserveOp has the local scheduler hold room: [ReserveResult].
type ReserveOp struct{ Hold localsched.Reservation }

// CancelReservationOp gives a hold up that was not taken: [CancelReservationResult].
type CancelReservationOp struct{ Tag protocol.Tag }

// ArchiveOp asks what became of jobs of this origin that have ended: [ArchiveResult].
type ArchiveOp struct{ Jobs []protocol.JobID }

// PriceOp asks for the electricity prices of an area: [PriceResult].
type PriceOp price.Query

func (QuoteOp) op()             {}
func (SubmitOp) op()            {}
func (StageInOp) op()           {}
func (LookupOp) op()            {}
func (WithdrawOp) op()          {}
func (KillOp) op()              {}
func (WatchOp) op()             {}
func (ForgetOp) op()            {}
func (PrioritizeOp) op()        {}
func (PlannedStartsOp) op()     {}
func (CollectOp) op()           {}
func (DiscardOp) op()           {}
func (DecideOp) op()            {}
func (ParetoOp) op()            {}
func (ReserveOp) op()           {}
func (CancelReservationOp) op() {}
func (ArchiveOp) op()           {}
func (PriceOp) op()             {}

// Result is what a call brought. The set is closed.
//
//sumtype:decl
type Result interface{ result() }

// QuoteResult answers [QuoteOp]; the quotes are in the order of the jobs.
type QuoteResult struct {
	Quotes []protocol.Quote
	Load   protocol.Load
}

// SubmitResult answers [SubmitOp]. Refused is why the batch system will never
// take the job; empty: it has it.
type SubmitResult struct {
	Local   localsched.LocalID
	Refused string
}

// StageInResult answers [StageInOp]: the files are here, complete and as they were when the job was
// submitted. Failed is why they never will be; empty: they are. Refused is why a guest cannot run in place here; empty: it
// can. An error of the call means: try again later.
type StageInResult struct{ Failed, Refused string }

// LookupResult answers [LookupOp].
type LookupResult struct {
	Presence localsched.Presence
	Local    localsched.LocalID
}

// WithdrawResult answers [WithdrawOp].
type WithdrawResult struct{ Withdrawal localsched.Withdrawal }

// KillResult answers [KillOp].
type KillResult struct{}

// WatchResult answers [WatchOp].
type WatchResult struct{ Watched localsched.Watched }

// ForgetResult answers [ForgetOp].
type ForgetResult struct{}

// PrioritizeResult answers [PrioritizeOp].
type PrioritizeResult struct{}

// PlannedStartsResult answers [PlannedStartsOp], as a [localsched.StartPlanner] does. It is empty if the local scheduler
// has no plan.
type PlannedStartsResult struct{ Starts []localsched.PlannedStart }

// CollectResult answers [CollectOp]. Problem says why the files of Left could not be
// put where the submitter wants them; each of these is kept as a whole. Gone: the site
// that ran the job has its output no longer, and Left are those of which a beginning had come, which is kept.
// An error of the call means: try again later.
type CollectResult struct {
	Problem string
	Left    []view.Undelivered
	Gone    bool
}

// Kept are the paths of what is kept of the files, for people; empty: nothing is.
func (r CollectResult) Kept() string {
	var paths []string
	for _, file := range r.Left {
		if file.Kept != "" {
			paths = append(paths, file.Kept)
		}
	}
	return strings.Join(paths, ", ")
}

// DiscardResult answers [DiscardOp].
type DiscardResult struct{}

// DecideResult answers [DecideOp]; [policy.Snapshot.Check] has passed the decisions.
type DecideResult struct {
	Decisions []policy.Decision
	Hint      []byte
}

// ParetoResult answers [ParetoOp]; [policy.Snapshot.CheckFront] has passed it.
type ParetoResult struct{ Front policy.ParetoFront }

// ReserveResult answers [ReserveOp]. Refused is why no room can be held; empty: it is, from
// Start on.
type ReserveResult struct {
	Start   protocol.Instant
	Refused string
}

// CancelReservationResult answers [CancelReservationOp].
type CancelReservationResult struct{}

// ArchiveResult answers [ArchiveOp]. A job that is not in the archive is left out.
type ArchiveResult struct{ Ended []Ended }

// Ended is how a job ended.
type Ended struct {
	Job     protocol.JobID
	User    string
	State   protocol.State
	Started protocol.Instant // 0: it never did
	Ended   protocol.Instant

	Elements  protocol.Indexes // of an array; empty: it was none
	NeverJobs protocol.Indexes // of these, those that were ended before they became jobs
}

// EndedOf is how the job of a view ended.
func EndedOf(job *view.Job) Ended {
	e := Ended{Job: job.ID, User: job.User, State: job.State, Started: job.Started, Ended: job.Ended}
	if job.Array != nil {
		e.Elements, e.NeverJobs = job.Array.Elements, job.Array.NeverJobs
	}
	return e
}

// PriceResult answers [PriceOp].
type PriceResult price.Forecast

func (QuoteResult) result()             {}
func (SubmitResult) result()            {}
func (StageInResult) result()           {}
func (LookupResult) result()            {}
func (WithdrawResult) result()          {}
func (KillResult) result()              {}
func (WatchResult) result()             {}
func (ForgetResult) result()            {}
func (PrioritizeResult) result()        {}
func (PlannedStartsResult) result()     {}
func (CollectResult) result()           {}
func (DiscardResult) result()           {}
func (DecideResult) result()            {}
func (ParetoResult) result()            {}
func (ReserveResult) result()           {}
func (CancelReservationResult) result() {}
func (ArchiveResult) result()           {}
func (PriceResult) result()             {}
