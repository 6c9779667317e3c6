package row

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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
//	                └── proven not to run ◄─────────────────────────────┘    │
//	                                             with a result: staging out ─┤
//	                      cancelled, and a site still to be heard: ending ───┘

// phase is an entry of a table: P is the type of the phase, R of the row.
type phase[P ~string, R any] struct {
	from   []P      // where it is entered from; created: the row is made in it
	resets func(*R) // in the row, when it is entered; nil: nothing
}

// created is where a new row comes from.
const created = ""

// jobPhases are the phases of a job of this origin. It leaves them by its end, from any of them.
var jobPhases = map[JobPhase]phase[JobPhase, Job]{ //nolint:gochecknoglobals // it does not change
	JobInGridQueue: { // from itself: a job that had needed an operator
		from: []JobPhase{created, JobInGridQueue, JobReserving, JobCommittedLocal, JobOffered, JobGranted, JobHandedOff, JobRecalling},
		resets: func(j *Job) {
			j.Unplace()
			j.Site, j.Placed, j.State = "", 0, protocol.Pending
			j.Started, j.StatusSeq, j.Stuck, j.Parted = 0, 0, "", false
		},
	},
	JobReserving: { // again from a later instant on
		from: []JobPhase{JobInGridQueue, JobReserving},
	},
	JobCommittedLocal: {
		from:   []JobPhase{JobInGridQueue, JobReserving},
		resets: func(j *Job) { j.Reason = "" },
	},
	JobOffered: { // again with room from a later instant on
		from: []JobPhase{JobInGridQueue, JobOffered},
	},
	JobGranted: {
		from: []JobPhase{JobOffered},
	},
	JobHandedOff: { // the rows may be older than what the partner has, and then from wherever they were
		from: []JobPhase{JobGranted, JobInGridQueue, JobReserving, JobOffered, JobHandedOff, JobRecalling},
		resets: func(j *Job) {
			j.Reason, j.Restored = "", false
		},
	},
	JobRecalling: { // again, when it is to be ended there, too
		from: []JobPhase{JobGranted, JobHandedOff, JobRecalling},
	},
	JobStagingOut: {
		from: []JobPhase{JobGranted, JobHandedOff, JobRecalling},
		resets: func(j *Job) {
			j.State, j.Stuck, j.Restored = protocol.Running, "", false
		},
	},
	JobEnding: {
		from: []JobPhase{JobInGridQueue, JobReserving, JobCommittedLocal, JobOffered, JobGranted, JobHandedOff, JobRecalling, JobStagingOut},
		resets: func(j *Job) {
			j.Cancelling, j.Stuck = true, ""
			if j.Outcome == nil {
				j.State, j.Site = protocol.Pending, ""
			}
		},
	},
}

// guestPhases are the phases of a job of another origin.
var guestPhases = map[GuestPhase]phase[GuestPhase, Guest]{ //nolint:gochecknoglobals // it does not change
	GuestPrepared: {from: []GuestPhase{created}},
	GuestAccepted: {from: []GuestPhase{GuestPrepared}},
	GuestAborted:  {from: []GuestPhase{GuestPrepared, GuestAccepted}, resets: (*Guest).bury},
	GuestClosed:   {from: []GuestPhase{GuestAccepted}, resets: (*Guest).bury},
}

// bury leaves of a guest what a tombstone needs: the rest is of no use any more, and long.
func (g *Guest) bury() {
	g.Recalled, g.Cancel, g.Tariff = false, false, nil
	g.Spec = protocol.Spec{Request: protocol.Request{Job: g.Spec.Job}}
}

// runPhases are the phases of a placement in the local queue.
var runPhases = map[RunPhase]phase[RunPhase, Run]{ //nolint:gochecknoglobals // it does not change
	RunSubmitting: {from: []RunPhase{created}},
	RunQueued: { // from running: it was taken for running, and it was too late for it to begin
		from:   []RunPhase{RunSubmitting, RunQueued, RunRunning},
		resets: func(r *Run) { r.Started, r.Stuck = 0, "" },
	},
	RunRunning: { // again, when it is known since when
		from: []RunPhase{RunQueued, RunRunning},
	},
	RunEnded: {
		from: []RunPhase{RunQueued, RunRunning},
	},
}

// MoveError is a move between phases that is in no table: a fault of the peer.
type MoveError struct {
	Row      string // which row
	From, To string // the phases
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("%s is in phase %q, from which phase %q must not be entered", e.Row, e.From, e.To)
}

// move enters a phase, or says why it must not be entered.
func move[P ~string, R any, N interface {
	*R
	name() string
}](table map[P]phase[P, R], row N, at *P, to P) error {
	entry, known := table[to]
	if !known || !slices.Contains(entry.from, *at) {
		return &MoveError{Row: row.name(), From: string(*at), To: string(to)}
	}
	if *at = to; entry.resets != nil {
		entry.resets(row)
	}
	return nil
}

// Move has the job enter a phase. An illegal move is a [MoveError], and changes nothing.
func (j *Job) Move(to JobPhase) error { return move(jobPhases, j, &j.Phase, to) }

// Move has the guest enter a phase. An illegal move is a [MoveError], and changes nothing.
func (g *Guest) Move(to GuestPhase) error { return move(guestPhases, g, &g.Phase, to) }

// Move has the run enter a phase. An illegal move is a [MoveError], and changes nothing.
func (r *Run) Move(to RunPhase) error { return move(runPhases, r, &r.Phase, to) }

func (j *Job) name() string   { return fmt.Sprintf("job %d:%d", j.Spec.Job, j.Epoch) }
func (g *Guest) name() string { return fmt.Sprintf("guest %d:%d", g.Spec.Job, g.Epoch) }
func (r *Run) name() string   { return fmt.Sprintf("run %v", r.Tag) }

// UnmarshalText reads a phase of the table.
func (p *JobPhase) UnmarshalText(text []byte) error { return read(jobPhases, p, text) }

// UnmarshalText reads a phase of the table.
func (p *GuestPhase) UnmarshalText(text []byte) error { return read(guestPhases, p, text) }

// UnmarshalText reads a phase of the table.
func (p *RunPhase) UnmarshalText(text []byte) error { return read(runPhases, p, text) }

// read takes the table's own string, so that the rows of many jobs share it.
func read[P ~string, R any](table map[P]phase[P, R], into *P, text []byte) error {
	for known := range table {
		if string(known) == string(text) {
			*into = known
			return nil
		}
	}
	return fmt.Errorf("phase %q is unknown; the row may come from a newer version", text)
}

// Phases lists the moves between the phases of jobs, guests and runs, a line each, for the page
// that explains them.
func Phases() []string {
	return slices.Concat(lines("job", jobPhases), lines("guest", guestPhases), lines("run", runPhases))
}

func lines[P ~string, R any](what string, table map[P]phase[P, R]) (out []string) {
	for _, to := range slices.Sorted(maps.Keys(table)) {
		from := make([]string, len(table[to].from))
		for i, one := range table[to].from {
			from[i] = cmp.Or(string(one), "(new)")
		}
		out = append(out, fmt.Sprintf("| %s | `%s` | %s |", what, to, strings.Join(from, ", ")))
	}
	return out
}
