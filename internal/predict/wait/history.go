package wait

import "math"

// History is the jobs that started last: what they met and how long they waited.
type History struct {
	meets  []Features
	waits  []float64 // seconds
	users  []int
	queues []int
	limit  int
	next   int // place of the next job, once the history is full
	seen   int // jobs, ever

	ranges    [FeatureCount]span // ever seen
	waitRange span
}

// span is the least and largest of some values.
type span struct{ low, high float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s span) with(v float64) span { return span{min(s.low, v), max(s.high, v)} }

// width is 0 of no values.
func (s span) width() float64 { return max(s.high-s.low, 0) }

// NewHistory returns a history of at most limit jobs, and at least one.
func NewHistory(limit int) *History {
	h := &History{limit: max(limit, 1), waitRange: newSpan()}
	for f := range h.ranges {
		h.ranges[f] = newSpan()
	}
	return h
}

// Len is how many jobs the history has.
func (h *History) Len() int { return len(h.waits) }

// Add notes a job that started. A full history forgets its oldest.
func (h *History) Add(started Event) {
	a, waited := started.Arrival, seconds(started.Wait)
	if h.Len() < h.limit {
		h.meets = append(h.meets, a.Meets)
		h.waits = append(h.waits, waited)
		h.users = append(h.users, a.Job.User)
		h.queues = append(h.queues, a.Job.Queue)
	} else {
		h.meets[h.next], h.waits[h.next], h.users[h.next], h.queues[h.next] = a.Meets, waited, a.Job.User, a.Job.Queue
		h.next = (h.next + 1) % h.limit
	}
	h.seen++
	h.waitRange = h.waitRange.with(waited)
	for f := range h.ranges {
		h.ranges[f] = h.ranges[f].with(a.Meets[f])
	}
}

// width is the running range of a feature with an arrival that is asked about
// counted in, so that no distance exceeds 1.
func (h *History) width(feature int, asked float64) float64 {
	return h.ranges[feature].with(asked).width()
}

// column is one feature of all jobs.
func (h *History) column(feature int, into []float64) []float64 {
	into = into[:0]
	for i := range h.meets {
		into = append(into, h.meets[i][feature])
	}
	return into
}
