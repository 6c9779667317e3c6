package engine

import (
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// budgetPass is where a budgeted pass is worked out.
type budgetPass struct {
	state      ClusterState // on which the base policy chooses
	profile    profile      // what is free ahead beside the places that are kept
	chooser    power.Chooser
	candidates []candidate
	items      []power.Item
	chosen     []bool
	order      []int

	limit    int64            // the budget
	slack    int64            // what is left of it now
	reserved bool             // a place is kept
	until    protocol.Instant // jobs that are over by then may draw all of the slack; [power.End]: no power is kept
	spare    int64            // those that are not may draw so much of it together
}

// ensureBudgetPass is the floor's trial, made when it is first needed.
func (f *ClusterState) ensureBudgetPass() *budgetPass {
	if f.supply.budgetPass == nil {
		f.supply.budgetPass = &budgetPass{profile: newProfile(f.machine)}
	}
	return f.supply.budgetPass
}

// begin begins a pass in which nothing is kept yet.
func (t *budgetPass) begin(limit, taken int64) {
	t.limit, t.slack = limit, power.Unlimited
	if limit != power.Unlimited {
		t.slack = max(0, limit-taken)
	}
	t.reserved, t.until, t.spare = false, power.End, power.Unlimited
}

// project makes the profile that of the running jobs and of what is held. One past its estimate may end
// at any moment: nothing that a job which is kept a place needs of it is lent meanwhile.
func (t *budgetPass) project(f *ClusterState) {
	p := &t.profile
	p.reset(f.now, f.free)
	list := f.running.list()
	for i := range list {
		p.release(max(list[i].End, f.now), lastInstant, list[i].Units, list[i].Place)
	}
	f.allocateReservations(p)
}

// powered is when a job has the power, if the running jobs end as estimated and nothing else
// starts. A budget that changes meanwhile is not looked at.
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

// reservePower keeps the power of a job that will start at a time with a budget, unless some is
// kept already: as with EASY one job has it.
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

// outlasts says whether a job that starts now would draw at a time for which power is kept.
func (t *budgetPass) outlasts(now protocol.Instant, job *PendingJob) bool {
	return now.Add(job.Time) > t.until
}

// affords says whether there is the power for a job now.
func (t *budgetPass) affords(now protocol.Instant, job *PendingJob) bool {
	return job.draw <= t.slack && (job.draw <= t.spare || !t.outlasts(now, job))
}

// consumePower takes away what a job draws that has started.
func (t *budgetPass) consumePower(now protocol.Instant, job *PendingJob) {
	if t.slack != power.Unlimited {
		t.slack -= job.draw
	}
	if t.spare != power.Unlimited && t.outlasts(now, job) {
		t.spare -= job.draw
	}
}

// affordable are the picks of most units within so many units and the power: of all, or,
// when those that outlast the time for which power is kept would take of it, of these first
// and then of the others.
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

// best are the picks of most units among those that are wanted.
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

// sums are the units of the chosen picks, and the draw of those of them that outlast the time
// for which power is kept.
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
