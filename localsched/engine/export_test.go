package engine

import "github.com/switchyard-hpc/switchyard/protocol"

// PlanAlone is Plan without lookups: every job is simulated in a future of its
// own.
func (e *Engine) PlanAlone(now protocol.Instant, ahead, jobs []protocol.Request) []Planned {
	slow := *e
	slow.lookup = false
	return slow.Plan(now, ahead, jobs)
}

// Check says what is wrong with the engine's books, if anything.
func (e *Engine) Check() string {
	busy, queued := 0, work{}
	for r := range e.floor.running.all() {
		busy += r.Units
		if entry := e.book.entries[r.slot]; !entry.started {
			return "a running job is booked as waiting"
		}
	}
	for w := range e.floor.waiting.all() {
		queued.add(e.workOf(*w))
		if entry := e.book.entries[w.slot]; entry.started {
			return "a waiting job is booked as running"
		}
	}
	total := e.machine.Room().Free()
	switch {
	case busy != e.busy || total-busy != e.floor.room.Free():
		return "busy units do not add up"
	case busy > total:
		return "more units are busy than exist"
	case queued != e.work:
		return "queued work does not add up"
	case len(e.book.slots) != e.floor.running.length+e.floor.waiting.length:
		return "the book and the floor have different jobs"
	}
	return checkList(&e.floor.waiting) + checkList(&e.floor.running)
}

func checkList[T any, S comparable](l *list[T, S]) string {
	var last *T
	length := 0
	for _, c := range l.chunks {
		if len(c.items) == 0 || len(c.items) > chunkSize {
			return "a chunk is empty or too long"
		}
		if l.summary(c.items) != c.summary {
			return "a chunk's summary is stale"
		}
		for i := range c.items {
			if last != nil && l.compare(*last, c.items[i]) >= 0 {
				return "a list is out of order"
			}
			last = &c.items[i]
		}
		length += len(c.items)
	}
	if length != l.length {
		return "a list's length is wrong"
	}
	return ""
}
