package engine

import (
	"iter"
	"slices"
	"sort"
)

// Chunks of the queue, and groups of chunks. Larger ones are passed over faster,
// smaller ones changed faster.
const (
	chunkSize = 32
	groupSize = 16
)

// queue holds the waiting jobs in order of rank and submission. They stand in
// chunks; each chunk and each run of groupSize chunks is bounded from below, so
// that a search passes over most of a long queue unread. A bound may be too low
// after a removal; a search that it has misled puts it right.
type queue struct {
	chunks []*chunk // none is empty
	groups []group  // of the chunks from groupSize·i on
	length int
	spare  []*chunk
}

type chunk struct {
	jobs  []PendingJob
	low   sizeBound
	loose bool // low may be too low
}

type group struct {
	low   sizeBound
	loose bool
}

// Cursor is a place in the queue. The zero Cursor is its beginning. Removing the
// job at a cursor leaves the cursor at the job that followed.
type Cursor struct{ chunk, index int }

// After is the place behind the job at c.
func (c Cursor) After() Cursor { return Cursor{c.chunk, c.index + 1} }

// before is the order of the queue.
func (w *PendingJob) before(other *PendingJob) bool {
	return w.rank < other.rank || (w.rank == other.rank && w.order < other.order)
}

// first is the head, nil when the queue is empty.
func (q *queue) first() *PendingJob {
	if q.length == 0 {
		return nil
	}
	return &q.chunks[0].jobs[0]
}

func (q *queue) at(c Cursor) *PendingJob { return &q.chunks[c.chunk].jobs[c.index] }

// valid moves a cursor at the end of a chunk to the next, and reports whether there
// is a job.
func (q *queue) valid(c Cursor) (Cursor, bool) {
	if c.chunk < len(q.chunks) && c.index == len(q.chunks[c.chunk].jobs) {
		c = Cursor{chunk: c.chunk + 1}
	}
	return c, c.chunk < len(q.chunks)
}

// all yields the jobs in order. Their rank, order, size and time must stay.
func (q *queue) all() iter.Seq[*PendingJob] {
	return func(yield func(*PendingJob) bool) {
		for _, at := range q.chunks {
			for i := range at.jobs {
				if !yield(&at.jobs[i]) {
					return
				}
			}
		}
	}
}

// next is the first place at or behind c whose job is asked for.
func (q *queue) next(c Cursor, a *jobQuery) (Cursor, bool) {
	from := c
	for c.chunk < len(q.chunks) {
		if c.index == 0 && c.chunk%groupSize == 0 {
			q.tighten(from, c.chunk/groupSize-1)
			if !a.mayAdmit(&q.groups[c.chunk/groupSize].low) {
				c.chunk += groupSize
				from = c
				continue
			}
		}
		if at := q.chunks[c.chunk]; a.mayAdmit(&at.low) {
			if i, ok := at.next(c.index, a); ok {
				return Cursor{c.chunk, i}, true
			}
			if at.loose {
				at.bound()
				q.groups[c.chunk/groupSize].loose = true
			}
		}
		c = Cursor{chunk: c.chunk + 1}
	}
	q.tighten(from, len(q.groups)-1)
	return c, false
}

// next is the first index at or behind i whose job is asked for.
func (at *chunk) next(i int, a *jobQuery) (int, bool) {
	jobs := at.jobs
	for j := i; j < len(jobs); j++ {
		if a.admits(&jobs[j]) {
			return j, true
		}
	}
	return 0, false
}

// bound makes the chunk's bound exact.
func (at *chunk) bound() {
	at.low, at.loose = sizeBoundOf(at.jobs), false
}

// tighten makes the bound of a group right after a search that began at or
// before the group found nothing in it.
func (q *queue) tighten(from Cursor, index int) {
	if index < 0 || from.index > 0 || from.chunk > index*groupSize || !q.groups[index].loose {
		return
	}
	q.bound(index)
}

// bound makes a group's bound that of its chunks' bounds.
func (q *queue) bound(index int) {
	g := &q.groups[index]
	g.low, g.loose = noJobs(), false
	for _, at := range q.chunks[index*groupSize : min(len(q.chunks), (index+1)*groupSize)] {
		g.low.merge(&at.low)
	}
}

func (q *queue) insert(job *PendingJob) {
	c := q.search(job)
	if len(q.chunks) == 0 || len(q.chunks[c.chunk].jobs) == chunkSize {
		c = q.split(c)
	}
	q.length++
	at := q.chunks[c.chunk]
	at.jobs = slices.Insert(at.jobs, c.index, *job)
	at.low.include(job)
	q.groups[c.chunk/groupSize].low.include(job)
}

func (q *queue) remove(c Cursor) {
	q.length--
	at, in := q.chunks[c.chunk], &q.groups[c.chunk/groupSize]
	job := &at.jobs[c.index]
	at.loose, in.loose = at.loose || at.low.rests(job), in.loose || in.low.rests(job)
	at.jobs = slices.Delete(at.jobs, c.index, c.index+1)
	if len(at.jobs) == 0 {
		q.removeChunk(c.chunk)
	}
}

// find is where the job stands that has the rank and the order of this one.
func (q *queue) find(job *PendingJob) (c Cursor, ok bool) {
	c, ok = q.valid(q.search(job))
	return c, ok && q.at(c).order == job.order
}

// search is the first place whose job does not come before the given one, in the
// last chunk that begins no later than it.
func (q *queue) search(job *PendingJob) Cursor {
	last := len(q.chunks) - 1
	if last < 0 {
		return Cursor{}
	}
	if jobs := q.chunks[last].jobs; jobs[len(jobs)-1].before(job) {
		return Cursor{last, len(jobs)}
	}
	at := sort.Search(last, func(i int) bool { return job.before(&q.chunks[i+1].jobs[0]) })
	return Cursor{at, q.chunks[at].search(job)}
}

// search is the first index whose job does not come before the given one.
func (at *chunk) search(job *PendingJob) int {
	low, high := 0, len(at.jobs)
	for low < high {
		middle := int(uint(low+high) / 2)
		if at.jobs[middle].before(job) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// split makes room in the full chunk at c and returns where c has moved. Behind
// the end it begins a new chunk, so that a queue which only grows stays dense.
func (q *queue) split(c Cursor) Cursor {
	if len(q.chunks) == 0 {
		q.insertChunk(0, q.newChunk())
		return Cursor{}
	}
	rest := q.newChunk()
	if c.index == chunkSize {
		q.insertChunk(c.chunk+1, rest)
		return Cursor{c.chunk + 1, 0}
	}
	const half = chunkSize / 2
	full := q.chunks[c.chunk]
	rest.jobs = append(rest.jobs, full.jobs[half:]...)
	full.jobs = full.jobs[:half]
	full.bound()
	rest.bound()
	q.insertChunk(c.chunk+1, rest)
	if c.index > half {
		return Cursor{c.chunk + 1, c.index - half}
	}
	return c
}

// insertChunk moves a chunk over each later border of groups.
func (q *queue) insertChunk(at int, one *chunk) {
	q.chunks = slices.Insert(q.chunks, at, one)
	if len(q.groups)*groupSize < len(q.chunks) {
		q.groups = append(q.groups, group{low: noJobs()})
	}
	q.groups[at/groupSize].low.merge(&one.low)
	for i := at/groupSize + 1; i < len(q.groups); i++ {
		q.groups[i].low.merge(&q.chunks[i*groupSize].low)
		q.groups[i-1].loose = true
	}
}

// removeChunk does the same the other way.
func (q *queue) removeChunk(at int) {
	q.spare = append(q.spare, q.chunks[at])
	q.chunks = slices.Delete(q.chunks, at, at+1)
	for i := at / groupSize; i < len(q.groups); i++ {
		if last := (i+1)*groupSize - 1; last < len(q.chunks) {
			q.groups[i].low.merge(&q.chunks[last].low)
		}
		q.groups[i].loose = true
	}
	if (len(q.groups)-1)*groupSize >= len(q.chunks) {
		q.groups = q.groups[:len(q.groups)-1]
	}
}

func (q *queue) newChunk() *chunk {
	n := len(q.spare)
	if n == 0 {
		return &chunk{jobs: make([]PendingJob, 0, chunkSize), low: noJobs()}
	}
	at := q.spare[n-1]
	q.spare = q.spare[:n-1]
	at.jobs, at.low, at.loose = at.jobs[:0], noJobs(), false
	return at
}

// clear empties the queue.
func (q *queue) clear() {
	q.spare = append(q.spare, q.chunks...)
	q.chunks, q.groups, q.length = q.chunks[:0], q.groups[:0], 0
}

func (q *queue) copyFrom(other *queue) {
	q.clear()
	for _, from := range other.chunks {
		at := q.newChunk()
		at.jobs = append(at.jobs, from.jobs...)
		at.low, at.loose = from.low, from.loose
		q.chunks = append(q.chunks, at)
	}
	q.groups = append(q.groups, other.groups...)
	q.length = other.length
}

// last is the place of the last job.
func (q *queue) last() (Cursor, bool) { return q.previous(Cursor{chunk: len(q.chunks)}) }

// previous is the place before the job at c.
func (q *queue) previous(c Cursor) (Cursor, bool) {
	if c.index > 0 {
		return Cursor{c.chunk, c.index - 1}, true
	}
	if c.chunk == 0 {
		return c, false
	}
	return Cursor{c.chunk - 1, len(q.chunks[c.chunk-1].jobs) - 1}, true
}
