package broker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RanWithout says whether a member, and so not one that has yet to start, has run to its end.
func (g *Group) RanWithout(app *row.Application) bool { return slices.Contains(app.Ran, g.Key.Number) }

// RanToEnd notes that a member has run to its end, after which the group can never start as a whole
// again: it is over if others have not started with it. It says whether the row of the application
// has changed, and why the group ends by it; empty: it does not.
func (g *Group) RanToEnd(rows Rows, j *row.Job) (changed bool, ends string) {
	if j.Started == 0 || g.RanWithout(rows.App) {
		return false, ""
	}
	rows.App.Ran = append(slices.Clone(rows.App.Ran), g.Key.Number)
	if slices.ContainsFunc(rows.Others(j), func(other *row.Job) bool {
		return other.Parted || other.Phase == row.JobInGridQueue
	}) {
		ends = fmt.Sprintf("its group did not start together, and job %v has run to its end", j.Spec.Job)
	}
	return true, ends
}

// MissedStart begins the reason of a member that has missed its start.
const MissedStart = "it has missed the start of its group: "

// Misses says whether a member that comes back has not started with its group, and others have,
// or might have. That its user or its group recalls it is no miss.
func (g *Group) Misses(rows Rows, j *row.Job, now protocol.Instant) bool {
	placed := j.Phase == row.JobGranted || j.Phase == row.JobHandedOff || j.Phase == row.JobRecalling || j.Phase == row.JobCommittedLocal
	if j.ReservedAt == 0 || !placed || j.Started != 0 || j.Cancelling || j.Restored || j.Parted {
		return false
	}
	return strings.HasPrefix(j.Reason, MissedStart) || now > j.ReservedAt.Add(rows.App.Tolerance()) || g.RanWithout(rows.App) ||
		slices.ContainsFunc(rows.Members, runsInGroup)
}

// runsInGroup says whether a member is known to run.
func runsInGroup(j *row.Job) bool {
	return j.ReservedAt != 0 && j.State == protocol.Running && j.Phase != row.JobStagingOut
}

// EndOfMissed says why the group ends of which a member has missed its start; empty: it is placed
// again.
func (g *Group) EndOfMissed(rows Rows, j *row.Job) string {
	others := rows.Others(j)
	once := slices.IndexFunc(others, func(other *row.Job) bool { return runsInGroup(other) && !other.Spec.Requeue })
	switch {
	case rows.App.StartMissed == protocol.FailMissed:
		return "which its user wants to end then"
	case len(others) == 0:
		return "which has ended without it"
	case g.RanWithout(rows.App):
		return "of which a component has run to its end without it"
	case once >= 0:
		return fmt.Sprintf("and job %v, which did, may not start twice; submitted with --requeue the group would be placed again", others[once].Spec.Job)
	}
	return ""
}

// EndsUnheard says whether a member whose site is silent would end, were it taken back. It may still
// start there: so it is waited for.
func (g *Group) EndsUnheard(rows Rows, j *row.Job, now protocol.Instant) bool {
	return g.Ended(rows.App) != "" || (g.Misses(rows, j, now) && g.EndOfMissed(rows, j) != "")
}

// maxReruns bounds how often a job with --requeue is run again, so that it cannot go round for ever.
const maxReruns = 10

// After is what follows from the end of a run.
type After struct {
	Again string // why the job is placed again; empty: it is not
	Ends  string // why its group ends with it; empty: it does not
	Ran   bool   // it has run to its end
}

// AfterRun says what follows from the end of a run of a job whose group has ended for a reason; empty:
// it has not, or the job starts on its own. One that its group has ended may not be placed again if it
// runs once only: then the group ends.
func AfterRun(j *row.Job, outcome *protocol.Outcome, ended string) After {
	twice := j.Spec.Requeue && !j.Cancelling && j.Reruns < maxReruns
	parted := j.Parted && outcome.State == protocol.Cancelled
	switch {
	case outcome.State == protocol.NodeFail && twice && ended == "":
		return After{Again: "its node failed: " + outcome.Reason}
	case j.Cancelling:
		return After{}
	case !parted:
		return After{Ran: true}
	case ended == "" && twice:
		return After{Again: "its group did not start together"}
	case ended == "":
		return After{Ends: fmt.Sprintf(
			"its group did not start together, and job %v, which had started, may not start twice or so often; submitted with --requeue it would be placed again",
			j.Spec.Job)}
	}
	return After{}
}

// StartBy is the last instant at which a member may start; false: it has no reservation, and there is none.
func StartBy(j *row.Job, app *row.Application) (by protocol.Instant, limited bool) {
	if j.ReservedAt == 0 {
		return 0, false
	}
	return j.ReservedAt.Add(app.Tolerance()), true
}

// GuestStartBy is the last instant at which a guest may start; false: it has no reservation, and there is
// none.
func GuestStartBy(g *row.Guest) (by protocol.Instant, limited bool) {
	if g.ReservedAt == 0 {
		return 0, false
	}
	return g.ReservedAt.Add(g.StartTolerance()), true
}
