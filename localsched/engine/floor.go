package engine

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Waiting is a queued job as policies see it.
type Waiting struct {
	Units int
	Time  protocol.Duration // the estimate, at least 1 ms
	order uint64            // of submission
	slot  int               // of the engine's job, or one of those below
}

// Slots of jobs that exist only in a plan.
const (
	aheadSlot    = -1
	newcomerSlot = -2
)

// Running is a job that runs.
type Running struct {
	End    protocol.Instant // by the estimate; it may have passed
	Units  int
	Place  Place
	order  uint64 // of starting
	slot   int
	killed bool // its end was asked for
}

// Floor is the machine at one time, with the jobs that run on it and those that
// wait: the live one, or one in a plan. Policies read it and start jobs on it.
type Floor struct {
	now     protocol.Instant
	room    Room
	beside  Room // what Reserve returns
	waiting list[Waiting, least]
	running list[Running, struct{}]
	starts  uint64    // jobs started so far
	started []Running // since the driver of the floor last looked
}

func newFloor(m Machine, p Policy) Floor {
	return Floor{
		room:   m.Room(),
		beside: m.Room(),
		waiting: list[Waiting, least]{
			summary: leastOf,
			compare: func(a, b Waiting) int {
				if c := p.Compare(a, b); c != 0 {
					return c
				}
				return cmp.Compare(a.order, b.order)
			},
		},
		running: list[Running, struct{}]{
			summary: func([]Running) struct{} { return struct{}{} },
			compare: func(a, b Running) int {
				if a.End != b.End {
					return cmp.Compare(a.End, b.End)
				}
				return cmp.Compare(a.order, b.order)
			},
		},
	}
}

// Now is the time of the pass.
func (f *Floor) Now() protocol.Instant { return f.now }

// Room is what is free now. Only [Floor.Start] may change it.
func (f *Floor) Room() Room { return f.room }

// Head is the first job of the queue.
func (f *Floor) Head() (Waiting, bool) { return f.waiting.first() }

// At is the job at a place that Next returned.
func (f *Floor) At(c Cursor) Waiting { return *f.waiting.at(c) }

// Next is the place of the first job at or behind c that the opening admits. A
// machine whose units are not alike may still have no place for it.
func (f *Floor) Next(c Cursor, o Opening) (Cursor, bool) {
	if o.Free < 1 {
		return c, false
	}
	window, class := o.Shadow.Sub(f.now), classOf(o.Free)
	for ; c.chunk < len(f.waiting.chunks); c = (Cursor{chunk: c.chunk + 1}) {
		at := &f.waiting.chunks[c.chunk]
		if !o.admits(window, at.summary.units, at.summary.time[class]) {
			continue
		}
		for ; c.index < len(at.items); c.index++ {
			if job := &at.items[c.index]; o.admits(window, job.Units, job.Time) {
				return c, true
			}
		}
	}
	return c, false
}

// Start takes the job at c out of the queue and starts it at a place that
// [Room.Find] gave.
func (f *Floor) Start(c Cursor, place Place) {
	job := *f.waiting.at(c)
	f.waiting.remove(c)
	f.run(job, f.now, place)
}

// StartHeads starts jobs from the head of the queue while they fit.
func (f *Floor) StartHeads() {
	for {
		head, ok := f.Head()
		if !ok {
			return
		}
		place, ok := f.room.Find(head.Units, nil)
		if !ok {
			return
		}
		f.Start(Cursor{}, place)
	}
}

// Reserve finds the shadow of a job that does not fit now: the earliest time at
// which it fits if all running jobs end as estimated. One at or past its estimate
// may end at any moment, so that nothing the job needs of it is lent meanwhile.
// The room is what is free at the shadow beside the job, all jobs that end at the
// shadow counted as ended. It holds until the next Reserve.
func (f *Floor) Reserve(job Waiting) (shadow protocol.Instant, beside Room) {
	beside, shadow = f.beside, lastInstant
	beside.CopyFrom(f.room)
	place, found := Place(0), false
	for i := range f.running.chunks {
		for j := range f.running.chunks[i].items {
			r := &f.running.chunks[i].items[j]
			end := max(r.End, f.now)
			if found && end > shadow {
				beside.Take(job.Units, place)
				return shadow, beside
			}
			beside.Give(r.Units, r.Place)
			if !found && beside.Free() >= job.Units {
				if place, found = beside.Find(job.Units, nil); found {
					shadow = end
				}
			}
		}
	}
	if found {
		beside.Take(job.Units, place)
	}
	return shadow, beside
}

// run starts a job that stands in no queue.
func (f *Floor) run(job Waiting, started protocol.Instant, place Place) {
	f.starts++
	r := Running{End: started.Add(job.Time), Units: job.Units, Place: place, order: f.starts, slot: job.slot}
	f.room.Take(job.Units, place)
	f.running.insert(r)
	f.started = append(f.started, r)
}

// end takes the running job at c away.
func (f *Floor) end(c Cursor) {
	r := *f.running.at(c)
	f.running.remove(c)
	f.room.Give(r.Units, r.Place)
}

// overdue says whether a running job is past its estimate.
func (f *Floor) overdue() bool {
	next, ok := f.running.first()
	return ok && next.End < f.now
}

// copyFrom makes the floor equal to another one of the same machine.
func (f *Floor) copyFrom(other *Floor) {
	f.now, f.starts = other.now, other.starts
	f.room.CopyFrom(other.room)
	f.waiting.copyFrom(&other.waiting)
	f.running.copyFrom(&other.running)
	f.started = f.started[:0]
}
