package engine

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Plan says for each job alone when it would start if it were submitted now,
// after the ahead requests, if nothing else arrived, all estimates held and jobs
// past their estimate ended in the next millisecond. Requests ahead that never
// fit are passed over. Plan changes nothing that other calls can see.
func (c *Core) Plan(now protocol.Instant, ahead, jobs []protocol.Request) []localsched.Planned {
	now = max(now, c.state.now)
	start := c.starts(now, ahead, jobs)
	planned := make([]localsched.Planned, len(jobs))
	for i := range jobs {
		job, reason := size(c.machine, c.policy, now, jobs[i])
		if reason != "" {
			planned[i].Declined = reason
			continue
		}
		planned[i].Start = start(job)
		planned[i].Note = c.note(now, planned[i].Start, job)
	}
	return planned
}

// Earliest is the first instant at which a job could start that a plan has start later, if all that
// runs and waits before it ended sooner than its limit: at once, or when a power budget allows it.
func (e *Engine) Earliest(now protocol.Instant, r protocol.Request, planned protocol.Instant) protocol.Instant {
	c := e.core
	now = max(now, c.state.now)
	job, reason := size(c.machine, c.policy, now, r)
	if b := c.state.budget; b != nil && reason == "" {
		now = b.Signal.Allows(now, b.draw(c.state.machine, job.Units, job.powerDemand))
	}
	return min(now, planned)
}

// note says how a power budget makes a job wait.
func (c *Core) note(now, start protocol.Instant, job PendingJob) string {
	if c.state.budget == nil {
		return ""
	}
	return c.state.budget.note(now, start, &job, &c.state)
}

// starts is the cheapest way to tell when each of the jobs would start.
func (c *Core) starts(now protocol.Instant, ahead, jobs []protocol.Request) func(PendingJob) protocol.Instant {
	if c.lookup {
		p, alone := c.planAt(now, ahead), c.startsAlone(now, ahead)
		return func(job PendingJob) protocol.Instant {
			if !job.flexible() && (job.extras == 0 || p.unitsOnly) {
				return p.start(now, job)
			}
			return alone(job)
		}
	}
	switch c.policy.PlanMode() {
	case PlanInOrder:
		if c.state.hasReservations() {
			break
		}
		return func(job PendingJob) protocol.Instant { return c.trialAt(now, ahead).startInOrder(job) }
	case PlanReserved:
		if c.reservationsFixed(now) && !slices.ContainsFunc(ahead, flexible) && !slices.ContainsFunc(jobs, flexible) {
			p := c.profileWith(now, ahead)
			return func(job PendingJob) protocol.Instant {
				at, _ := p.earliest(now, job.Demand(), job.Time)
				return at
			}
		}
	case PlanSimulate, PlanLookup:
	}
	return c.startsAlone(now, ahead)
}

// startsAlone plans each shape of a job in a future of its own.
func (c *Core) startsAlone(now protocol.Instant, ahead []protocol.Request) func(PendingJob) protocol.Instant {
	known := c.planCache.at(c.version, now, ahead)
	return func(job PendingJob) protocol.Instant {
		of := shapeOf(&job)
		at, ok := known[of]
		if !ok {
			at = c.trialAt(now, ahead).start(job)
			known[of] = at
		}
		return at
	}
}

// shape is all of a newcomer that decides when it starts, and whom it delays.
type shape struct {
	demand Demand
	time   protocol.Duration
	least  protocol.Duration
	rank   int64 // by its priority
	powerDemand
}

func shapeOf(job *PendingJob) shape {
	return shape{demand: job.Demand(), time: job.Time, least: job.least, rank: job.priority, powerDemand: job.powerDemand}
}

// planCache are the starts of newcomers that were each planned alone, in one state.
type planCache struct {
	version uint64
	now     protocol.Instant
	ahead   []protocol.Request
	known   map[shape]protocol.Instant
}

// at is what is known of a state; what was known of another one is forgotten.
func (a *planCache) at(version uint64, now protocol.Instant, ahead []protocol.Request) map[shape]protocol.Instant {
	if a.known == nil || a.version != version || a.now != now || !equal(a.ahead, ahead) {
		*a = planCache{version: version, now: now, ahead: slices.Clone(ahead), known: map[shape]protocol.Instant{}}
	}
	return a.known
}

// reservationsFixed reports whether all promises stand, so that a newcomer's would too.
func (c *Core) reservationsFixed(now protocol.Instant) bool {
	p := &c.state.profile
	next := c.state.running.first()
	return c.passDone && p.firm && c.state.flexible == 0 && (next == nil || next.End >= now) && (p.due == unreserved || p.due >= now) &&
		!c.state.reservationOverrun(now)
}

// profileWith is the profile with the ahead requests promised their starts.
func (c *Core) profileWith(now protocol.Instant, ahead []protocol.Request) *profile {
	if len(ahead) == 0 {
		return &c.state.profile
	}
	p := &c.trial.state.profile
	p.copyFrom(&c.state.profile)
	for _, r := range ahead {
		if w, reason := size(c.machine, c.policy, now, r); reason == "" {
			at, place := p.earliest(now, w.Demand(), w.Time)
			p.allocate(at, at.Add(w.Time), w.Demand(), place)
		}
	}
	return p
}

func equal(a, b []protocol.Request) bool {
	return slices.EqualFunc(a, b, func(x, y protocol.Request) bool { return x.Equal(y) })
}

// planAt is the plan of the present state with the ahead requests.
func (c *Core) planAt(now protocol.Instant, ahead []protocol.Request) *plan {
	p := &c.plan
	if p.version != c.version || !p.validAt(now) || !equal(p.ahead, ahead) {
		p.version = c.version
		p.ahead = append(p.ahead[:0], ahead...)
		p.begin(&c.state, now, ahead)
	}
	return p
}

// plan is the future of one state, from which quotes are looked up. It is
// simulated as far as quotes have asked for, and kept while what happens is what
// it foresaw.
type plan struct {
	future
	version uint64 // of the state
	ahead   []protocol.Request
	moving  bool // jobs start as soon as it is made
	// No job in it takes more than units: one that does, and fits on the empty machine, starts
	// when its units are free.
	unitsOnly bool
	first     BackfillWindow // in the state itself
	left      BackfillWindow // by the last pass

	events  []plannedEvent
	past    int          // events that have happened
	windows []planWindow // in the order of time
	blocks  []planWindow // of each blockSize gaps the most of everything
}

// plannedEvent is an end in a plan and what followed.
type plannedEvent struct {
	at      protocol.Instant
	starts  uint64 // so far
	queued  int    // jobs left waiting
	windows int    // up to and with those that it left
}

// planWindow is an opening in a plan: jobs start there that are small and short enough.
type planWindow struct {
	at     protocol.Instant
	extra  int // of these units
	most   protocol.Duration
	free   int // or of these
	window protocol.Duration
}

// blockSize is how many gaps are passed over at once.
const blockSize = 32

// maxEvents bounds the memory of a plan that is kept for long.
const maxEvents = 1 << 14

func (g *planWindow) admits(job *PendingJob) bool {
	return (job.Units <= g.extra && job.Time <= g.most) || (job.Units <= g.free && job.Time <= g.window)
}

// validAt reports whether a plan of the same state is still right at a later time:
// not if a job would have started at the earlier one, or is past its estimate,
// since the rest then depends on the time.
func (p *plan) validAt(now protocol.Instant) bool {
	if now == p.made {
		return true
	}
	return now > p.made && !p.moving && now <= p.due
}

func (p *plan) begin(live *ClusterState, now protocol.Instant, ahead []protocol.Request) {
	p.future.begin(live, now)
	p.events, p.past, p.windows, p.blocks = p.events[:0], 0, p.windows[:0], p.blocks[:0]
	starts := p.state.starts
	p.unitsOnly = live.withExtras == 0
	for _, r := range ahead {
		if p.submit(r) {
			p.first = p.pass()
		}
	}
	if p.order == behindLive { // the newcomer comes with this pass, not after it
		p.first = p.pass()
		p.noteOffers()
	}
	p.moving = p.state.starts > starts
	p.unitsOnly = p.unitsOnly && p.state.withExtras == 0
	p.left = p.first
}

// start is when a job that is last in the order of submission starts.
func (p *plan) start(now protocol.Instant, job PendingJob) protocol.Instant {
	if p.first.Admits(now, job.Units, job.Time) {
		return now
	}
	i := p.lookUp(p.coming(), &job)
	for i == len(p.windows) {
		if at, ok := p.startAlone(job); ok {
			return at
		}
		if !p.advance() {
			return lastInstant
		}
		i = p.lookUp(i, &job)
	}
	return p.windows[i].at
}

// startAlone is when a job starts that waits alone: when enough jobs have ended. It is
// false if the policy may think otherwise. The plan is not simulated further for
// it, so that it can still be kept when the job comes.
func (p *plan) startAlone(job PendingJob) (protocol.Instant, bool) {
	free := p.state.free.Free()
	if p.state.pending.length > 0 || p.left != Open(free) {
		return 0, false
	}
	list := p.state.running.list()
	if len(list) > 0 && list[0].End < p.made {
		return 0, false
	}
	for i := range list {
		if free += list[i].Units; free >= job.Units {
			return list[i].End, true
		}
	}
	return lastInstant, true
}

// coming is the first gap that is not over.
func (p *plan) coming() int {
	if p.past == 0 {
		return 0
	}
	return p.events[p.past-1].windows
}

// lookUp is the first gap from i on that admits a job, or the number of gaps.
func (p *plan) lookUp(i int, job *PendingJob) int {
	for i < len(p.windows) {
		if i%blockSize == 0 && !p.blocks[i/blockSize].admits(job) {
			i = min(i+blockSize, len(p.windows))
			continue
		}
		if p.windows[i].admits(job) {
			return i
		}
		i++
	}
	return i
}

// advance simulates the next event. It returns false when nothing is to come.
func (p *plan) advance() bool {
	if !p.next() {
		return false
	}
	p.note(p.pass())
	p.events = append(p.events, p.event())
	return true
}

// note keeps what a pass left on its way and at its end.
func (p *plan) note(left BackfillWindow) {
	p.left = left
	p.noteOffers()
	p.record(left, protocol.Never)
}

func (p *plan) noteOffers() {
	for _, o := range p.state.offers {
		p.record(o.BackfillWindow, o.below-1)
	}
}

func (p *plan) event() plannedEvent {
	return plannedEvent{p.state.now, p.state.starts, p.state.pending.length, len(p.windows)}
}

// record keeps an opening for jobs of at most a time.
func (p *plan) record(o BackfillWindow, most protocol.Duration) {
	if o.Free < 1 || most < 1 {
		return
	}
	now := p.state.now
	g := planWindow{at: now, extra: min(o.Free, o.Extra), most: most, free: o.Free, window: min(most, o.Shadow.Sub(now))}
	if len(p.windows)%blockSize == 0 {
		p.blocks = append(p.blocks, g)
	} else {
		p.blocks[len(p.blocks)-1].include(&g)
	}
	p.windows = append(p.windows, g)
}

func (g *planWindow) include(other *planWindow) {
	g.extra, g.most = max(g.extra, other.extra), max(g.most, other.most)
	g.free, g.window = max(g.free, other.free), max(g.window, other.window)
}

// follow takes note that a running job has ended in time and that a pass was
// made. It returns false if the plan did not contain that pass.
func (p *plan) follow(live *ClusterState, left BackfillWindow) bool {
	if len(p.events) > maxEvents || p.past == len(p.events) && !p.advance() {
		return false
	}
	e := p.events[p.past]
	p.past++
	p.remade(live, left)
	return e.at == live.now && e.starts == live.starts
}

// remade makes the plan that of a later state.
func (p *plan) remade(live *ClusterState, left BackfillWindow) {
	p.first, p.made, p.due = left, live.now, lastInstant
	if r := live.running.first(); r != nil {
		p.due = r.End
	}
}

// join takes note of a newcomer that waits. It returns false if it changes more of
// what is simulated already than the last event: if it would have started before,
// or been the head.
func (p *plan) join(job PendingJob) bool {
	if job.extras != 0 || job.flexible() {
		return false // its start is no lookup
	}
	i, n := p.lookUp(p.coming(), &job), len(p.events)
	if i == len(p.windows) && (n == p.past || p.events[n-1].queued > 0) {
		p.state.enqueue(&job)
		return true
	}
	first := p.lastWindow()
	if n == p.past || n-1 > p.past && p.events[n-2].queued == 0 || i < first || len(p.state.offers) > 0 {
		return false
	}
	p.dropWindows(first)
	p.state.enqueue(&job)
	p.note(p.pass())
	p.events[n-1] = p.event()
	return true
}

// lastWindow is the first gap of the last event.
func (p *plan) lastWindow() int {
	if n := len(p.events); n > 1 {
		return p.events[n-2].windows
	}
	return 0
}

// dropWindows forgets the gaps from one on.
func (p *plan) dropWindows(from int) {
	p.windows = p.windows[:from]
	p.blocks = p.blocks[:len(p.windows)/blockSize]
	rest := p.windows[len(p.blocks)*blockSize:]
	if len(rest) == 0 {
		return
	}
	most := rest[0]
	for i := range rest {
		most.include(&rest[i])
	}
	p.blocks = append(p.blocks, most)
}
