package engine

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// budgeted is a base policy within a budget.
type budgeted struct {
	Budget

	base Policy
}

// candidate is a job that a pass may start, and where.
type candidate struct {
	job   PendingJob
	place Place
}

// Rank implements [Policy].
func (b *budgeted) Rank(w PendingJob) int64 { return b.base.Rank(w) }

// PlanMode implements [Policy]. A newcomer may take power that others wait for.
func (*budgeted) PlanMode() PlanMode { return PlanSimulate }

// Pass implements [Policy].
func (b *budgeted) Pass(f *ClusterState) BackfillWindow {
	s := &f.supply
	s.change = 0
	if s.budgetPass != nil {
		s.budgetPass.considered = s.budgetPass.considered[:0]
	}
	limit, until := b.Signal.At(f.now)
	late := b.late(f)
	if limit == power.Unlimited && len(late) == 0 {
		b.base.Pass(f)
	} else {
		b.choose(f, limit, late)
	}
	if f.pending.length > 0 {
		s.change = until
	}
	return BackfillWindow{}
}

// choose starts what may start while a budget holds or a late job has a reservation.
func (b *budgeted) choose(f *ClusterState, limit int64, late []candidate) {
	f.invalidate() // no reservation of the base policy outlives such a pass
	t := f.ensureBudgetPass()
	t.begin(limit, f.supply.taken)
	if f.hasReservations() {
		t.project(f)
	}
	b.serveLate(f, t, late)
	if limit == power.Unlimited || b.Mode == Filter {
		b.filter(f, t)
		return
	}
	if !t.reserved {
		b.reserveHead(f, t)
	}
	b.fill(f, t)
}

// filter starts what the base policy would, as far as the power reaches and the places that
// are kept allow.
func (b *budgeted) filter(f *ClusterState, t *budgetPass) {
	t.candidates = t.candidates[:0]
	if t.state.free == nil {
		t.state = newClusterState(f.machine, f.policy)
	}
	t.state.copyFrom(f)
	b.removeUnaffordable(&t.state)
	t.state.candidates = &t.candidates
	b.base.Pass(&t.state)
	if t.looksAhead(f) {
		t.avoidReserved(f)
	}
	t.consider()
	for i, chosen := range t.affordable(f.now, math.MaxInt) {
		if p := &t.candidates[i]; chosen && f.free.Has(p.job.Demand(), p.place) {
			f.startOne(&p.job, p.place)
		}
	}
}

// removeUnaffordable takes the jobs out of a floor that the budget will never allow.
func (b *budgeted) removeUnaffordable(f *ClusterState) {
	most := b.Signal.MaxBudget(f.now)
	if f.supply.maxDemand <= most {
		return
	}
	for c, ok := f.pending.valid(Cursor{}); ok; c, ok = f.pending.valid(c) {
		if f.pending.at(c).draw > most {
			f.take(c)
		} else {
			c = c.After()
		}
	}
}

// avoidReserved drops the picks that have no place beside those that are kept, and moves those
// that have another one than the base policy wants.
func (t *budgetPass) avoidReserved(f *ClusterState) {
	rest := t.candidates[:0]
	for _, p := range t.candidates {
		if t.beside(f, &p) {
			rest = append(rest, p)
		}
	}
	t.candidates = rest
}

// beside reports whether a pick leaves the kept places alone, and takes its own if so: where
// the base policy wants it, or elsewhere.
func (t *budgetPass) beside(f *ClusterState, p *candidate) bool {
	end := f.now.Add(p.job.Time)
	if !t.profile.hasFree(f.now, end, p.job.Demand(), p.place) {
		place, ok := t.find(f, &p.job)
		if !ok {
			return false
		}
		p.place = place
	}
	t.profile.allocate(f.now, end, p.job.Demand(), p.place)
	return true
}

// fill starts those of the first waiting jobs that use most of the machine. On a machine of
// partitions what fits by number may have no place; such jobs are left out and the rest is
// chosen again.
func (b *budgeted) fill(f *ClusterState, t *budgetPass) {
	b.window(f, t)
	t.consider()
	for len(t.candidates) > 0 {
		if all := t.place(f, t.affordable(f.now, f.free.Free())); all {
			return
		}
	}
}

// window picks the first jobs of the queue that have a place and the power now.
func (b *budgeted) window(f *ClusterState, t *budgetPass) {
	t.candidates = t.candidates[:0]
	most, left := b.Signal.MaxBudget(f.now), b.Window
	for w := range f.pending.all() {
		if w.draw > most {
			continue
		}
		if left--; left < 0 {
			return
		}
		if w.draw > t.slack {
			continue
		}
		if place, ok := t.find(f, w); ok {
			t.candidates = append(t.candidates, candidate{job: *w, place: place})
		}
	}
}

// looksAhead reports whether a place now may be one that is kept for later, or held.
func (t *budgetPass) looksAhead(f *ClusterState) bool { return t.reserved || f.hasReservations() }

// find is a place for a job beside those that are kept.
func (t *budgetPass) find(f *ClusterState, w *PendingJob) (Place, bool) {
	if !t.looksAhead(f) {
		return f.free.Find(w.Demand(), nil)
	}
	at, place := t.profile.earliest(f.now, w.Demand(), w.Time)
	return place, at == f.now && f.free.Has(w.Demand(), place)
}

// place starts the chosen picks that have a place, the largest first, and forgets all that
// were chosen. It returns whether all had one.
func (t *budgetPass) place(f *ClusterState, chosen []bool) (all bool) {
	t.order = t.order[:0]
	for i := range t.candidates {
		if chosen[i] {
			t.order = append(t.order, i)
		}
	}
	slices.SortStableFunc(t.order, func(i, k int) int { return cmp.Compare(t.candidates[k].job.Units, t.candidates[i].job.Units) })
	all = true
	for _, i := range t.order {
		job := &t.candidates[i].job
		place, ok := t.find(f, job)
		if !ok {
			all = false
			continue
		}
		if t.looksAhead(f) {
			t.profile.allocate(f.now, f.now.Add(job.Time), job.Demand(), place)
		}
		f.startOne(job, place)
		t.consumePower(f.now, job)
	}
	rest := 0
	for i := range t.candidates {
		if !chosen[i] {
			t.candidates[rest] = t.candidates[i]
			rest++
		}
	}
	t.candidates = t.candidates[:rest]
	return all
}

// startOne starts a waiting job.
func (f *ClusterState) startOne(job *PendingJob, place Place) {
	if c, ok := f.pending.find(job); ok {
		f.Start(c, place)
	}
}

// late are the waiting jobs past their bound that the budget may allow, the oldest, as many
// as a window has. They come by age whatever the order of the queue, so that none is passed
// by those that become late after it.
func (b *budgeted) late(f *ClusterState) (late []candidate) {
	s := &f.supply
	if b.Bound == 0 || f.pending.length == 0 || f.now.Sub(s.oldest) < b.Bound {
		return nil
	}
	most := b.Signal.MaxBudget(f.now)
	s.oldest = lastInstant
	for w := range f.pending.all() {
		s.oldest = min(s.oldest, w.since)
		if f.now.Sub(w.since) < b.Bound || w.draw > most {
			continue
		}
		if len(late) == b.Window && byAge(&late[b.Window-1].job, w) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(late, w, func(p candidate, w *PendingJob) int { return byAge(&p.job, w) })
		late = slices.Insert(late[:min(len(late), b.Window-1)], at, candidate{job: *w})
	}
	return late
}

// byAge orders jobs by how long they wait.
func byAge(a, b *PendingJob) int {
	return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.order, b.order))
}

// serveLate starts the late jobs that may start and keeps a place for the others. The power
// is kept for the first of them that lacks it, where the budget will not end.
func (b *budgeted) serveLate(f *ClusterState, t *budgetPass, late []candidate) {
	if len(late) == 0 {
		return
	}
	t.project(f)
	free := b.Signal.Free(f.now)
	for i := range late {
		job := &late[i].job
		at, place := t.profile.earliest(f.now, job.Demand(), job.Time)
		if at == f.now && t.affords(f.now, job) && f.free.Has(job.Demand(), place) {
			t.profile.allocate(at, at.Add(job.Time), job.Demand(), place)
			f.startOne(job, place)
			t.consumePower(f.now, job)
			continue
		}
		if free == power.End {
			b.reserveSoonest(f, t, job, at, place)
		} else {
			b.reserveOffPeak(t, job, at, place)
		}
	}
}

// reserveHead keeps a place for the head of the queue if it cannot start now, as EASY does: else
// what ends would always go to small jobs, and wide ones would starve. If it
// draws more than the budget, that is from the end of it on.
func (b *budgeted) reserveHead(f *ClusterState, t *budgetPass) {
	head, ok := b.head(f)
	if !ok {
		return
	}
	t.project(f)
	at, place := t.profile.earliest(f.now, head.Demand(), head.Time)
	if at == f.now && head.draw <= t.slack && f.free.Has(head.Demand(), place) {
		return
	}
	if free := b.Signal.Free(f.now); head.draw > t.limit && free != power.End {
		b.reserveOffPeak(t, &head, at, place)
		return
	}
	b.reserveSoonest(f, t, &head, at, place)
}

// head is the first job of the queue that the budget may allow.
func (b *budgeted) head(f *ClusterState) (head PendingJob, ok bool) {
	if most := b.Signal.MaxBudget(f.now); f.supply.maxDemand > most {
		for w := range f.pending.all() {
			if w.draw <= most {
				return *w, true
			}
		}
		return head, false
	}
	return f.Head()
}

// reserveSoonest keeps a place for a job that would have one by its size from a time on: as soon
// as the power is there as well, which is then kept too.
func (b *budgeted) reserveSoonest(f *ClusterState, t *budgetPass, job *PendingJob, at protocol.Instant, place Place) {
	if from := max(b.Signal.Allows(f.now, job.draw), t.powered(f, job)); from > at {
		at, place = t.profile.earliest(from, job.Demand(), job.Time)
	}
	if limit, _ := b.Signal.At(at); limit != power.Unlimited {
		t.reservePower(f, job, at, limit)
	}
	t.reserve(job, at, place)
}

// reserveOffPeak keeps it the first place from then on while no budget holds.
func (b *budgeted) reserveOffPeak(t *budgetPass, job *PendingJob, at protocol.Instant, place Place) {
	for from := b.Signal.Free(at); from > at && from != power.End; from = b.Signal.Free(at) {
		at, place = t.profile.earliest(from, job.Demand(), job.Time)
	}
	t.reserve(job, at, place)
}

func (t *budgetPass) reserve(job *PendingJob, at protocol.Instant, place Place) {
	t.profile.allocate(at, at.Add(job.Time), job.Demand(), place)
	t.reserved = true
}
