package row

import (
	"errors"
	"fmt"
)

// What can be wrong with a row by itself, whatever brought it about, is a fault of the peer, or of
// whoever changed the row. Each condition is an invariant of a phase.

// Check says what is wrong with a job of this origin, if anything.
func (j *Job) Check() error { //nolint:cyclop // one case for each invariant
	var wrong string
	switch placed := j.Phase != JobInGridQueue && j.Phase != JobEnding; {
	case j.State.Terminal() || j.State == 0:
		wrong = fmt.Sprintf("its state is %v, with which a job leaves the rows", j.State)
	case placed && j.Site == "":
		wrong = "it has no site"
	case placed && j.Epoch == 0:
		wrong = "it has no epoch"
	case j.ReservedAt != 0 && j.ReserveFrom == 0:
		wrong = "it has a reservation that was not requested"
	case j.Phase == JobReserving && j.ReserveFrom == 0:
		wrong = "it has no instant to hold room from"
	case (j.Phase == JobGranted || j.Phase == JobCommittedLocal) && j.CommittedAt == 0:
		wrong = "it has no time of its placement"
	case j.Phase == JobStagingOut && j.Outcome == nil:
		wrong = "it has no outcome"
	case j.Phase == JobInGridQueue:
		wrong = j.checkQueued()
	case j.Phase == JobEnding && !j.Cancelling:
		wrong = "no user has cancelled it"
	}
	if wrong == "" {
		return nil
	}
	return errors.New(j.name() + " in phase " + string(j.Phase) + ": " + wrong)
}

// checkQueued looks at one that is placed nowhere: nothing of a placement before is left.
func (j *Job) checkQueued() string {
	switch {
	case j.Site != "" || j.CommittedAt != 0 || j.Started != 0:
		return fmt.Sprintf("it has a site (%q), a time of its placement or a start", j.Site)
	case j.ReserveFrom != 0 || j.Parted:
		return "it is placed nowhere, and its group is said to be"
	case j.Prediction != nil || j.Quoted != nil || j.Tariff != nil:
		return "it is placed nowhere, and a price or a prediction stands"
	case j.Outcome != nil:
		return "it has an outcome"
	}
	return ""
}

// Check says what is wrong with a guest or its tombstone, if anything.
func (g *Guest) Check() error {
	var wrong string
	switch {
	case g.Origin == "" || g.Epoch == 0:
		wrong = "it has no origin or no epoch"
	case g.ReturnUnacked && g.Phase != GuestAborted:
		wrong = "it is to be given back"
	case g.ReservedAt != 0 && g.ReserveFrom == 0:
		wrong = "it has a reservation that its origin did not request"
	}
	if wrong == "" {
		return nil
	}
	return errors.New(g.name() + " in phase " + string(g.Phase) + ": " + wrong)
}

// Check says what is wrong with a placement in the local queue, if anything.
func (r *Run) Check() error {
	var wrong string
	switch {
	case r.Acked > r.Seq:
		wrong = fmt.Sprintf("status %d is acknowledged, and %d is the last", r.Acked, r.Seq)
	case (r.Outcome != nil) != (r.Phase == RunEnded):
		wrong = "an outcome belongs to an end, and an end has one"
	case r.Cancelled != "" && !r.Kill:
		wrong = "it is cancelled here, and is not to be killed"
	case r.Kill && !r.Withdraw:
		wrong = "it is to be killed, and not withdrawn"
	case (r.Phase == RunSubmitting || r.Phase == RunQueued) && r.Started != 0:
		wrong = "it has a start"
	}
	if wrong == "" {
		return nil
	}
	return errors.New(r.name() + " in phase " + string(r.Phase) + ": " + wrong)
}
