package engine

import (
	"sort"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// profile is what is free from now on if all estimates hold and each reserved
// job runs when it was promised to. Only policies that reserve use it.
type profile struct {
	pool     bool
	sets     bool // each step has its free set: numbers of units do not say all
	made     bool
	firm     bool             // no job could be given an earlier start
	freed    bool             // a job has left since the last pass
	restored bool             // pending jobs have planned starts from before a restart, which are not in the profile yet
	due      protocol.Instant // the first reserved start of a job that waits, or unreserved
	wake     protocol.Instant // the first that a pass must be made for; 0: none
	steps    []step           // rising; the last lasts for ever
	begin    int              // steps before it are over
	spare    []FreeSet
	fresh    func() FreeSet
	common   FreeSet // what is free in several steps
}

// step is what is free from one time until the next step.
type step struct {
	at      protocol.Instant
	free    int
	freeSet FreeSet // nil where the number of units is all
}

// same says whether two steps of a pool have the same free.
func (s *step) same(other *step) bool {
	if s.free != other.free || s.freeSet == nil {
		return s.free == other.free
	}
	a, isCounted := s.freeSet.(*countedSet)
	b, _ := other.freeSet.(*countedSet)
	return isCounted && a.same(b)
}

// overdrawn says whether more is allocated than there is, in a pool.
func (s *step) overdrawn() bool {
	set, ok := s.freeSet.(*countedSet)
	return s.free < 0 || ok && set.overdrawn()
}

func newProfile(m Machine) profile {
	return profile{pool: m.Pool(), sets: !m.Pool() || countsExtras(m), fresh: m.NewFreeSet, common: m.NewFreeSet(), due: unreserved}
}

// forget drops the profile. The next pass gives every job a new start.
func (p *profile) forget() { p.made, p.firm, p.due, p.wake = false, false, unreserved, 0 }

// reset makes the profile of a free set without pending jobs.
func (p *profile) reset(now protocol.Instant, room FreeSet) {
	for _, s := range p.steps[p.begin:] {
		p.drop(s)
	}
	p.steps, p.begin = append(p.steps[:0], step{at: now, free: room.Free()}), 0
	if p.sets {
		p.steps[0].freeSet = p.copyOf(room)
	}
}

func (p *profile) copyOf(room FreeSet) FreeSet {
	n := len(p.spare)
	if n == 0 {
		p.spare, n = append(p.spare, p.fresh()), 1
	}
	r := p.spare[n-1]
	p.spare = p.spare[:n-1]
	r.CopyFrom(room)
	return r
}

func (p *profile) drop(s step) {
	if s.freeSet != nil {
		p.spare = append(p.spare, s.freeSet)
	}
}

// trim forgets the steps that are over.
func (p *profile) trim(now protocol.Instant) {
	for p.begin+1 < len(p.steps) && p.steps[p.begin+1].at <= now {
		p.drop(p.steps[p.begin])
		p.begin++
	}
	if p.begin > len(p.steps)/2 {
		p.steps, p.begin = p.steps[:copy(p.steps, p.steps[p.begin:])], 0
	}
}

// from is the step that begins at a time, made if there is none.
func (p *profile) from(at protocol.Instant) int {
	i := p.index(at)
	if p.steps[i].at >= at {
		return i
	}
	added := step{at: at, free: p.steps[i].free}
	if p.sets {
		added.freeSet = p.copyOf(p.steps[i].freeSet)
	}
	p.steps = append(p.steps, step{})
	copy(p.steps[i+2:], p.steps[i+1:])
	p.steps[i+1] = added
	return i + 1
}

// index is the step that holds at a time.
func (p *profile) index(at protocol.Instant) int {
	later := sort.Search(len(p.steps)-p.begin-1, func(i int) bool { return p.steps[p.begin+1+i].at > at })
	return p.begin + later
}

// allocate takes units from one time to another; release does the opposite.
func (p *profile) allocate(from, to protocol.Instant, demand Demand, place Place) {
	p.change(from, to, func(s *step) {
		s.free -= demand.Units
		if s.freeSet != nil {
			s.freeSet.Allocate(demand, place)
		}
	})
}

func (p *profile) release(from, to protocol.Instant, demand Demand, place Place) {
	p.change(from, to, func(s *step) {
		s.free += demand.Units
		if s.freeSet != nil {
			s.freeSet.Release(demand, place)
		}
	})
}

func (p *profile) change(from, to protocol.Instant, do func(*step)) {
	if from >= to {
		return
	}
	first := p.from(from)
	last := len(p.steps)
	if to < lastInstant {
		last = p.from(to)
	}
	for i := first; i < last; i++ {
		do(&p.steps[i])
	}
	p.join(last)
	p.join(first)
}

// join drops a step that changes nothing.
func (p *profile) join(i int) {
	if p.pool && i > p.begin && i < len(p.steps) && p.steps[i].same(&p.steps[i-1]) {
		p.drop(p.steps[i])
		p.steps = append(p.steps[:i], p.steps[i+1:]...)
	}
}

// earliest is the first start for a job from now on, and the place.
func (p *profile) earliest(now protocol.Instant, demand Demand, time protocol.Duration) (protocol.Instant, Place) {
	for i := p.index(now); i < len(p.steps); {
		at := max(p.steps[i].at, now)
		place, next, ok := p.fits(i, at.Add(time), demand)
		if ok {
			return at, place
		}
		i = next
	}
	return lastInstant, 0
}

// fits looks for a place that is free from step i to an end. If there is none,
// next is the step to try after it.
func (p *profile) fits(i int, end protocol.Instant, demand Demand) (place Place, next int, ok bool) {
	j := i
	for ; j < len(p.steps) && (j == i || p.steps[j].at < end); j++ {
		s := &p.steps[j]
		if s.free < demand.Units || p.pool && s.freeSet != nil && !s.freeSet.Has(demand, 0) {
			return 0, j + 1, false
		}
	}
	if p.pool {
		return 0, 0, true
	}
	if s, can := p.steps[i].freeSet.(sifter); can && !s.sift(demand, p.steps[i+1:j]) {
		return 0, i + 1, false
	}
	p.common.CopyFrom(p.steps[i].freeSet)
	for _, s := range p.steps[i+1 : j] {
		p.common.Intersect(s.freeSet)
	}
	place, ok = p.common.Find(demand, nil)
	return place, i + 1, ok
}

// hasFree reports whether a place is free from now until an end.
func (p *profile) hasFree(now, end protocol.Instant, demand Demand, place Place) bool {
	for i := p.index(now); i < len(p.steps) && p.steps[i].at < end; i++ {
		s := &p.steps[i]
		if s.free < demand.Units || s.freeSet != nil && !s.freeSet.Has(demand, place) {
			return false
		}
	}
	return true
}

// earlier reports whether a job would be given an earlier start if it gave its own
// up, on machines whose units are alike: whether it fits somewhere before, until
// it would run into the time that is its own already.
func (p *profile) earlier(now protocol.Instant, w *PendingJob) bool {
	i := p.index(now)
	for i < len(p.steps) {
		at := max(p.steps[i].at, now)
		if at >= w.reserved {
			return false
		}
		end := min(at.Add(w.Time), w.reserved)
		_, next, ok := p.fits(i, end, w.Demand())
		if ok {
			return true
		}
		i = next
	}
	return false
}

// ended gives back what a job that has ended was to hold.
func (p *profile) ended(now protocol.Instant, r *Running) {
	p.freed = true
	if !p.made || r.End == now {
		return
	}
	if r.End < now {
		p.forget()
		return
	}
	p.trim(now)
	p.release(now, r.End, r.Demand(), r.Place)
	p.firm = false
}

// note takes a reserved start into account.
func (p *profile) note(at protocol.Instant) {
	if p.due == unreserved || at < p.due {
		p.due = at
	}
}

// withdrawn gives back what a job was promised.
func (p *profile) withdrawn(now protocol.Instant, w PendingJob) {
	p.freed = true
	if !p.made || w.reserved == unreserved {
		return
	}
	if w.reserved < now {
		p.forget()
		return
	}
	p.trim(now)
	p.release(w.reserved, w.reserved.Add(w.Time), w.Demand(), w.place)
	p.firm = false
}

func (p *profile) copyFrom(other *profile) {
	for _, s := range p.steps[p.begin:] {
		p.drop(s)
	}
	p.steps, p.begin = append(p.steps[:0], other.steps[other.begin:]...), 0
	p.made, p.firm, p.freed, p.restored = other.made, other.firm, other.freed, other.restored
	p.due, p.wake = other.due, other.wake
	if !p.sets {
		return
	}
	for i := range p.steps {
		p.steps[i].freeSet = p.copyOf(p.steps[i].freeSet)
	}
}
