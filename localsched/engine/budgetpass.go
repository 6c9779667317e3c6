package engine

import (
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// budgetPass is the working memory of one pass under a power budget.
//
// Invariant: candidates are started only while the sum of their power stays within slack, and of
// those that run past until within spare. TestBudgetHolds checks it.
type budgetPass struct {
	state      ClusterState // on which the base policy chooses
	profile    profile      // units free over time, without running jobs and reserved places
	chooser    power.Chooser
	candidates []candidate
	items      []power.Item
	chosen     []bool
	order      []int
	considered []int // engine's numbers of the candidates that the last pass chose from

	limit    int64            // the budget
	slack    int64            // limit − power of the running jobs
	reserved bool             // a place is reserved for a late job or the head
	until    protocol.Instant // start of the job that power is reserved for; jobs that end by then may use all of slack. [power.End]: no power is reserved
	spare    int64            // power that jobs which run past until may use together
}

// ensureBudgetPass returns the budget pass of the cluster state, which is allocated on first use.
func (f *ClusterState) ensureBudgetPass() *budgetPass {
	if f.supply.budgetPass == nil {
		f.supply.budgetPass = &budgetPass{profile: newProfile(f.machine)}
	}
	return f.supply.budgetPass
}

// begin starts a pass without reserved places or power.
func (t *budgetPass) begin(limit, taken int64) {
	t.limit, t.slack = limit, power.Unlimited
	if limit != power.Unlimited {
		t.slack = max(0, limit-taken)
	}
	t.reserved, t.until, t.spare = false, power.End, power.Unlimited
}

// consider keeps which jobs the pass chooses from, see [Core.Candidates].
func (t *budgetPass) consider() {
	for i := range t.candidates {
		t.considered = append(t.considered, t.candidates[i].job.slot)
	}
}

// project makes a profile of the running jobs and the advance reservations. A job past its estimate
// counts as ended now, so units of it that a reserved place needs are not given to others.
func (t *budgetPass) project(f *ClusterState) {
	p := &t.profile
	p.reset(f.now, f.free)
	list := f.running.list()
	for i := range list {
		p.release(max(list[i].End, f.now), lastInstant, list[i].Demand(), list[i].Place)
	}
	f.allocateReservations(p)
}

// powered is when enough power is free for a job, if the running jobs end by their estimates and no
// other job starts. Later changes of the budget are ignored.
func (t *budgetPass) powered(f *ClusterState, job *PendingJob) protocol.Instant {
	left := t.limit - f.supply.taken
	list := f.running.list()
	for i := range list {
		if left >= job.draw {
			return f.now
		}
		if left += list[i].draw; left >= job.draw {
			return max(list[i].End, f.now)
		}
	}
	return f.now
}

// reservePower reserves the power of a job that will start at an instant with a budget, unless power is
// reserved for another job: as in EASY, one job has a reservation.
//
//	spare = max(0, limit − power of the jobs that still run at that instant − power of the job)
func (t *budgetPass) reservePower(f *ClusterState, job *PendingJob, at protocol.Instant, limit int64) {
	if t.until != power.End {
		return
	}
	still := int64(0)
	list := f.running.list()
	for i := range list {
		if list[i].End > at {
			still += list[i].draw
		}
	}
	t.until, t.spare = at, max(0, limit-still-job.draw)
}

// outlasts reports whether a job that starts now runs past the instant for which power is reserved.
func (t *budgetPass) outlasts(now protocol.Instant, job *PendingJob) bool {
	return now.Add(job.Time) > t.until
}

// affords reports whether the power for a job is free now.
func (t *budgetPass) affords(now protocol.Instant, job *PendingJob) bool {
	return job.draw <= t.slack && (job.draw <= t.spare || !t.outlasts(now, job))
}

// consumePower subtracts the power of a started job.
func (t *budgetPass) consumePower(now protocol.Instant, job *PendingJob) {
	if t.slack != power.Unlimited {
		t.slack -= job.draw
	}
	if t.spare != power.Unlimited && t.outlasts(now, job) {
		t.spare -= job.draw
	}
}

// affordable chooses the candidates that use the most units within a number of units and the power. If
// that choice would use reserved power, candidates that outlast the reservation are chosen first,
// within spare, and then the others.
func (t *budgetPass) affordable(now protocol.Instant, units int) []bool {
	t.chosen = append(t.chosen[:0], t.best(units, t.slack, func(*PendingJob) bool { return true })...)
	_, long := t.sums(now)
	if long <= t.spare {
		return t.chosen
	}
	outlasting := func(w *PendingJob) bool { return t.outlasts(now, w) }
	t.chosen = append(t.chosen[:0], t.best(units, min(t.slack, t.spare), outlasting)...)
	used, long := t.sums(now)
	short := t.best(units-used, t.slack-long, func(w *PendingJob) bool { return !outlasting(w) })
	for i, chosen := range short {
		t.chosen[i] = t.chosen[i] || chosen
	}
	return t.chosen
}

// best chooses the candidates that use the most units, among the wanted ones.
func (t *budgetPass) best(units int, draw int64, wanted func(*PendingJob) bool) []bool {
	t.items = t.items[:0]
	for i := range t.candidates {
		item := power.Item{Units: t.candidates[i].job.Units, Draw: t.candidates[i].job.draw}
		if !wanted(&t.candidates[i].job) {
			item.Units = 0 // which is never chosen
		}
		t.items = append(t.items, item)
	}
	return t.chooser.Choose(t.items, units, draw)
}

// sums returns the units of the chosen candidates, and the power of those that outlast the reservation.
func (t *budgetPass) sums(now protocol.Instant) (units int, long int64) {
	for i, chosen := range t.chosen {
		if !chosen {
			continue
		}
		units += t.candidates[i].job.Units
		if t.outlasts(now, &t.candidates[i].job) {
			long += t.candidates[i].job.draw
		}
	}
	return units, long
}
