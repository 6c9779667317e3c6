package view

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Bill is a bill as people see it.
type Bill struct {
	Cost     protocol.Micro    `json:"cost_micro"`
	Currency string            `json:"currency"`
	Terms    []PriceTerm       `json:"terms"`
	Start    protocol.Instant  `json:"start_ms"` // of the run, by the clock of the site that ran it
	Ran      protocol.Duration `json:"ran_ms"`
	Open     bool              `json:"open,omitempty"`     // the job still runs: so far
	Disputed string            `json:"disputed,omitempty"` // why the site's own bill is not believed
}

// Queue answers [AskQueue], by job id.
type Queue struct {
	Jobs []Job          `json:"jobs"`
	Next protocol.JobID `json:"next,omitempty"` // of a page: its last job, when more follow it
}

// Job is a job as people see it, at its origin or at the site that runs it.
type Job struct { //nolint:recvcheck // a reply is a value
	protocol.Association // by the names of its origin

	ID          protocol.JobID      `json:"id"`
	Name        string              `json:"name"`
	User        string              `json:"user"`
	State       protocol.State      `json:"state"`
	Reason      string              `json:"reason"`
	CancelledBy string              `json:"cancelled_by,omitempty"` // the user who first asked for its end; empty: no user has, or it is not known
	Origin      protocol.SiteName   `json:"origin"`
	Site        protocol.SiteName   `json:"site"` // where it is committed; empty: still in the grid queue
	Epoch       protocol.Epoch      `json:"epoch"`
	Local       localsched.LocalID  `json:"local_id,omitempty"` // the local scheduler's own name of it, where that is known here
	Guest       bool                `json:"guest"`              // submitted elsewhere, here only to run
	RunsAs      string              `json:"runs_as,omitempty"`  // account of this site that a guest runs as; empty for other jobs
	CPUs        int                 `json:"cpus"`
	Nodes       int                 `json:"nodes"`
	Layout      protocol.Layout     `json:"layout,omitzero"`
	MemoryMB    int64               `json:"memory_mb"`
	WallTime    protocol.Duration   `json:"wall_time_ms"`
	MinTime     protocol.Duration   `json:"min_time_ms,omitempty"`   // to which its limit may be lowered if it then starts sooner; 0: it may not
	TimeLimit   protocol.Duration   `json:"time_limit_ms,omitempty"` // with which it runs or ran, if that is not wall_time_ms
	Sites       []protocol.SiteName `json:"sites,omitempty"`
	Requeue     bool                `json:"requeue"`
	Restarts    int                 `json:"restarts,omitempty"`       // how often it has been run again
	Earlier     bool                `json:"earlier,omitempty"`        // the view is of a run after which the job was requeued, or which its origin ran again here
	Power       int                 `json:"power_ppm,omitempty"`      // stated power draw relative to the site's default; zero if not stated
	Data        int64               `json:"data_bytes,omitempty"`     // that travel with it
	Comment     string              `json:"comment,omitempty"`        // of its user's
	Container   string              `json:"container,omitempty"`      // image in which it runs
	StageIn     int64               `json:"stage_in_bytes,omitempty"` // of files that go with it to another site
	StageOut    bool                `json:"stage_out,omitempty"`      // files come back from there
	InPlace     bool                `json:"in_place,omitempty"`       // it runs at another site in its own working directory, which that shares
	Transfer    *Transfer           `json:"transfer,omitempty"`       // of a file that is on its way; nil: none is, as far as this site knows
	Resources   []protocol.Resource `json:"resources,omitempty"`      // beside CPUs and memory
	Features    string              `json:"features,omitempty"`       // that its nodes must have
	Exclusive   bool                `json:"exclusive,omitempty"`      // it has its nodes for itself
	Nice        int64               `json:"nice,omitempty"`           // taken off its priority
	Submitted   protocol.Instant    `json:"submitted_ms"`
	CommittedAt protocol.Instant    `json:"committed_ms"`            // the last commit or grant; 0: none
	Started     protocol.Instant    `json:"started_ms"`              // 0: not yet; by the origin's clock
	Ended       protocol.Instant    `json:"ended_ms"`                // 0: not yet
	Ran         protocol.Duration   `json:"ran_ms,omitempty"`        // once it has ended, as measured where it ran
	QuotedAWT   *protocol.Duration  `json:"quoted_awt_ms,omitempty"` // nil if no quote was requested
	Waits       *QuotedWaits        `json:"quoted_waits,omitempty"`  // where it is placed; nil: no quote was requested
	Planned     *PlannedStart       `json:"planned_start,omitempty"` // by the site where it waits; nil: it plans none, or has not said
	Moves       int                 `json:"moves,omitempty"`         // how often a local queue has given it back because another site would end it sooner
	MovedAt     protocol.Instant    `json:"moved_at_ms,omitempty"`   // when one did so last; 0: none has
	BestQuote   *BestQuote          `json:"best_quote,omitempty"`    // while it is in the grid queue; nil: it is not, or no site has quoted a wait
	ExitCode    int                 `json:"exit_code"`
	Signal      int                 `json:"signal"`
	WorkDir     string              `json:"work_dir"`
	Stdout      string              `json:"stdout"`
	Stderr      string              `json:"stderr"`
	Mail        protocol.Mail       `json:"mail,omitzero"` // that its user gets about it
	Conditions  protocol.Conditions `json:"conditions,omitzero"`
	Change      *protocol.Change    `json:"change,omitempty"`      // of it once it is back in the grid queue; nil: none
	Undelivered []Undelivered       `json:"undelivered,omitempty"` // files of a job that has ended elsewhere which are not where its user wants them; Reason says why

	Traceparent protocol.Traceparent `json:"traceparent,omitempty"` // of its user's, below which its spans are; empty: they begin a trace

	Element *protocol.Element `json:"element,omitempty"` // that it is of an array; nil: it is on its own
	Array   *Array            `json:"array,omitempty"`   // nil: the view is of one job

	Application      protocol.JobID    `json:"application,omitempty"` // of its first component; 0: the job is on its own
	Component        string            `json:"component,omitempty"`
	ReservedAt       protocol.Instant  `json:"reserved_at_ms,omitempty"`   // from when on room is held for it; 0: it is not
	Cost             protocol.Micro    `json:"cost_micro,omitempty"`       // predicted, in the site's own currency
	PredictedRunTime protocol.Duration `json:"predicted_run_ms,omitempty"` // run time
	Usage            protocol.Usage    `json:"usage"`                      // measured
	Quoted           *QuotedPrice      `json:"quoted,omitempty"`           // the price that it was placed at; nil: none was named
	LocalQuoted      *QuotedPrice      `json:"local_quoted,omitempty"`     // that its own site quoted when it was placed elsewhere; nil: none
	Energy           *JobEnergy        `json:"energy,omitempty"`           // nil: it is not known
	Bill             *Bill             `json:"bill,omitempty"`             // what it cost, or has cost so far; nil: nothing, or its site does not say
	// ClockOffset is how far the clock of the job's site is ahead of the origin's, as the job's last
	// message tells, its way counted with it. Started and Ended are by the origin's clock.
	ClockOffset protocol.Duration `json:"clock_offset_ms,omitempty"`
	Objectives  *Objectives       `json:"objectives,omitempty"` // of its application; nil: it is on its own
	Together    *Start            `json:"together,omitempty"`   // nil: it starts on its own
}

// Described is what a job's description says of it.
func Described(s protocol.Spec) Job {
	return Job{
		ID: s.Job, Name: s.Name, User: s.User, CPUs: s.CPUs, Nodes: s.Nodes, Layout: s.Layout, MemoryMB: s.MemoryMB,
		WallTime: s.WallTime, MinTime: s.MinTime, Sites: s.Sites, Requeue: s.Requeue, Restarts: s.Restarts, Submitted: s.Submitted,
		Power: s.Power, Data: s.Data, Comment: s.Comment, Container: s.Container, StageIn: s.StageIn, StageOut: s.StageOut, InPlace: s.InPlace,
		Resources: s.Resources, Features: s.Features, Exclusive: s.Exclusive, Association: s.Association, Nice: s.Nice,
		Traceparent: s.Traceparent,
	}
}

// Limit is the time limit of the job: once it runs, the one with which it does.
func (v *Job) Limit() protocol.Duration { return cmp.Or(v.TimeLimit, v.WallTime) }

// Start is what holds of the start of a job that starts together with others.
type Start struct {
	Tolerance protocol.Duration `json:"start_tolerance_ms"`     // how much later than its group it may start
	Missed    string            `json:"start_missed,omitempty"` // what becomes of its group if one starts later, as in [protocol.Application]; empty: its origin knows
}

// Objectives are what the user of a job's application wants, and how far it has come.
type Objectives struct {
	protocol.Application

	Components    int            `json:"components"`
	Spent         protocol.Micro `json:"spent_micro"`              // cost of those that have ended, and predicted cost of those that are placed
	Broken        string         `json:"limit_exceeded,omitempty"` // which limit was broken in fact, and why; empty: none
	SpentCurrency string         `json:"spent_currency,omitempty"`
	Alpha         int            `json:"compute_weight_ppm"` // of this component
	Gamma         int            `json:"energy_weight_ppm"`
	Delta         int            `json:"data_weight_ppm"`
}

func (Queue) reply() {}

func (Job) reply() {}

// JobEnergy is what a job draws: as it was quoted, and as it ran or has run so far.
type JobEnergy struct {
	Power      int64           `json:"power_mw"`                    // that it is taken to draw, with cooling where its site charges that
	Quoted     int64           `json:"quoted_mj,omitempty"`         // for the run time that was quoted
	QuotedCost *protocol.Micro `json:"quoted_cost_micro,omitempty"` // in the currency of the quote; nil: none was named
	Used       int64           `json:"used_mj,omitempty"`
	Cost       *protocol.Micro `json:"cost_micro,omitempty"`  // in the currency of the bill; nil: none is named
	Measured   int64           `json:"measured_mj,omitempty"` // by counters of the machine; 0: it has none
}

// Transfer is how far a file of a job has come that is on its way to another site, or home.
type Transfer struct {
	File  string `json:"file"` // as [protocol.Stream] names it
	Bytes int64  `json:"bytes"`
	Of    int64  `json:"of_bytes"`
}

// Undelivered is a file of a job that ended at another site and is not where its user wants it.
type Undelivered struct {
	File    string `json:"file"`              // as [protocol.Stream] names it
	Kept    string `json:"kept,omitempty"`    // path of what its origin keeps of it instead; empty: nothing
	Partial bool   `json:"partial,omitempty"` // that is only the beginning, and no more will come
}

// LeftFile is what is known of a file of a job that is not where its user wants it; nil: it is there, or is still to come.
func (v *Job) LeftFile(file protocol.Stream) *Undelivered {
	at := slices.IndexFunc(v.Undelivered, func(u Undelivered) bool { return u.File == file.String() })
	if at < 0 {
		return nil
	}
	return &v.Undelivered[at]
}

// RunTime is how long a job ran that has ended. The archives of earlier versions do not say so: there the
// time from its start to its end counts, with what its files took.
func (v *Job) RunTime() protocol.Duration {
	if v.Ran != 0 || v.Started == 0 {
		return v.Ran
	}
	return max(0, v.Ended.Sub(v.Started))
}

// CPUTime is what was allocated to a job that has ended: its CPUs times its run time.
func (v *Job) CPUTime() protocol.Duration {
	return protocol.Duration(int128.Product(int64(v.CPUs), int64(v.RunTime())).Down())
}

// UsedEnergy is the energy of a job that has ended, in millijoules: as it was measured, or by the
// power that is stated for it; 0: it is not known.
func (v *Job) UsedEnergy() int64 {
	switch {
	case v.Usage.Energy > 0:
		return v.Usage.Energy
	case v.Energy == nil:
		return 0
	case v.Energy.Measured > 0:
		return v.Energy.Measured
	}
	return v.Energy.Used
}

// Billed is what a job that has ended was billed; zero and no currency: nothing.
func (v *Job) Billed() (protocol.Micro, string) {
	if v.Bill == nil || v.Bill.Open {
		return 0, ""
	}
	return v.Bill.Cost, v.Bill.Currency
}
