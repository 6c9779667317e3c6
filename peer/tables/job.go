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
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Job is a job of this origin that has not ended.
type Job struct {
	row.Job
	App              *Application       // nil: it is on its own
	Excluded         rounds.Exclusions  // sites that are not asked about it
	Local            localsched.LocalID // the local scheduler's name of the run that ended
	NotHere          string             // why the local site is excluded; empty: not by its scheduler's word
	AwaitsMove       bool               // among those that the local scheduler has refused
	Tries            int                // of the unanswered message
	Detail           string             // of Reason, in the grid queue
	Asked            protocol.Instant   // when the hand-off began
	LocalQuote       LocalQuote
	NoEligibleSite   bool // no site that is known can run it
	InFlight         bool // its files are being collected
	CountsThere      bool // in its partner's JobsThere
	OwnershipPending bool // its site is asked whether it still has it

	packed compact.Payload
}

// LocalQuote is the wait that the local site first quoted for a job.
type LocalQuote struct {
	AWT   protocol.Duration
	Known bool
}

// Row is the row of the job; nil: there is no job.
func (j *Job) Row() *row.Job {
	if j == nil {
		return nil
	}
	return &j.Job
}

// Payload is what the job runs.
func (j *Job) Payload() *protocol.Payload { return j.packed.Unpack(&j.Job) }

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
// whose list of variables that leave with every job is given.
func (j *Job) PayloadAbroad(leave []string) *protocol.Payload {
	out := j.Payload()
	var env []string
	for _, pair := range out.Env {
		if name, _, _ := strings.Cut(pair, "="); j.Export.Allows(name, leave) {
			env = append(env, pair)
		}
	}
	out.Env, out.Staging = env, out.Staging.Abroad()
	return out
}

// CountAt counts an open guest among those of its origin (+1), or takes it off the count (-1), once.
func (g *Guest) CountAt(origin *partner.Partner, by int) {
	if g.Counted != (by > 0) {
		g.Counted = by > 0
		origin.Admit(g.Spec.CPUs, by)
	}
}
