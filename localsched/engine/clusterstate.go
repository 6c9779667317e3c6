package engine

import (
	"github.com/switchyard-hpc/switchyard/protocol"
)

// PendingJob is a queued job as policies see it.
type PendingJob struct {
	Units    int
	Time     protocol.Duration // the estimate, at least 1 ms
	least    protocol.Duration // the time with which it may start if that is sooner, at most Time
	reserved protocol.Instant  // its reserved start, or unreserved
	rank     int64             // by the policy
	order    uint64            // of submission
	place    Place             // of its reserved start
	extras   int32             // see [Demand]
	slot     int               // of the engine's job, or one of those below
	since    protocol.Instant  // it has been pending since then
	draw     int64             // milliwatts, under a budget
	priority int64             // see [protocol.Request.Priority]
	powerDemand
}

// Demand is what the job takes of the machine.
func (w *PendingJob) Demand() Demand { return Demand{w.Units, w.extras} }

// powerDemand is the part of a request that determines the power of the job.
type powerDemand struct {
	cpus  int32 // asked for
	power int32 // parts per million of what the site states; 0: all of it
}

// unreserved is the reserved start of a job without one.
const unreserved protocol.Instant = -1

// Slots of jobs that exist only in a plan.
const (
	aheadSlot    = -1
	newcomerSlot = -2
)

// Running is a job that runs.
type Running struct {
	End    protocol.Instant // by the estimate; it may have passed
	Units  int
	time   protocol.Duration // the estimate
	order  uint64            // of starting
	Place  Place
	extras int32 // see [Demand]
	slot   int
	killed bool  // its end was asked for
	draw   int64 // milliwatts, under a budget
	powerDemand
}

// Demand is what the job takes of the machine.
func (r *Running) Demand() Demand { return Demand{r.Units, r.extras} }

// ClusterState is the machine at one instant with its running and pending jobs: the live state, or one
// in a plan. Policies read it and start jobs in it.
type ClusterState struct {
	machine Machine
	now     protocol.Instant
	policy  Policy
	budget  *budgeted // the policy, if it is one
	over    Overtaker // the policy, if it is one
	pool    bool
	free    FreeSet
	pending queue
	second  queue // the same jobs in the order of overtake, when that is not nil
	running ends
	starts  uint64 // jobs started so far

	withExtras int       // jobs, pending or running, that take more than units
	flexible   int       // pending jobs whose time may be lowered
	started    []Running // since Core last called noteStarts

	head         headReservation
	profile      profile
	supply       powerState
	reservations reservations
	candidates   *[]candidate // of a pass whose starts are only recorded

	inPlan   bool // the state is in a plan: every reservation will be used
	offering bool
	offers   []offer // of this pass, when offering
}

// offer is a backfill window for jobs shorter than a limit.
type offer struct {
	BackfillWindow
	below protocol.Duration
}

func newClusterState(m Machine, p Policy) ClusterState {
	f := ClusterState{
		machine:      m,
		pool:         m.Pool(),
		free:         m.NewFreeSet(),
		head:         headReservation{extra: m.NewFreeSet()},
		profile:      newProfile(m),
		reservations: reservations{ahead: newProfile(m)},
	}
	f.serve(p)
	return f
}

// serve sets the policy.
func (f *ClusterState) serve(p Policy) {
	f.policy = p
	if f.budget, _ = p.(*budgeted); f.budget != nil {
		p = f.budget.base
	}
	f.over, _ = p.(Overtaker)
}

// Now is the time of the pass.
func (f *ClusterState) Now() protocol.Instant { return f.now }

// FreeSet is what is free now. Only [ClusterState.Start] may change it.
func (f *ClusterState) FreeSet() FreeSet { return f.free }

// Head is the first job of the queue.
func (f *ClusterState) Head() (PendingJob, bool) {
	if head := f.pending.first(); head != nil {
		return *head, true
	}
	return PendingJob{}, false
}

// At is the job at a position that Next returned.
func (f *ClusterState) At(c Cursor) PendingJob { return *f.pending.at(c) }

// Next is the position of the first job at or after c that the window admits. A machine whose units
// are not alike may still have no place for it.
func (f *ClusterState) Next(c Cursor, o BackfillWindow) (Cursor, bool) {
	if o.Free < 1 {
		return c, false
	}
	return f.pending.next(c, &jobQuery{o.Free, o.Extra, o.Shadow.Sub(f.now), classOf(o.Free)})
}

// AddWindow adds, for plans, a window that exists before the pass starts a job of the given time: a
// shorter new job would start before that one.
func (f *ClusterState) AddWindow(o BackfillWindow, below protocol.Duration) {
	if f.offering {
		f.offers = append(f.offers, offer{o, below})
	}
}

// NextOver is Next in the order of the [Overtaker]. The cursor is one of that
// order.
func (f *ClusterState) NextOver(c Cursor, o BackfillWindow) (Cursor, bool) {
	if o.Free < 1 {
		return c, false
	}
	return f.second.next(c, &jobQuery{o.Free, o.Extra, o.Shadow.Sub(f.now), classOf(o.Free)})
}

// AtOver is the job at a position that NextOver returned, and its position in the queue.
func (f *ClusterState) AtOver(c Cursor) (PendingJob, Cursor) {
	job := *f.second.at(c)
	job.rank = f.policy.Rank(job)
	at, _ := f.pending.find(&job)
	return job, at
}

// Start takes the job at c out of the queue and starts it at a place that
// [ClusterState.Find] gave.
func (f *ClusterState) Start(c Cursor, place Place) {
	job := f.take(c)
	f.run(&job, f.now, place, job.Time)
}

// take removes a job from the queue.
func (f *ClusterState) take(c Cursor) PendingJob {
	job := *f.pending.at(c)
	f.pending.remove(c)
	if job.extras != 0 {
		f.withExtras--
	}
	if job.flexible() {
		f.flexible--
	}
	if f.over != nil {
		if at, ok := f.second.find(&PendingJob{rank: f.over.Overtake(job), order: job.order}); ok {
			f.second.remove(at)
		}
	}
	return job
}

// StartHeads starts jobs from the head of the queue while they fit. It takes most of the time of a
// plan, so it searches places without calling Find.
func (f *ClusterState) StartHeads() {
	for {
		head := f.pending.first()
		if head == nil {
			return
		}
		place, ok := f.free.Find(head.Demand(), nil)
		switch {
		case !ok:
			return
		case !f.hasReservations() || f.avoidsReservations(head, place):
			f.Start(Cursor{}, place)
		case !f.StartShorter(Cursor{}, lastInstant):
			return
		}
	}
}

// enqueue puts a job in the queue and sets its rank.
func (f *ClusterState) enqueue(job *PendingJob) {
	job.rank, job.reserved = f.policy.Rank(*job), unreserved
	f.supply.setDraw(f, job)
	f.pending.insert(job)
	if job.extras != 0 {
		f.withExtras++
	}
	if job.flexible() {
		f.flexible++
	}
	if f.over != nil {
		second := *job
		second.rank = f.over.Overtake(second)
		f.second.insert(&second)
	}
}

// run starts a job that is in no queue, for a time that is its estimate or less.
func (f *ClusterState) run(job *PendingJob, started protocol.Instant, place Place, time protocol.Duration) {
	f.starts++
	if job.extras != 0 {
		f.withExtras++
	}
	r := Running{
		End: started.Add(time), Units: job.Units, extras: job.extras, Place: place, order: f.starts, slot: job.slot, time: job.Time,
		draw: job.draw, powerDemand: job.powerDemand,
	}
	f.supply.taken += r.draw
	f.free.Allocate(job.Demand(), place)
	f.head.started(job.order, &r)
	if f.hasReservations() {
		f.reservations.began(f.now, &r)
	}
	f.running.insert(&r)
	f.started = append(f.started, r)
	if f.candidates != nil {
		*f.candidates = append(*f.candidates, candidate{job: *job, place: place})
	}
}

// end removes a running job.
func (f *ClusterState) end(i int) {
	r := f.running.list()[i]
	f.running.remove(i)
	if r.extras != 0 {
		f.withExtras--
	}
	f.free.Release(r.Demand(), r.Place)
	f.supply.taken -= r.draw
	if r.End != f.now {
		f.head.forget()
	}
	f.profile.ended(f.now, &r)
	if f.hasReservations() {
		f.reservations.ended(f.now, &r)
	}
}

// withdraw removes a pending job.
func (f *ClusterState) withdraw(c Cursor) {
	f.profile.withdrawn(f.now, f.take(c))
}

// invalidate drops the head reservation and the profile, which were derived from another state.
func (f *ClusterState) invalidate() {
	f.head.forget()
	f.profile.forget()
}

// overdue reports whether a running job is past its estimate.
func (f *ClusterState) overdue() bool {
	next := f.running.first()
	return next != nil && next.End < f.now
}

// setPriorities gives pending jobs other priorities, by their slots, and orders the queue by them if the policy does.
func (f *ClusterState) setPriorities(of map[int]int64) {
	for w := range f.pending.all() {
		if priority, changed := of[w.slot]; changed {
			w.priority = priority
		}
	}
	base := f.policy
	if f.budget != nil {
		base = f.budget.base
	}
	if _, ordered := base.(multifactor); ordered {
		f.setPolicy(f.policy)
	}
}

// setPolicy orders the queue by another policy.
func (f *ClusterState) setPolicy(p Policy) {
	jobs := make([]PendingJob, 0, f.pending.length)
	for w := range f.pending.all() {
		jobs = append(jobs, *w)
	}
	f.serve(p)
	f.invalidate()
	f.pending.clear()
	f.second.clear()
	f.withExtras, f.flexible = 0, 0
	for i := range f.running.list() {
		if f.running.list()[i].extras != 0 {
			f.withExtras++
		}
	}
	f.supply.recompute(f)
	for i := range jobs {
		f.enqueue(&jobs[i])
	}
}

// copyFrom copies another state of the same machine.
func (f *ClusterState) copyFrom(other *ClusterState) {
	f.now, f.starts, f.policy, f.over = other.now, other.starts, other.policy, other.over
	f.withExtras, f.flexible = other.withExtras, other.flexible
	f.free.CopyFrom(other.free)
	f.running.copyFrom(&other.running)
	f.pending.copyFrom(&other.pending)
	f.second.copyFrom(&other.second)
	f.head.copyFrom(&other.head)
	f.profile.copyFrom(&other.profile)
	f.budget = other.budget
	f.supply.copyFrom(&other.supply)
	f.reservations.copyFrom(&other.reservations)
	f.started = f.started[:0]
}
