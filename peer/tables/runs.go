package tables

import (
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
)

// HasCopiedRun says whether a run that is restored with a copy of the local queue has not ended.
func (t *Tables) HasCopiedRun() bool {
	for _, r := range t.Runs {
		if r.Copied && r.Phase != row.RunEnded {
			return true
		}
	}
	return false
}

// Confirm notes that the local scheduler has a run of restored rows.
func (t *Tables) Confirm(r *localrun.Run) {
	if !r.Restored {
		return
	}
	r.Restored, r.Copied = false, false
	t.SaveRun(r.Tag)
	if g := t.Guests[r.Tag.Job]; g != nil && g.OwnershipGuessed && g.Tag() == r.Tag {
		g.OwnershipGuessed = false
		t.SaveGuest(r.Tag.Job)
	}
	if j := t.Jobs[r.Tag.Job]; j != nil && j.Tag() == r.Tag {
		j.Restored = false
		t.SaveJob(r.Tag.Job)
	}
}

// ReturnRun states why this site does not start a run and gives it back, also where it is shown.
func (t *Tables) ReturnRun(r *localrun.Run, why string) {
	if r.Return(why) {
		t.SaveRun(r.Tag)
	}
	t.ExplainRun(r, why)
}

// ExplainRun states why a run is where it is, also for the job of this origin that it is of.
func (t *Tables) ExplainRun(r *localrun.Run, reason string) {
	if !r.Explain(reason) {
		return
	}
	t.SaveRun(r.Tag)
	if j := t.Jobs[r.Tag.Job]; j != nil {
		j.Reason = r.Reason
		t.SaveJob(r.Tag.Job)
	}
}
