package engine

import (
	"slices"
	"sort"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Planned is when a job would start.
type Planned struct {
	Start    protocol.Instant // the last instant when no start is in sight
	Declined string           // why it never would; empty: it would
}

// Plan says for each job alone when it would start if it were submitted now,
// after the ahead requests, if nothing else arrived, all estimates held and jobs
// past their estimate ended in the next millisecond. Requests ahead that never
// fit are passed over. Plan changes nothing that other calls can see.
func (e *Engine) Plan(now protocol.Instant, ahead, jobs []protocol.Request) []Planned {
	now = max(now, e.floor.now)
	start := func(job Waiting) protocol.Instant { return e.trialAt(now, ahead).start(job) }
	if e.lookup {
		p := e.planAt(now, ahead)
		start = func(job Waiting) protocol.Instant { return p.start(now, job) }
	}
	planned := make([]Planned, len(jobs))
	for i := range jobs {
		job, reason := size(e.machine, jobs[i])
		if reason != "" {
			planned[i].Declined = reason
			continue
		}
		planned[i].Start = start(job)
	}
	return planned
}

// planAt is the plan of the present state with the ahead requests.
func (e *Engine) planAt(now protocol.Instant, ahead []protocol.Request) *plan {
	p := &e.plan
	if p.version != e.version || !p.holds(now) || !slices.Equal(p.ahead, ahead) {
		p.version = e.version
		p.ahead = append(p.ahead[:0], ahead...)
		p.begin(&e.floor, now, ahead)
	}
	return p
}

// plan is the future of one state, from which quotes are looked up. It is
// simulated as far as quotes have asked for. Of the openings it keeps only what
// an earlier one did not offer.
type plan struct {
	future
	version uint64
	ahead   []protocol.Request
	moving  bool    // jobs start as soon as it is made
	first   Opening // left when it is made

	rooms []room // rising units
	gaps  []gap
	front []gap // the gaps that no other one covers: rising units, falling window
}

// room is where a job of so many units starts whatever its length.
type room struct {
	units int
	at    protocol.Instant
}

// gap is where a job starts if it is small and short enough.
type gap struct {
	units  int
	window protocol.Duration
	at     protocol.Instant
}

// holds says whether a plan of the same state is still right at a later time:
// not if a job would have started at the earlier one, or is past its estimate,
// since the rest then depends on the time.
func (p *plan) holds(now protocol.Instant) bool {
	if now == p.made {
		return true
	}
	return now > p.made && !p.moving && now <= p.due
}

func (p *plan) begin(live *Floor, now protocol.Instant, ahead []protocol.Request) {
	p.future.begin(live, now)
	for _, r := range ahead {
		p.submit(r)
	}
	p.first = p.pass()
	p.moving = len(p.floor.started) > 0
	p.rooms, p.gaps, p.front = p.rooms[:0], p.gaps[:0], p.front[:0]
}

// start is when a job that is last in the queue starts.
func (p *plan) start(now protocol.Instant, job Waiting) protocol.Instant {
	if p.first.Admits(now, job.Units, job.Time) {
		return now
	}
	if at, ok := p.lookUp(job); ok {
		return at
	}
	for p.endNext() {
		left := p.pass()
		p.record(left)
		if left.Admits(p.floor.now, job.Units, job.Time) {
			return p.floor.now
		}
	}
	return lastInstant
}

// lookUp is the first recorded time at which the job starts.
func (p *plan) lookUp(job Waiting) (protocol.Instant, bool) {
	at, found := lastInstant, false
	i := sort.Search(len(p.rooms), func(i int) bool { return p.rooms[i].units >= job.Units })
	if i < len(p.rooms) {
		at, found = p.rooms[i].at, true
	}
	for _, g := range p.gaps {
		if g.at >= at {
			break
		}
		if job.Units <= g.units && job.Time <= g.window {
			return g.at, true
		}
	}
	return at, found
}

// record keeps what an opening offers beyond the earlier ones.
func (p *plan) record(o Opening) {
	now := p.floor.now
	units := min(o.Free, o.Extra)
	if n := len(p.rooms); units > 0 && (n == 0 || units > p.rooms[n-1].units) {
		p.rooms = append(p.rooms, room{units, now})
	}
	if g := (gap{o.Free, o.Shadow.Sub(now), now}); o.Free > units && p.widens(g) {
		p.gaps = append(p.gaps, g)
	}
}

// widens says whether no earlier gap covers g, and if so puts it in front.
func (p *plan) widens(g gap) bool {
	end := sort.Search(len(p.front), func(i int) bool { return p.front[i].units >= g.units })
	if end < len(p.front) && p.front[end].window >= g.window {
		return false
	}
	if end < len(p.front) && p.front[end].units == g.units {
		end++
	}
	begin := sort.Search(end, func(i int) bool { return p.front[i].window <= g.window })
	p.front = slices.Replace(p.front, begin, end, g)
	return true
}
