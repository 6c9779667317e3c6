package mincostflow

import "slices"

// moves knows the cheapest job to move from one system to another; from a to b is
// the pair a*systems+b, with the unserved among the systems.
//
// It knows only the offers that were listed. All others cost more than slack, and
// do not become cheapest before the prices of two systems have moved apart by more.
type moves struct {
	length []int64   // of each pair: extra cost of the cheapest job, shifted, plus one arc; or far
	queue  [][]int64 // of each pair: a heap of jobs

	offers []offer // each job's, one after the other
	start  []int32 // of each job's offers, and the end of the last one's
	slack  int64   // -1 if nothing is listed
	base   []int64 // the prices when the lists were made

	surveyed bool // lengths are of all pairs; not so any more once a job has moved

	arena []int64 // what queues are cut from
}

// spare is the room in each queue for jobs that arrive.
const spare = 2

// A queue's entry has the extra cost of a move above the job, so that the least
// comes first, of equals the first job.
func entry(extra, job int32) int64 { return int64(extra)<<32 | int64(job) }

func extraOf(entry int64) int64 { return entry >> 32 }

func jobOf(entry int64) int32 { return int32(entry & (1<<32 - 1)) } //nolint:gosec // the low half

// budget is how far prices may be moved without regard to what is not known.
func (m *market) budget() int64 {
	if m.moves.surveyed {
		return far
	}
	return m.moves.slack + 1 - m.spread()
}

// spread is how far prices have moved apart since the lists were made.
func (m *market) spread() int64 {
	low, high := int64(far), int64(-far)
	for v, base := range m.moves.base[:m.sink] {
		change := (m.price[v] - base) >> m.hop
		low, high = min(low, change), max(high, change)
	}
	return high - low
}

// fill makes the queues from the lists.
func (m *market) fill() {
	k, width := m.moves, int(m.sink)
	m.space(len(k.offers) + spare*width*width)
	arena := k.arena
	count := make([]int, width)
	jobs, ends := m.bySystem()
	for a, end := range ends {
		here := jobs[:end]
		jobs = jobs[end:]
		clear(count)
		for _, j := range here {
			for _, o := range k.offers[k.start[j]:k.start[j+1]] {
				count[o.system]++
			}
		}
		queue := k.queue[a*width:][:width]
		for b, n := range count {
			size := n + spare
			queue[b], arena = arena[:0:size], arena[size:]
		}
		for _, j := range here {
			for _, o := range k.offers[k.start[j]:k.start[j+1]] {
				queue[o.system] = append(queue[o.system], entry(o.cost-m.here[j], j))
			}
		}
		queue[a] = queue[a][:0]
		for b := range queue {
			heapify(queue[b])
			m.measurePair(a*width + b)
		}
	}
}

// space grows the tables to the given number of entries.
func (m *market) space(entries int) {
	k, pairs := m.moves, int(m.sink)*int(m.sink)
	if len(k.queue) != pairs {
		k.queue = make([][]int64, pairs)
		k.length = make([]int64, pairs)
	}
	if len(k.arena) < entries {
		k.arena = make([]int64, entries)
	}
}

// bySystem is all jobs, system by system, and how many each has.
func (m *market) bySystem() (jobs []int32, load []int) {
	load = make([]int, m.sink)
	for _, a := range m.at {
		load[a]++
	}
	next := make([]int, m.sink)
	for a := range next[1:] {
		next[a+1] = next[a] + load[a]
	}
	jobs = make([]int32, m.jobs)
	for j, a := range m.at {
		jobs[next[a]] = int32(j)
		next[a]++
	}
	return jobs, load
}

// measurePair sets the length of a pair by the first in its queue.
func (m *market) measurePair(pair int) {
	k := m.moves
	k.length[pair] = far
	if queue := k.queue[pair]; len(queue) > 0 {
		k.length[pair] = extraOf(queue[0])<<m.hop + 1
	}
}

// first is the cheapest job to move from a to b. Jobs that have left a are struck.
func (m *market) first(a, b int32) (job int32, ok bool) {
	pair := int(a)*int(m.sink) + int(b)
	queue := m.moves.queue[pair]
	struck := false
	for len(queue) > 0 && m.at[jobOf(queue[0])] != a {
		queue = pop(queue)
		struck = true
	}
	if struck {
		m.moves.queue[pair] = queue
		m.measurePair(pair)
	}
	if len(queue) == 0 {
		return 0, false
	}
	return jobOf(queue[0]), true
}

// move moves a job from a to b.
func (m *market) move(job, a, b int32) {
	k := m.moves
	m.at[job], m.here[job] = b, m.cost(job, b)
	for _, o := range k.offers[k.start[job]:k.start[job+1]] {
		if o.system != a {
			m.first(a, o.system)
		}
		if o.system != b {
			pair := int(b)*int(m.sink) + int(o.system)
			k.queue[pair] = push(k.queue[pair], entry(o.cost-m.here[job], job))
			m.measurePair(pair)
		}
	}
}

// survey finds the cheapest move between any two systems by asking all jobs, and
// forgets the lists.
func (m *market) survey() {
	m.unlist()
	k, width := m.moves, int(m.sink)
	k.surveyed = true
	m.space(width * width)
	cheapest := slices.Repeat([]int64{far}, width*width)
	for j := range int32(m.jobs) { //nolint:gosec // within MaxJobs
		here := m.here[j]
		to := cheapest[int(m.at[j])*width:][:width]
		for s, c := range m.row(j) {
			if c != Missing {
				to[s] = min(to[s], entry(c-here, j))
			}
		}
		to[width-1] = min(to[width-1], entry(-here, j))
	}
	for pair, move := range cheapest {
		k.queue[pair] = k.arena[pair : pair : pair+1]
		if move != far && pair/width != pair%width {
			k.queue[pair] = append(k.queue[pair], move)
		}
		m.measurePair(pair)
	}
}
