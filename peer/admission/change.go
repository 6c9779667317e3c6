package admission

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RefuseChanged says why a job of this site that has not started cannot be as its row would have it, by what a submission of such a
// job would be refused for.
func (d *Desk) RefuseChanged(next row.Job, runs *protocol.Payload) (view.Refusal, bool) {
	next.Unplace()
	one := protocol.Job{Spec: next.Spec, Payload: runs, Conditions: next.Wants()}
	one.Conditions.Hold, one.Conditions.Dependency = "", nil // what its origin knows of these is no user's to submit
	if next.Component != nil {
		one.Component = *next.Component
	}
	if readsFile(&one) && !slices.Equal(next.Spec.Sites, d.sites(&one)) {
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf(
			"the job's standard input is a file of %s, so that it can run only there", d.Site.Name)}, true
	}
	return d.refuseJob(&one)
}

// RefuseRaise says what of a change of a job only an administrator may do: users may lower time limits and priorities, as in Slurm.
// The job has the priority now.
func RefuseRaise(j *row.Job, c *protocol.Change, priority int64) (view.Refusal, bool) {
	deny := func(format string, args ...any) (view.Refusal, bool) {
		return view.Refusal{Code: view.Denied, Reason: fmt.Sprintf("job %v: ", j.Spec.Job) + fmt.Sprintf(format, args...)}, true
	}
	switch fixed := j.Wants().Priority; {
	case c.WallTime != nil && *c.WallTime > j.Spec.WallTime:
		return deny("only root and administrators of the site raise a time limit, which is %s", j.Spec.WallTime.Text())
	case c.Nice != nil && *c.Nice < j.Spec.Nice:
		return deny("only root and administrators of the site lower a nice value, which is %d", j.Spec.Nice)
	case c.Priority != nil && (*c.Priority > priority || *c.Priority == 0 && fixed != 0):
		return deny("only root and administrators of the site raise a priority, which is %d", priority)
	}
	return view.Refusal{}, false
}

// TakeFavors takes from jobs that are submitted what only an administrator may give them, and says so: as Slurm, which has scripts that
// ask for it run all the same.
func TakeFavors(admin bool, jobs []protocol.Job) (notices []string) {
	if admin {
		return nil
	}
	say := func(notice string) {
		if !slices.Contains(notices, notice) {
			notices = append(notices, notice)
		}
	}
	for i := range jobs {
		if nice := &jobs[i].Spec.Nice; *nice < 0 {
			say(fmt.Sprintf("--nice=%d has no effect: only root and administrators of the site favor jobs", *nice))
			*nice = 0
		}
		if priority := &jobs[i].Conditions.Priority; *priority != 0 {
			say(fmt.Sprintf("--priority=%d has no effect: only root and administrators of the site give jobs their priorities", *priority))
			*priority = 0
		}
	}
	return notices
}
