package lineup

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Lineup is the jobs of a grid queue before a round.
type Lineup struct {
	Rows     *tables.Tables
	Queue    *gridqueue.Queue
	Partners *partner.Set
	Here     eligible.Site
	Policy   *policy.Description
	Admits   func() *admission.Desk // asked only if that matters
	Now      protocol.Instant
}

// Kept is a job that was taken from the queue for a round and must not have one.
type Kept struct {
	Job    *tables.Job
	Ends   string // why it ends; empty: it waits
	Reason string // why it waits
	Detail string

	Limited bool // it was not taken, since a limit of its user or account is reached now, and waits in its place
}

// Rows counts the shapes in which sites are asked about a job: one, unless the policy chooses.
func Rows(p *policy.Description, j *tables.Job) int {
	if p.DecidesApplications() {
		return max(1, len(j.Shapes()))
	}
	return 1
}

// Fill are the rows of the next round, of jobs that were taken and those that have to be in it with them,
// each in all its shapes. What no message holds goes back into the queue. The components of an
// application are not parted.
func (l Lineup) Fill(ids []protocol.JobID) (specs []protocol.Spec, kept []Kept) {
	ids, kept = l.placeable(l.withSiblings(ids))
	request := quoting.Request{}
	specs, left := rounds.Pack(ids, l.sameApplication,
		func(id protocol.JobID) []protocol.Spec {
			j := l.Rows.Jobs[id]
			return l.withinLimits(j.InShapes(Rows(l.Policy, j)))
		},
		func(rows []protocol.Spec) bool { return request.Fits(rows, l.Policy.DecidesApplications()) })
	for _, id := range left {
		l.Queue.Put(id)
	}
	return specs, kept
}

// withinLimits are the shapes of a job that the limits of its user and account let be placed now, and the first one.
func (l Lineup) withinLimits(shapes []protocol.Spec) []protocol.Spec {
	others := slices.DeleteFunc(shapes[1:], func(spec protocol.Spec) bool {
		reason, _ := l.Rows.Fair.LimitReason(&spec)
		return reason != ""
	})
	return shapes[:1+len(others)]
}

// All are all jobs of the queue that may be placed, for a policy that keeps every job at its origin.
func (l Lineup) All() (ids []protocol.JobID, kept []Kept) {
	ids, kept = l.next(l.Queue.Len())
	ids, more := l.placeable(ids)
	return ids, append(kept, more...)
}

// next takes up to n jobs from the queue, in their order. Those that are next and have to wait because of a limit of their user
// or account are put by.
func (l Lineup) next(n int) ([]protocol.JobID, []Kept) {
	ids, limited := l.Rows.Fair.Take(l.Queue, n, l.Now, l.Rows.JobRow)
	kept := make([]Kept, 0, len(limited))
	for _, one := range limited {
		kept = append(kept, Kept{Job: l.Rows.Jobs[one.Job], Reason: one.Reason, Detail: one.Detail, Limited: !one.Never})
	}
	return ids, kept
}

// Take takes up to n jobs from the queue, by the priority of their users and accounts, or oldest first. A job that has had a round and waits for a site gets no other
// while nothing has changed, not even after a restart.
func (l Lineup) Take(n int) (ids []protocol.JobID, kept []Kept) {
	for {
		ids, limited := l.next(n)
		ids, more := l.placeable(ids)
		kept = append(append(kept, limited...), more...)
		ids = slices.DeleteFunc(ids, l.blockAgain)
		if n == 0 || len(ids) > 0 || !l.Queue.Ready() {
			return ids, kept
		}
	}
}

// placeable are the jobs that the active policy may place. Those whose users want what it does not look
// at wait for one that does, or for their users; members of groups wait for those that are held or on their way
// back, or would be placed without them.
func (l Lineup) placeable(ids []protocol.JobID) (may []protocol.JobID, kept []Kept) {
	may = slices.DeleteFunc(ids, func(id protocol.JobID) bool {
		one, keeps := l.keeps(l.Rows.Jobs[id])
		if keeps {
			kept = append(kept, one)
		}
		return keeps
	})
	return may, kept
}

func (l Lineup) keeps(j *tables.Job) (Kept, bool) {
	if !l.Policy.DecidesApplications() {
		if !broker.Bound(&j.Job, j.ApplicationRow()) {
			return Kept{}, false
		}
		return Kept{Job: j, Reason: view.ReasonPolicyUnsupported, Detail: fmt.Sprintf(
			"the policy %s looks at no limits or groups: have the site take one that does, or cancel and submit without them", l.Policy.Name,
		)}, true
	}
	if why := l.Rows.GroupEndReason(j); why != "" { // its group ended while the store was in doubt
		return Kept{Job: j, Ends: why}, true
	}
	if other := l.Rows.Returning(j); other != nil {
		return Kept{Job: j, Reason: view.ReasonGroup, Detail: fmt.Sprintf("job %v of its group is on its way back", other.Spec.Job)}, true
	}
	if other := l.Rows.HeldMember(j); other != nil {
		return Kept{Job: j, Reason: view.ReasonGroup, Detail: fmt.Sprintf("job %v of its group is held", other.Spec.Job)}, true
	}
	return Kept{}, false
}

// withSiblings adds to jobs that were taken the other components of their applications that have no
// place.
func (l Lineup) withSiblings(ids []protocol.JobID) []protocol.JobID {
	if !l.Policy.DecidesApplications() {
		return ids
	}
	var last *tables.Application // ids of one are neighbors
	for _, id := range ids {
		a := l.Rows.Jobs[id].App
		if a == nil || a == last {
			continue
		}
		last = a
		for _, sibling := range a.Jobs {
			if l.Queue.TakeAlso(sibling) {
				ids = append(ids, sibling)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// sameApplication says whether two jobs have to be in one round.
func (l Lineup) sameApplication(a, b protocol.JobID) bool {
	of := l.Rows.Jobs[a].App
	return of != nil && of == l.Rows.Jobs[b].App && l.Policy.DecidesApplications()
}

// AwaitsSite says whether no site that may be asked now could run the job in any of its shapes.
func (l Lineup) AwaitsSite(j *tables.Job) bool {
	if l.Policy.LocalOnly() || l.couldRunHere(j) {
		return false
	}
	return !slices.ContainsFunc(l.Partners.All(), func(one *partner.Partner) bool { return one.Usable() && l.couldRunAt(j, one) })
}

func (l Lineup) couldRunHere(j *tables.Job) bool {
	return j.AnyShape(Rows(l.Policy, j), func(spec *protocol.Spec) bool { return l.Here.Judge(spec, j.Together()) == eligible.Eligible })
}

// couldRunAt goes by the partner's card, which must be known.
func (l Lineup) couldRunAt(j *tables.Job, one *partner.Partner) bool {
	return j.AnyShape(Rows(l.Policy, j), func(spec *protocol.Spec) bool { return one.Eligible(spec, j.Together()) })
}

// blockAgain blocks a job without a round if an earlier one has said why it waits.
func (l Lineup) blockAgain(id protocol.JobID) bool {
	j := l.Rows.Jobs[id]
	if j.Reason != view.ReasonNoEligibleSite && j.Reason != view.ReasonAllDeclined || !l.AwaitsSite(j) {
		return false
	}
	if j.NoEligibleSite = l.Admits().Unknown(&j.Job); j.Reason == view.ReasonNoEligibleSite && !j.NoEligibleSite {
		return false // by now all sites are known, and the round will say so
	}
	l.Queue.Block(id)
	return true
}

// Unblock lets jobs have rounds again when a partner can be asked that could not be in the last step, or
// its card is known now.
func (l Lineup) Unblock() {
	for _, one := range l.Partners.All() {
		if !one.Notice() {
			continue
		}
		l.Queue.Unblock(func(id protocol.JobID) bool {
			j := l.Rows.Jobs[id]
			return one.Usable() && l.couldRunAt(j, one) || j.NoEligibleSite && !l.Admits().Unknown(&j.Job)
		})
	}
}

// Room is what a site of a round has for a group; false: its machine is not known. Limited says that this
// site takes a limited number of jobs in a period.
func (l Lineup) Room(r *rounds.Round, in *policy.Snapshot, group broker.GroupKey, site int, limited bool, now protocol.Instant) (broker.Room, bool) {
	row := &in.Sites[site]
	room := broker.Room{
		Site: eligible.Site{Name: row.Name}, MaxJobs: &row.MaxJobs, Learned: l.Rows.LearnedCrowd(group, row.Name, now),
	}
	if one := l.Partners.Of(row.Name); one != nil && one.Card != nil {
		room.Capacity = &one.Card.Capacity
	} else if row.Name == l.Here.Name {
		room.Capacity = l.Here.Capacity
	}
	if site == in.Self && !limited {
		room.MaxJobs = nil
	}
	for _, a := range r.Asks {
		if a.Partner.Site == row.Name && a.Reply != nil {
			room.MaxCPUs = a.Reply.MaxCPUs
		}
	}
	return room, room.Capacity != nil
}
