package row

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/phase"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A phase changes by a move of these tables and in no other way. Each entry says from which
// phases its own is entered, what entering it resets in the row, and what it means that the row
// is there. Whoever moves a row sets afterwards what the new phase is about: site, instants.
//
// A job of this origin:
//
//	submitted ─► grid queue ─┬─► committed locally ──────────────────────────┐
//	                ▲  ▲     ├─► reserving ─┬─► committed locally            │
//	                │  │     └─► offered ───┼─► granted ─► handed off ──┐    │
//	                │  └────────────────────┘       └───► recalling ────┤    ├─► gone
//	                ├── proven not to run ◄─────────────────────────────┘    │
//	                └── requeued by a user ◄──── with a result: staging out ─┤
//	                      cancelled, and a site still to be heard: ending ───┘

// jobPhases are the phases of a job of this origin. It leaves them by its end, from any of them, and enters the first one again as
// a new one if it is requeued then.
var jobPhases = phase.Table[JobPhase, Job]{ //nolint:gochecknoglobals // it does not change
	JobInGridQueue: { // from itself: a job that had needed an operator; from staging out: one that a user has start again
		From: []JobPhase{phase.Created, JobInGridQueue, JobReserving, JobCommittedLocal, JobOffered, JobGranted, JobHandedOff, JobRecalling, JobStagingOut},
		Resets: func(j *Job) {
			j.Unplace()
			j.Site, j.CommittedAt, j.State = "", 0, protocol.Pending
			j.Started, j.TimeLimit, j.StatusSeq, j.OperatorReason, j.Parted, j.Requeueing = 0, 0, 0, "", false, false
		},
	},
	JobReserving: { // again from a later instant on
		From: []JobPhase{JobInGridQueue, JobReserving},
	},
	JobCommittedLocal: {
		From:   []JobPhase{JobInGridQueue, JobReserving},
		Resets: func(j *Job) { j.Reason, j.Moving = "", "" },
	},
	JobOffered: { // again with room from a later instant on
		From:   []JobPhase{JobInGridQueue, JobOffered},
		Resets: func(j *Job) { j.Moving = "" },
	},
	JobGranted: {
		From: []JobPhase{JobOffered},
	},
	JobHandedOff: { // the rows may be older than what the partner has, and then from wherever they were
		From: []JobPhase{JobGranted, JobInGridQueue, JobReserving, JobOffered, JobHandedOff, JobRecalling},
		Resets: func(j *Job) {
			j.Reason, j.Restored = "", false
		},
	},
	JobRecalling: { // again, when it is to be ended there, too
		From: []JobPhase{JobGranted, JobHandedOff, JobRecalling},
	},
	JobStagingOut: {
		From: []JobPhase{JobGranted, JobHandedOff, JobRecalling},
		Resets: func(j *Job) {
			j.State, j.OperatorReason, j.Restored = protocol.Running, "", false
		},
	},
	JobEnding: {
		From: []JobPhase{JobInGridQueue, JobReserving, JobCommittedLocal, JobOffered, JobGranted, JobHandedOff, JobRecalling, JobStagingOut},
		Resets: func(j *Job) {
			j.Cancelling, j.OperatorReason = true, ""
			if j.Outcome == nil {
				j.State, j.Site = protocol.Pending, ""
			}
		},
	},
}

// guestPhases are the phases of a job of another origin.
var guestPhases = phase.Table[GuestPhase, Guest]{ //nolint:gochecknoglobals // it does not change
	GuestPrepared: {From: []GuestPhase{phase.Created}},
	GuestAccepted: {From: []GuestPhase{GuestPrepared}},
	GuestAborted:  {From: []GuestPhase{GuestPrepared, GuestAccepted}, Resets: (*Guest).tombstone},
	GuestClosed:   {From: []GuestPhase{GuestAccepted}, Resets: (*Guest).tombstone},
}

// tombstone leaves of a guest what a tombstone needs: the rest is of no use any more, and long.
func (g *Guest) tombstone() {
	g.Recalled, g.Cancel, g.Tariff = false, false, nil
	g.Spec = protocol.Spec{Request: protocol.Request{Job: g.Spec.Job}}
}

// runPhases are the phases of a placement in the local queue.
var runPhases = phase.Table[RunPhase, Run]{ //nolint:gochecknoglobals // it does not change
	RunSubmitting: {From: []RunPhase{phase.Created}},
	RunQueued: { // from running: it was taken for running, and it was too late for it to begin
		From:   []RunPhase{RunSubmitting, RunQueued, RunRunning},
		Resets: func(r *Run) { r.Started, r.TimeLimit, r.OperatorReason = 0, 0, "" },
	},
	RunRunning: { // again, when it is known since when
		From: []RunPhase{RunQueued, RunRunning},
	},
	RunEnded: {
		From: []RunPhase{RunQueued, RunRunning},
	},
}

// Move has the job enter a phase. An illegal move is a [phase.MoveError], and changes nothing.
func (j *Job) Move(to JobPhase) error { return jobPhases.Move(j.name, j, &j.Phase, to) }

// Move has the guest enter a phase. An illegal move is a [phase.MoveError], and changes nothing.
func (g *Guest) Move(to GuestPhase) error { return guestPhases.Move(g.name, g, &g.Phase, to) }

// Move has the run enter a phase. An illegal move is a [phase.MoveError], and changes nothing.
func (r *Run) Move(to RunPhase) error { return runPhases.Move(r.name, r, &r.Phase, to) }

func (j *Job) name() string   { return fmt.Sprintf("job %d:%d", j.Spec.Job, j.Epoch) }
func (g *Guest) name() string { return fmt.Sprintf("guest %d:%d", g.Spec.Job, g.Epoch) }
func (r *Run) name() string   { return fmt.Sprintf("run %v", r.Tag) }

// UnmarshalText reads a phase of the table.
func (p *JobPhase) UnmarshalText(text []byte) error { return jobPhases.Read(p, text) }

// UnmarshalText reads a phase of the table.
func (p *GuestPhase) UnmarshalText(text []byte) error { return guestPhases.Read(p, text) }

// UnmarshalText reads a phase of the table.
func (p *RunPhase) UnmarshalText(text []byte) error { return runPhases.Read(p, text) }

// Phases lists the moves between the phases of jobs, guests and runs, a line each, for the page
// that explains them.
func Phases() []string {
	return slices.Concat(jobPhases.Lines("job"), guestPhases.Lines("guest"), runPhases.Lines("run"))
}
