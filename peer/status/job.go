package status

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// View is the job as it stands, but for what it costs and draws, its objectives, and its reason.
func (j *Job) View(origin protocol.SiteName) view.Job {
	v := view.Described(j.Spec)
	v.State, v.Origin, v.Site, v.Epoch = j.State, origin, PlacedAt(j.Job), j.Epoch
	v.CommittedAt, v.Started, v.Ended, v.QuotedAWT = j.CommittedAt, j.Started, j.Ended, j.QuotedAWT
	v.TimeLimit, v.CancelledBy = j.TimeLimit, j.CancelledBy
	v.WorkDir, v.Stdout, v.Stderr, v.Mail = j.WorkDir, j.Stdout, j.Stderr, j.Mail
	v.Conditions, v.Change = j.Wants(), j.Change
	if j.Started != 0 {
		v.Conditions.Hold = ""
	}
	if j.Element.Array != 0 {
		v.Element = &j.Element
	}
	if j.Run != nil {
		v.Local = j.Run.Local
	}
	v.Application, v.ReservedAt, v.Together = j.Job.Application, j.ReservedAt, j.start()
	if j.Component != nil {
		v.Component = j.ComponentName()
	}
	if j.Prediction != nil {
		v.Cost, v.PredictedRunTime = j.Prediction.Cost, j.Prediction.Run
	}
	v.Waits, v.Moves, v.MovedAt = j.Waits, j.Moves, j.MovedAt
	v.Quoted, v.LocalQuoted, v.ClockOffset = j.Quoted, j.Home, j.Offset
	return v
}

// start is what holds of the start of a job of this site; nil: it starts on its own.
func (j *Job) start() *view.Start {
	if j.Application == nil || !j.Together() {
		return nil
	}
	return &view.Start{Tolerance: j.Application.Tolerance(), Missed: cmp.Or(j.Application.StartMissed, protocol.RetryMissed)}
}

// PlacedAt is where a job is placed; while a site has only been asked for room, nowhere.
func PlacedAt(j *row.Job) protocol.SiteName {
	if j.Phase == row.JobOffered || j.Phase == row.JobReserving {
		return ""
	}
	return j.Site
}

// TraitsOf are what a filter of the queue looks at in a job of this site.
func TraitsOf(j *row.Job) *view.Traits {
	return &view.Traits{
		ID: j.Spec.Job, User: j.Spec.User, Name: j.Spec.Name, Site: PlacedAt(j), State: j.State, Application: j.Application,
		Array: j.Element.Array,
	}
}

// ShowOutcome shows a job, whose view is v, as one that has ended.
func ShowOutcome(v *view.Job, j *row.Job) {
	v.State, v.Reason, v.Ended, v.Undelivered = j.State, j.Reason, j.Ended, j.Undelivered
	if j.Outcome != nil {
		v.ExitCode, v.Signal, v.Usage, v.Ran = j.Outcome.ExitCode, j.Outcome.Signal, j.Outcome.Usage, j.Outcome.Ran
	}
}

// Guest is a job of a partner as it stands at this site, but for what it costs and draws. Its run
// is nil while it is not committed.
func Guest(g *row.Guest, r *row.Run, here protocol.SiteName) view.Job {
	v := view.Described(g.Spec)
	v.Guest, v.Origin, v.Site, v.Epoch, v.RunsAs = true, g.Origin, here, g.Epoch, g.Account
	v.State, v.Reason, v.CommittedAt, v.Together = protocol.Pending, view.ReasonHandOff, g.Since, guestStart(g)
	if r == nil {
		return v
	}
	v.Reason, v.Started, v.Local = cmp.Or(r.OperatorReason, r.Reason), r.Started, r.Local
	v.TimeLimit = r.TimeLimit
	if v.ReservedAt = g.ReservedAt; g.ReservedAt != 0 && v.Reason == "" && r.Phase != row.RunRunning {
		v.Reason = startsTogether(g.ReservedAt)
	}
	switch r.Phase {
	case row.RunRunning:
		v.State = protocol.Running
	case row.RunEnded:
		v.State, v.Reason = r.Outcome.State, cmp.Or(r.Outcome.Reason, "waiting until "+string(g.Origin)+" has received its result")
		v.ExitCode, v.Signal, v.Usage, v.Ran = r.Outcome.ExitCode, r.Outcome.Signal, r.Outcome.Usage, r.Outcome.Ran
		v.Ended = r.Over()
	case row.RunSubmitting, row.RunQueued:
	}
	return v
}

// guestStart is what holds of the start of a guest; nil: it starts on its own.
func guestStart(g *row.Guest) *view.Start {
	if g.ReserveFrom == 0 && g.ReservedAt == 0 {
		return nil
	}
	return &view.Start{Tolerance: g.StartTolerance()}
}

// Shown says whether people see the guest: it has room here, or has been accepted.
func Shown(g *row.Guest) bool { return g.Phase == row.GuestAccepted || g.Phase == row.GuestPrepared }
