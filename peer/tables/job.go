package tables

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/compact"
	"github.com/switchyard-hpc/switchyard/peer/intake"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Job is a job of this origin that has not ended.
type Job struct {
	row.Job
	App              *Application       // nil: it is on its own
	Array            *Array             // that it is an element of; nil: it is on its own
	Excluded         rounds.Exclusions  // sites that are not asked about it
	Local            localsched.LocalID // the local scheduler's name of the run that ended
	NotHere          string             // why the local site is excluded; empty: not by its scheduler's word
	AwaitsMove       bool               // among those that the local scheduler has refused
	Tries            int                // of the unanswered message
	Detail           string             // of Reason, in the grid queue
	Asked            protocol.Instant   // when the hand-off began
	LocalQuote       LocalQuote
	NoEligibleSite   bool             // no site that is known can run it
	InFlight         bool             // its files are being collected
	CountsThere      bool             // in its partner's JobsThere
	OwnershipPending bool             // its site is asked whether it still has it
	Tried            protocol.Instant // when it was last asked whether another site would end it sooner; 0: not yet

	best    *view.BestQuote // of its last round that did not place it; nil: there was none
	planned *plannedStart   // nil: its site has not said when it plans to start it

	packed compact.Payload // zero: that of its array
	stands standing        // in its array, as it is counted there
	holds  bool            // it must not be placed, as [row.Job.HoldReason] says
	waits  bool            // for others of its array to end
}

// LocalQuote is the wait that the local site first quoted for a job.
type LocalQuote struct {
	AWT   protocol.Duration
	Known bool
}

// plannedStart is the planned start of one placement of a job.
type plannedStart struct {
	view.PlannedStart

	epoch protocol.Epoch
}

// NotePlannedStart notes, of a job that is placed, when its site plans to start it, as it says now; 0: it plans no start.
func (j *Job) NotePlannedStart(start, now protocol.Instant) {
	j.planned = &plannedStart{view.PlannedStart{Start: start, Stated: now}, j.Epoch}
}

// PlannedStart is when the site where the job waits last said that it plans to start it; false: it has started or is not
// placed, or its site plans no start or has not said so since the last start of this peer. It is not durable.
func (j *Job) PlannedStart() (view.PlannedStart, bool) {
	if j.planned == nil || j.planned.epoch != j.Epoch || j.planned.Start == 0 || j.State != protocol.Pending || !j.placed() {
		return view.PlannedStart{}, false
	}
	return j.planned.PlannedStart, true
}

// NoteBestQuote keeps the best quote of a round that has not placed the job.
func (j *Job) NoteBestQuote(q *protocol.Quote, site protocol.SiteName, now protocol.Instant) {
	j.best = &view.BestQuote{Site: site, QuotedWaits: row.WaitsOf(q, now)}
}

// BestQuote is the best quote of the last round of a job that may be placed and has no site; nil: it has one or must not be
// placed, or no site has quoted a wait since the last start of this peer. It is not durable.
func (j *Job) BestQuote(now protocol.Instant) *view.BestQuote {
	if why := j.HoldReason(now); j.Phase != row.JobInGridQueue || why != "" && why != view.ReasonBeginTime {
		return nil
	}
	return j.best
}

// placed says whether the job is at its site, or was granted to it.
func (j *Job) placed() bool { return j.Phase == row.JobCommittedLocal || j.AtPartner() }

// Row is the row of the job; nil: there is no job.
func (j *Job) Row() *row.Job {
	if j == nil {
		return nil
	}
	return &j.Job
}

// Payload is what the job runs.
func (j *Job) Payload() *protocol.Payload {
	if a := j.Array; a != nil {
		return a.ElementPayload(a.packed.Unpack(&a.Job), &j.Job)
	}
	return j.packed.Unpack(&j.Job)
}

// ApplicationRow is that of the job's application; nil: it is on its own.
func (j *Job) ApplicationRow() *row.Application {
	if j.App == nil {
		return nil
	}
	return &j.App.Application
}

// IsComponent says whether the job is a component of an application, even if the only one.
func (j *Job) IsComponent() bool { return j.Component != nil || j.App != nil }

// Tolerance is how much later than the instant of its group a member may start; 0: it has no group.
func (j *Job) Tolerance() protocol.Duration {
	if j.App == nil {
		return 0
	}
	return j.App.Tolerance()
}

// ForRound is the job as rounds see it; none if it has ended.
func (j *Job) ForRound() rounds.Job {
	if j == nil {
		return rounds.Job{}
	}
	return rounds.Job{Row: &j.Job, Excluded: &j.Excluded}
}

// NoteLocalQuote keeps the first wait that the local site quoted for the job.
func (j *Job) NoteLocalQuote(q *protocol.Quote) {
	if !j.LocalQuote.Known && q.Declined == "" && q.AWT != protocol.Never {
		j.LocalQuote = LocalQuote{AWT: q.AWT, Known: true}
	}
}

// AnyShape says whether something is true of one of the first n shapes of the job, or of the one that it
// has now.
func (j *Job) AnyShape(n int, is func(*protocol.Spec) bool) bool {
	if is(&j.Spec) {
		return true
	}
	for shape := 1; shape < n; shape++ {
		if spec := j.Shaped(shape); is(&spec) {
			return true
		}
	}
	return false
}

// Guest is a job of another origin at this site, or its tombstone.
type Guest struct {
	row.Guest
	Instance step.Instance
	Payload  *protocol.Payload
	Tries    int           // of the unanswered message
	Counted  bool          // among its origin's jobs here
	Intake   intake.Number // in which it counts; 0: none
}

// Row is the row of the guest; nil: there is no guest.
func (g *Guest) Row() *row.Guest {
	if g == nil {
		return nil
	}
	return &g.Guest
}

// Application is an application whose components have not all ended.
type Application struct {
	row.Application
	Jobs   []protocol.JobID // those that have not ended, by ID
	Crowds broker.Crowds

	groups map[int]*broker.Group // of components that start together, by number
}

// Join makes a job a component of the application.
func (a *Application) Join(j *Job) {
	j.App = a
	a.Jobs = append(a.Jobs, j.Spec.Job)
	if !j.Together() || a.groups[j.Component.Together] != nil {
		return
	}
	if a.groups == nil {
		a.groups = map[int]*broker.Group{}
	}
	number := j.Component.Together
	a.groups[number] = &broker.Group{Key: broker.GroupKey{Application: a.ID, Number: number}}
}

// PayloadAbroad is what the job runs as a partner gets it: without the variables that stay at this site,
// whose list of variables that leave with every job is given, and with how many bytes of files may come back.
func (j *Job) PayloadAbroad(leave []string, maxBack int64) *protocol.Payload {
	out := j.Payload()
	var env []string
	for _, pair := range out.Env {
		if name, _, _ := strings.Cut(pair, "="); j.Export.Allows(name, leave) {
			env = append(env, pair)
		}
	}
	out.Env, out.Staging = env, out.Staging.Abroad().Bounded(maxBack)
	if j.Spec.InPlace {
		out.Staging = nil
	}
	return out
}

// Questioned is a job that is only asked about, with the files that it would have.
func Questioned(of row.Job, files *protocol.Payload) *Job {
	j := &Job{Job: of}
	if files != nil {
		alone := *files
		alone.Script, alone.Args, alone.Env = nil, nil, nil
		j.packed = new(compact.Store).Pack(of.Spec.User, &j.Job, &alone)
	}
	return j
}

// Files is what the job runs, without the script, its arguments and its environment.
func (j *Job) Files() *protocol.Payload { return j.packed.Files(&j.Job) }

// SharedWith says whether the job can run in place at a partner.
func (j *Job) SharedWith(one *partner.Partner) bool {
	return len(one.Shared) > 0 && len(one.SharedThere()) > 0 && one.Shares(j.Files())
}

// CountAt counts an open guest among those of its origin (+1), or takes it off the count (-1), once.
func (g *Guest) CountAt(origin *partner.Partner, by int) {
	if g.Counted != (by > 0) {
		g.Counted = by > 0
		origin.Admit(g.Spec.CPUs, by)
	}
}
