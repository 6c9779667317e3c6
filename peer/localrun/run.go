// Package localrun has the placements of jobs in the own local queue: what is known of one beside
// its row, which call brings it further, and how it ends; and how far the local queue is watched.
//
// A run is of a job of this origin or of a guest. Both follow the same path: its row says that it
// is submitted before the local scheduler is called; after an unclear answer or a restart the
// local scheduler is asked whether it has the job; only a job that is reliably absent is
// submitted again.
package localrun

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Run is a placement in the own local queue.
type Run struct {
	row.Run
	Instance step.Instance    // once a guest is forgotten, its tag may come again and have another run
	Request  protocol.Request // what the local scheduler is asked for
	Calling  bool             // a call about it is under way
	Waits    bool             // to be submitted as soon as anything may start
	Fetching bool             // its files are being fetched from its origin, or unpacked
	Supplied bool             // they are here
	Tries    int              // of calls that did not settle it
	Reports  int              // of what the origin has not acknowledged
	Draws    bool             // it counts in what the site draws
	Power    int64            // milliwatts, while it does

	PlannedStart view.PlannedStart // that the local scheduler stated last; zero: it has not been asked
}

// Enter has the run enter a phase. What is repeated in it is repeated from the beginning.
func (r *Run) Enter(to row.RunPhase) error {
	r.Tries = 0
	return r.Move(to)
}

// BeginWithdrawal has the run leave the local queue; with kill also if it has started. It is false
// if that was wanted already.
func (r *Run) BeginWithdrawal(kill bool) bool {
	if r.Withdraw && (!kill || r.Kill) {
		return false
	}
	r.Withdraw, r.Kill, r.Tries = true, r.Kill || kill, 0
	return true
}

// Cancel wants a guest ended here, as cancelled for a reason. It is false if that was wanted already.
func (r *Run) Cancel(why string) bool {
	if r.Cancelled != "" {
		return false
	}
	r.BeginWithdrawal(true)
	r.Cancelled = view.Clip(why)
	return true
}

// Next is the call that brings a run further that is withdrawn, nil if there is nothing to call
// for: it is not withdrawn, another call is under way, or, after one that did not settle it,
// the pause is not over.
func (r *Run) Next(pause bool) event.Op {
	if !r.Withdraw || r.Calling {
		return nil
	}
	switch r.Phase {
	case row.RunSubmitting:
		if !pause {
			return event.LookupOp{Tag: r.Tag}
		}
	case row.RunQueued:
		if !pause || r.Tries == 0 {
			return event.WithdrawOp{Tag: r.Tag}
		}
	case row.RunRunning:
		if r.Kill && (!pause || r.Tries == 0) {
			return event.KillOp{Tag: r.Tag}
		}
	case row.RunEnded:
	}
	return nil
}

// Return says why the run is given back. It is false if that was said already.
func (r *Run) Return(why string) bool {
	why = view.Clip(why)
	changed := r.Returned != why
	r.Returned = why
	return changed
}

// Explain says why the run is where it is. It is false if that was said already.
func (r *Run) Explain(reason string) bool {
	reason = view.Clip(reason)
	changed := r.Reason != reason
	r.Reason = reason
	return changed
}

// Stick leaves the run to an operator. It is false if it was for the same reason.
func (r *Run) Stick(why string) bool {
	changed := r.OperatorReason != why
	r.OperatorReason = why
	return changed
}

// HasStarted says whether it runs, and since when is known.
func (r *Run) HasStarted() bool { return r.Phase == row.RunRunning && r.Started != 0 }

// News counts one more status for the origin, to be sent at once.
func (r *Run) News(reason string) {
	r.Seq++
	r.Reason = view.Clip(reason)
	r.Reports = 0
}

// Acknowledge takes the origin's word that it has a status. It is false for one that was never
// sent, or is acknowledged already.
func (r *Run) Acknowledge(seq uint32) bool {
	if seq <= r.Acked || seq > r.Seq {
		return false
	}
	r.Acked, r.Reports = seq, 0
	return true
}

// Report is what the origin of a guest has not acknowledged; nil: nothing.
func (r *Run) Report(now protocol.Instant) protocol.Message {
	switch {
	case r.Phase == row.RunEnded:
		return protocol.Result{Tag: r.Tag, Outcome: *r.Outcome, Started: r.Started, Ended: r.Over(), At: now}
	case r.Acked < r.Seq:
		return r.Status(now)
	}
	return nil
}

// Status is what the run does now, for its origin.
func (r *Run) Status(now protocol.Instant) protocol.Status {
	s := protocol.Status{Tag: r.Tag, Seq: r.Seq, State: protocol.Pending, Reason: cmp.Or(r.Returned, r.Reason), Waited: max(0, now.Sub(r.Since)), At: now}
	if r.HasStarted() {
		s.State, s.Reason = protocol.Running, r.Reason
		s.Waited = max(0, r.Started.Sub(r.Since))
		s.Ran, s.TimeLimit = max(0, now.Sub(r.Started)), r.TimeLimit
	}
	return s
}

// OutcomeOf is what became of the run, by the local scheduler's word of its end, and since when it
// ran; 0: it never did. What that costs is not in it.
func (r *Run) OutcomeOf(c localsched.Change) (outcome protocol.Outcome, started protocol.Instant) {
	outcome, started = c.Outcome, cmp.Or(c.Started, r.Started)
	outcome.State, outcome.Reason = c.State, view.Clip(cmp.Or(outcome.Reason, c.Reason))
	if outcome.State == protocol.Cancelled {
		outcome.Reason = cmp.Or(r.Cancelled, outcome.Reason)
	}
	if started != 0 {
		outcome.Waited = max(0, started.Sub(r.Since))
	}
	return outcome, started
}

// End ends the run with an outcome that the local scheduler has just reported.
func (r *Run) End(outcome *protocol.Outcome, started, now protocol.Instant) error {
	err := r.Enter(row.RunEnded)
	r.Started, r.Ended, r.Outcome = started, now, outcome
	if started != 0 {
		r.Ended = min(now, started.Add(outcome.Ran))
	}
	return err
}
