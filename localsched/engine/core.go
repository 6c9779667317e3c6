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
	lookup  bool // quotes are lookups
	floor   ClusterState
	entries []entry       // by job number
	busy    int           // units
	work    int128.Number // of the queue, in CPU·ms

	opening  BackfillWindow // left by the last pass
	passDone bool           // the last pass saw the present state

	version           uint64 // rises with every change; 0 is that of no plan
	plan              plan
	pendingEndVersion uint64 // the version in which an end that the plan may foresee waits for its pass
	trial             future // for quotes that are not lookups
	alone             planCache
	numbers           []int // of the jobs just started
}

// entry is what is known of a job by its number: enough to find it on the floor.
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
	holding // room is kept for it
	taken   // and it has been submitted
	runs
	expired // runs, but has given its units back
)

// NewCore returns a core with an empty machine.
func NewCore(machine Machine, policy Policy) *Core {
	c := &Core{
		machine: machine,
		pool:    machine.Pool(),
		floor:   newFloor(machine, policy),
		version: 1,
		plan:    plan{future: newFuture(machine, policy)},
		trial:   newFuture(machine, policy),
	}
	c.plan.floor.offering = true
	c.setPolicy(policy)
	return c
}

func (c *Core) setPolicy(p Policy) {
	c.policy = p
	c.lookUp()
	c.passDone = false
	c.version++
}

// lookUp notes whether quotes are lookups now: what is held makes the future another one than
// lookups are about.
func (c *Core) lookUp() { c.lookup = c.policy.PlanMode() == PlanLookup && c.pool && !c.floor.held() }

// Size is what a request takes of the machine. The reason says why it never
// fits; it is empty when it does.
func (c *Core) Size(r protocol.Request) (w Waiting, reason string) {
	return size(c.machine, c.policy, c.floor.now, r)
}

func size(m Machine, p Policy, now protocol.Instant, r protocol.Request) (w Waiting, reason string) {
	w, reason = sizeAlone(m, r)
	if b, ok := p.(*budgeted); ok && reason == "" {
		reason = b.refuses(m, now, &w)
	}
	return w, reason
}

// sizeAlone is what a request takes of the machine, whatever the policy says of it.
func sizeAlone(m Machine, r protocol.Request) (w Waiting, reason string) {
	if r.WallTime < 1 {
		return Waiting{}, "has no wall-time limit; ask for at least 1ms"
	}
	units, reason := m.Units(r)
	return Waiting{Units: units, Time: r.WallTime, powerDemand: appetiteOf(r)}, reason
}

// Submit puts a job that [Core.Size] made at the end of the queue and makes a
// pass. It returns the numbers of the jobs to start. Numbers should be dense; one
// can be used again when its job has ended.
func (c *Core) Submit(now protocol.Instant, number int, w Waiting) []int {
	if !c.lookup || !c.passDone {
		c.Add(now, number, w)
		return c.Pass(now)
	}
	known := c.planned(now)
	c.change(now)
	if c.floor.overdue() {
		c.enqueue(number, w)
		return c.Pass(now)
	}
	if c.opening.Admits(c.floor.now, w.Units, w.Time) {
		return c.startNow(number, w)
	}
	var started []int
	head := c.floor.waiting.length == 0
	w = c.enqueue(number, w)
	if head {
		started = c.Pass(now) // for its reservation
	}
	if known && len(started) == 0 && c.plan.join(w) {
		c.plan.remade(&c.floor, c.opening)
		c.plan.version = c.version
	}
	return started
}

// planned says whether the plan at hand is that of the present state alone.
func (c *Core) planned(now protocol.Instant) bool {
	p := &c.plan
	return p.version == c.version && len(p.ahead) == 0 && !p.moving && p.holds(max(now, c.floor.now))
}

// startNow starts a newcomer that the last pass left room for, and only it, by
// the promises of [PlanLookup].
func (c *Core) startNow(number int, w Waiting) []int {
	place, _ := c.floor.room.Find(w.Units, nil)
	c.entry(number)
	w.slot, w.order = number, c.version
	c.floor.run(&w, c.floor.now, place)
	c.opening = c.opening.without(c.floor.now, w.Units, w.Time)
	return c.noteStarts()
}

// Add puts a job in the queue without a pass.
func (c *Core) Add(now protocol.Instant, number int, w Waiting) {
	c.change(now)
	c.passDone = false
	c.enqueue(number, w)
}

func (c *Core) enqueue(number int, w Waiting) Waiting {
	w.slot, w.order = number, c.version
	if w.since == 0 {
		w.since = c.floor.now
	}
	c.floor.enqueue(&w)
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
	if at, ok := c.floor.waiting.find(&Waiting{rank: e.rank, order: e.order}); ok {
		c.work = c.work.Plus(c.workOf(*c.floor.waiting.at(at)).Negative())
		c.floor.withdraw(at)
	}
	*e = entry{}
}

// End takes a running job away without a pass.
func (c *Core) End(now protocol.Instant, number int) {
	c.leave(now, number)
	c.floor.profile.freed = true
	if e := c.entry(number); e.state != queued {
		*e = entry{}
	}
}

// Expire gives back what a running job holds, as its estimate is over, before it
// is known to have ended: until then policies take it as running.
func (c *Core) Expire(now protocol.Instant, number int) {
	freed := c.floor.profile.freed
	c.leave(now, number)
	c.floor.profile.freed = freed
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
	if i, ok := c.floor.running.find(e.end, e.order); ok {
		c.busy -= c.floor.running.list()[i].Units
		c.floor.end(i)
		if known && i == 0 && e.end == c.floor.now {
			c.pendingEndVersion = c.version
		}
	}
}

// Pass starts what may start now and returns the numbers.
func (c *Core) Pass(now protocol.Instant) []int {
	foreseen := c.pendingEndVersion == c.version && now <= c.floor.now
	c.change(now)
	held := c.floor.held()
	c.opening = c.floor.pass()
	if held {
		c.lookUp()
	}
	c.passDone = true
	if foreseen && c.plan.follow(&c.floor, c.opening) {
		c.plan.version = c.version
	}
	for i := range c.floor.started {
		r := &c.floor.started[i]
		c.work = c.work.Plus(workOf(c.machine.CPUs(r.Units), r.time).Negative())
	}
	return c.noteStarts()
}

// noteStarts enters the jobs just started.
func (c *Core) noteStarts() []int {
	c.numbers = c.numbers[:0]
	for i := range c.floor.started {
		r := &c.floor.started[i]
		c.entries[r.slot] = entry{state: runs, end: r.End, order: r.order}
		c.busy += r.Units
		c.numbers = append(c.numbers, r.slot)
	}
	c.floor.started = c.floor.started[:0]
	return c.numbers
}

// SetPolicy gives the queue to another policy. It makes no pass.
func (c *Core) SetPolicy(now protocol.Instant, policy Policy) {
	c.advance(now)
	c.setPolicy(policy)
	c.floor.setPolicy(policy)
	for w := range c.floor.waiting.all() {
		c.entries[w.slot].rank = w.rank
	}
	c.plan.policy, c.trial.policy = policy, policy
}

// restore enters a job that runs already.
func (c *Core) restore(number int, w Waiting, started protocol.Instant, name string) bool {
	place, ok := c.placeNamed(name, w.Units)
	if !ok || !c.floor.room.Has(w.Units, place) {
		place, ok = c.floor.room.Find(w.Units, nil)
	}
	if !ok {
		return false
	}
	c.version++
	c.passDone = false
	c.entry(number)
	w.slot, w.order = number, c.version
	c.floor.supply.wants(&c.floor, &w)
	c.floor.run(&w, started, place)
	c.floor.invalidate()
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

// placeNamed is the place of a name for so many units, if the machine has names for places.
func (c *Core) placeNamed(name string, units int) (place Place, ok bool) {
	names, named := c.machine.(PlaceNamer)
	if !named || name == "" {
		return 0, false
	}
	return names.PlaceNamed(name, units)
}

// Wake is when a pass must be made though no job has come or gone; 0: no such
// time is known.
func (c *Core) Wake() protocol.Instant { return c.floor.Wake() }

// Load is how busy the machine is. Queued work is the CPUs that queued jobs
// would keep busy times their estimates, at most the largest int64.
func (c *Core) Load() protocol.Load {
	load := protocol.Load{
		CPUs:       c.machine.Capacity().CPUs,
		Busy:       c.machine.CPUs(c.busy),
		QueuedJobs: c.floor.waiting.length + c.floor.holds.taken(),
		QueuedWork: c.work.Down(),
	}
	if b := c.floor.budget; b != nil {
		b.tell(&load, &c.floor)
	}
	return load
}

// due says whether a pass is due that has not been made.
func (c *Core) due(now protocol.Instant) bool {
	wake := c.Wake()
	return wake != 0 && wake <= now
}

// change counts a change at a time.
func (c *Core) change(now protocol.Instant) {
	c.advance(now)
	c.version++
}

func (c *Core) advance(now protocol.Instant) { c.floor.now = max(c.floor.now, now) }

func (c *Core) workOf(w Waiting) int128.Number { return workOf(c.machine.CPUs(w.Units), w.Time) }

func workOf(cpus int, time protocol.Duration) int128.Number {
	return int128.Product(int64(cpus), int64(time))
}
