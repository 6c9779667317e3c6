package tables

import (
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Group is the co-allocation group of a member, and its rows; nil: the job starts on its own.
func (t *Tables) Group(j *Job) (*broker.Group, broker.Rows) {
	if j.App == nil || !j.Together() {
		return nil, broker.Rows{}
	}
	return j.App.groups[j.Component.Together], t.groupRows(j.App, j.Component.Together)
}

func (t *Tables) groupRows(a *Application, number int) broker.Rows {
	rows := broker.Rows{App: &a.Application}
	for _, id := range a.Jobs {
		if j := t.Jobs[id]; j.Together() && j.Component.Together == number && j.Phase != row.JobEnding {
			rows.Members = append(rows.Members, &j.Job)
		}
	}
	return rows
}

// KeyOf names the group of a job, if it has one.
func (t *Tables) KeyOf(id protocol.JobID) (broker.GroupKey, bool) {
	j := t.Jobs[id]
	if j == nil || !j.Together() {
		return broker.GroupKey{}, false
	}
	return broker.KeyOf(&j.Job), true
}

// Of are the jobs of rows.
func (t *Tables) Of(rows []*row.Job) []*Job {
	jobs := make([]*Job, len(rows))
	for i, one := range rows {
		jobs[i] = t.Jobs[one.Spec.Job]
	}
	return jobs
}

// Follow has a group enter the phase that its rows have come to.
func (t *Tables) Follow(a *Application, number int) error {
	return a.groups[number].Follow(t.groupRows(a, number))
}

// FollowAll does so for all groups of an application.
func (t *Tables) FollowAll(a *Application) error {
	for number := range a.groups {
		if err := t.Follow(a, number); err != nil {
			return err
		}
	}
	return nil
}

// SeeksRoom says whether reservations are sought for a group of this origin now.
func (t *Tables) SeeksRoom(key broker.GroupKey) bool {
	a := t.Applications[key.Application]
	return a != nil && len(t.groupRows(a, key.Number).Seeking()) > 0
}

// LearnedCrowd is how many members of a group a site takes at once, as it has shown; 0: nothing is
// known.
func (t *Tables) LearnedCrowd(key broker.GroupKey, site protocol.SiteName, now protocol.Instant) int {
	if a := t.Applications[key.Application]; a != nil {
		return a.Crowds.Max(key.Number, site, now)
	}
	return 0
}

// GroupEndReason says why the group of a job has ended; empty: it has not, or the job is on its own.
func (t *Tables) GroupEndReason(j *Job) string {
	if g, rows := t.Group(j); g != nil {
		return g.Ended(rows.App)
	}
	return ""
}

// MissesStart says whether a job that comes back has missed the start of its group.
func (t *Tables) MissesStart(j *Job, now protocol.Instant) bool {
	g, rows := t.Group(j)
	return g != nil && g.Misses(rows, &j.Job, now)
}

// EndsUnheard says whether a job whose site is unresponsive would end, were it requeued.
func (t *Tables) EndsUnheard(j *Job, now protocol.Instant) bool {
	g, rows := t.Group(j)
	return g != nil && g.EndsUnheard(rows, &j.Job, now)
}

// StartBy is the last instant at which a placement here may start; false: there is none.
func (t *Tables) StartBy(tag protocol.Tag) (by protocol.Instant, limited bool) {
	if j := t.Jobs[tag.Job]; j != nil {
		if g, rows := t.Group(j); g != nil && j.Tag() == tag {
			return broker.StartBy(&j.Job, rows.App)
		}
		return 0, false
	}
	if g := t.Guests[tag.Job]; g != nil && g.Tag() == tag {
		return broker.GuestStartBy(&g.Guest)
	}
	return 0, false
}

// Returning is a member of a job's group that is on its way back, to be placed again; nil: none is.
func (t *Tables) Returning(j *Job) *Job {
	_, rows := t.Group(j)
	for _, other := range t.Of(rows.Members) {
		if t.isReturning(other) {
			return other
		}
	}
	return nil
}

func (t *Tables) isReturning(j *Job) bool {
	r := t.Runs[j.Tag()]
	return !j.Cancelling && (j.Parted || j.Phase == row.JobRecalling || (j.Phase == row.JobCommittedLocal && r != nil && r.Withdraw))
}

// HeldMember is a member of a job's group that is in the grid queue and held; nil: none is.
func (t *Tables) HeldMember(j *Job) *Job {
	_, rows := t.Group(j)
	for _, other := range t.Of(rows.Members) {
		if t.queue.IsHeld(other.Spec.Job) {
			return other
		}
	}
	return nil
}

// WithoutBound are the decisions of a policy that need not look at limits and groups, without those for
// jobs that have such.
func (t *Tables) WithoutBound(in *policy.Snapshot, decisions []policy.Decision) []policy.Decision {
	for i, d := range decisions {
		if j := t.Jobs[in.Jobs[d.Job].ID]; j != nil && broker.Bound(&j.Job, j.ApplicationRow()) {
			decisions[i].Site = policy.NoSite
		}
	}
	return decisions
}
