package engine

import (
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Core is the batch engine for drivers that number their jobs and decide when
// passes are made: simulators. [Engine] puts tags on it. Its methods check
// nothing that a driver can know, and what they return is valid until the next
// call only. It is not safe for use from several goroutines. Time begins at 0 and
// never runs back: an earlier now counts as the latest one seen.
type Core struct {
	machine Machine
	policy  Policy
	pool    bool
	lookup  bool // quotes are looked up in the plan
	state   ClusterState
	entries []entry       // by job number
	busy    int           // units
	work    int128.Number // of the queue, in CPU·ms

	window   BackfillWindow // of the last pass
	passDone bool           // a pass was made in the present state

	version           uint64 // rises with every change; 0 is that of no plan
	plan              plan
	pendingEndVersion uint64 // the version in which an end that the plan may have predicted waits for its pass
	trial             future // for quotes that are not lookups
	planCache         planCache
	numbers           []int // of the jobs just started
}

// entry locates a job by its number in the cluster state.
type entry struct {
	state phase
	rank  int64
	end   protocol.Instant // once started
	order uint64           // of submission, or of starting
}

type phase uint8

const (
	absent phase = iota
	queued
	unclaimed // an advance reservation without its job
	claimed   // one whose job has been submitted
	runs
	expired // runs, but has given its units back
)

// NewCore returns a core with an empty machine.
func NewCore(machine Machine, policy Policy) *Core {
	machine = ofCore(machine)
	c := &Core{
		machine: machine,
		pool:    machine.Pool(),
		state:   newClusterState(machine, policy),
		version: 1,
		plan:    plan{future: newFuture(machine, policy)},
		trial:   newFuture(machine, policy),
	}
	c.plan.state.offering = true
	c.setPolicy(policy)
	return c
}

func (c *Core) setPolicy(p Policy) {
	c.policy = p
	c.lookUp()
	c.passDone = false
	c.version++
}

// lookUp sets whether quotes are lookups now. They are not while there are advance reservations, for
// which the plan has no windows.
func (c *Core) lookUp() {
	c.lookup = c.policy.PlanMode() == PlanLookup && c.pool && !c.state.hasReservations()
}

// Size is what a request takes of the machine. The reason says why it never
// fits; it is empty when it does.
func (c *Core) Size(r protocol.Request) (w PendingJob, reason string) {
	return size(c.machine, c.policy, c.state.now, r)
}

func size(m Machine, p Policy, now protocol.Instant, r protocol.Request) (w PendingJob, reason string) {
	w, reason = machineSize(m, r)
	if b, ok := p.(*budgeted); ok && reason == "" {
		reason = b.refusalReason(m, now, &w)
	}
	return w, reason
}

// machineSize is what a request takes of the machine, whatever the policy says of it.
func machineSize(m Machine, r protocol.Request) (w PendingJob, reason string) {
	if r.WallTime < 1 {
		return PendingJob{}, "has no wall-time limit; ask for at least 1ms"
	}
	var of Demand
	if c, ok := m.(*counted); ok {
		of, reason = c.demand(&r)
	} else {
		of.Units, reason = m.Units(r)
	}
	return PendingJob{Units: of.Units, Time: r.WallTime, least: r.LeastTime(), extras: of.Extras, priority: r.Priority, powerDemand: powerDemandOf(r)}, reason
}

// Submit puts a job that [Core.Size] made at the end of the queue and makes a
// pass. It returns the numbers of the jobs to start. Numbers should be dense; one
// can be used again when its job has ended.
func (c *Core) Submit(now protocol.Instant, number int, w PendingJob) []int {
	if !c.lookup || !c.passDone {
		c.Add(now, number, w)
		return c.Pass(now)
	}
	known := c.planned(now)
	c.change(now)
	if c.state.overdue() {
		c.enqueue(number, w)
		return c.Pass(now)
	}
	if c.window.Admits(c.state.now, w.Units, w.least) {
		switch {
		case w.extras == 0 && !w.flexible():
			return c.startNow(number, w)
		case c.state.free.Has(w.Demand(), 0): // what the head leaves of resources does not stand in the window, nor for how long a job may run
			c.enqueue(number, w)
			return c.Pass(now)
		}
	}
	var started []int
	head := c.state.pending.length == 0
	w = c.enqueue(number, w)
	if head {
		started = c.Pass(now) // for its reservation
	}
	if known && len(started) == 0 && c.plan.join(w) {
		c.plan.remade(&c.state, c.window)
		c.plan.version = c.version
	}
	return started
}

// planned reports whether the plan is that of the present state, without jobs ahead.
func (c *Core) planned(now protocol.Instant) bool {
	p := &c.plan
	return p.version == c.version && len(p.ahead) == 0 && !p.moving && p.validAt(max(now, c.state.now))
}

// startNow starts a newly submitted job without a scheduling pass. The caller has checked that the
// window of the last pass admits it and that no running job has exceeded its estimate. Under
// [PlanLookup] a pass would then start this job and no other, so the shortcut changes the cost and not
// the schedule. TestReference checks it.
func (c *Core) startNow(number int, w PendingJob) []int {
	place, _ := c.state.free.Find(w.Demand(), nil)
	c.entry(number)
	w.slot, w.order = number, c.version
	c.state.run(&w, c.state.now, place, w.Time)
	c.window = c.window.without(c.state.now, w.Units, w.Time)
	return c.noteStarts()
}

// Add puts a job in the queue without a pass.
func (c *Core) Add(now protocol.Instant, number int, w PendingJob) {
	c.change(now)
	c.passDone = false
	c.enqueue(number, w)
}

func (c *Core) enqueue(number int, w PendingJob) PendingJob {
	w.slot, w.order = number, c.version
	if w.since == 0 {
		w.since = c.state.now
	}
	c.state.enqueue(&w)
	*c.entry(number) = entry{state: queued, rank: w.rank, order: w.order}
	c.work = c.work.Plus(c.workOf(w))
	return w
}

// Expect makes room for job numbers below a bound, so that it need not be found
// step by step.
func (c *Core) Expect(numbers int) {
	if more := numbers - len(c.entries); more > 0 {
		c.entries = append(c.entries, make([]entry, more)...)
	}
}

// entry is that of a number; there is room for it.
func (c *Core) entry(number int) *entry {
	if number >= len(c.entries) {
		c.Expect(max(number+1, 2*len(c.entries)))
	}
	return &c.entries[number]
}

// Remove takes a job that has not started out of the queue without a pass.
func (c *Core) Remove(now protocol.Instant, number int) {
	e := c.entry(number)
	if e.state != queued {
		return
	}
	c.change(now)
	c.passDone = false
	if at, ok := c.state.pending.find(&PendingJob{rank: e.rank, order: e.order}); ok {
		c.work = c.work.Plus(c.workOf(*c.state.pending.at(at)).Negative())
		c.state.withdraw(at)
	}
	*e = entry{}
}

// End takes a running job away without a pass.
func (c *Core) End(now protocol.Instant, number int) {
	c.leave(now, number)
	c.state.profile.freed = true
	if e := c.entry(number); e.state != queued {
		*e = entry{}
	}
}

// Expire frees the units of a running job at the end of its estimate, before its end is reported: until
// then policies count it as running.
func (c *Core) Expire(now protocol.Instant, number int) {
	freed := c.state.profile.freed
	c.leave(now, number)
	c.state.profile.freed = freed
	c.entry(number).state = expired
}

func (c *Core) leave(now protocol.Instant, number int) {
	known := c.passDone && c.planned(now)
	c.change(now)
	c.passDone = false
	e := c.entry(number)
	if e.state != runs {
		return
	}
	if i, ok := c.state.running.find(e.end, e.order); ok {
		c.busy -= c.state.running.list()[i].Units
		c.state.end(i)
		if known && i == 0 && e.end == c.state.now {
			c.pendingEndVersion = c.version
		}
	}
}

// Pass starts what may start now and returns the numbers.
func (c *Core) Pass(now protocol.Instant) []int {
	predicted := c.pendingEndVersion == c.version && now <= c.state.now
	c.change(now)
	held := c.state.hasReservations()
	c.window = c.state.pass()
	if held {
		c.lookUp()
	}
	c.passDone = true
	if predicted && c.plan.follow(&c.state, c.window) {
		c.plan.version = c.version
	}
	for i := range c.state.started {
		r := &c.state.started[i]
		c.work = c.work.Plus(workOf(c.machine.CPUs(r.Units), r.time).Negative())
	}
	return c.noteStarts()
}

// Candidates returns the numbers of the jobs that the last pass chose from within a power budget: each of
// them could have started alone [BG 3.3]. There are none if no budget held. The slice is valid until the
// next pass.
func (c *Core) Candidates() []int {
	if t := c.state.supply.budgetPass; t != nil {
		return t.considered
	}
	return nil
}

// noteStarts enters the jobs just started.
func (c *Core) noteStarts() []int {
	c.numbers = c.numbers[:0]
	for i := range c.state.started {
		r := &c.state.started[i]
		c.entries[r.slot] = entry{state: runs, end: r.End, order: r.order}
		c.busy += r.Units
		c.numbers = append(c.numbers, r.slot)
	}
	c.state.started = c.state.started[:0]
	return c.numbers
}

// SetPolicy gives the queue to another policy. It makes no pass.
func (c *Core) SetPolicy(now protocol.Instant, policy Policy) {
	c.advance(now)
	c.setPolicy(policy)
	c.state.setPolicy(policy)
	c.noteRanks()
	c.plan.policy, c.trial.policy = policy, policy
}

// SetPriorities gives pending jobs other priorities, by their numbers. It makes no pass.
func (c *Core) SetPriorities(now protocol.Instant, of map[int]int64) {
	c.change(now)
	c.passDone = false
	c.state.setPriorities(of)
	c.noteRanks()
}

// noteRanks enters the ranks of pending jobs after they have changed.
func (c *Core) noteRanks() {
	for w := range c.state.pending.all() {
		c.entries[w.slot].rank = w.rank
	}
}

// restore enters a job that runs already.
func (c *Core) restore(number int, w PendingJob, started protocol.Instant, name string) bool {
	place, ok := c.placeNamed(name, w.Units)
	if !ok || !c.state.free.Has(w.Demand(), place) {
		place, ok = c.state.free.Find(w.Demand(), nil)
	}
	if !ok {
		return false
	}
	c.version++
	c.passDone = false
	c.entry(number)
	w.slot, w.order = number, c.version
	c.state.supply.setDraw(&c.state, &w)
	c.state.run(&w, started, place, w.Time)
	c.state.invalidate()
	c.noteStarts()
	return true
}

// placeName is the name of a place; empty on a machine whose places have none.
func (c *Core) placeName(place Place) string {
	if names, ok := c.machine.(PlaceNamer); ok {
		return names.PlaceName(place)
	}
	return ""
}

// placeNamed is the place of a name for a number of units, if the machine has names for places.
func (c *Core) placeNamed(name string, units int) (place Place, ok bool) {
	names, named := c.machine.(PlaceNamer)
	if !named || name == "" {
		return 0, false
	}
	return names.PlaceNamed(name, units)
}

// Wake is when a pass must be made though no job has come or gone; 0: no such
// time is known.
func (c *Core) Wake() protocol.Instant { return c.state.Wake() }

// Load is how busy the machine is. Queued work is the CPUs that queued jobs
// would keep busy times their estimates, at most the largest int64.
func (c *Core) Load() protocol.Load {
	load := protocol.Load{
		CPUs:       c.machine.Capacity().CPUs,
		Busy:       c.machine.CPUs(c.busy),
		QueuedJobs: c.state.pending.length + c.state.reservations.claimedCount(),
		QueuedWork: c.work.Down(),
	}
	if b := c.state.budget; b != nil {
		b.addToLoad(&load, &c.state)
	}
	return load
}

// due reports whether a pass is due that has not been made.
func (c *Core) due(now protocol.Instant) bool {
	wake := c.Wake()
	return wake != 0 && wake <= now
}

// change counts a change at a time.
func (c *Core) change(now protocol.Instant) {
	c.advance(now)
	c.version++
}

func (c *Core) advance(now protocol.Instant) { c.state.now = max(c.state.now, now) }

func (c *Core) workOf(w PendingJob) int128.Number { return workOf(c.machine.CPUs(w.Units), w.Time) }

func workOf(cpus int, time protocol.Duration) int128.Number {
	return int128.Product(int64(cpus), int64(time))
}
