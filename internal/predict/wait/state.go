package wait

import "github.com/switchyard-hpc/switchyard/protocol"

// The largest job that a [State] tells apart, so that sums over hundreds of
// thousands of jobs stay in an int64: larger requests count as these.
const (
	maxCPUs     = 1 << 24
	maxEstimate = 366 * protocol.Day
)

// State is what waits and what runs at a batch system, kept as sums, so that an
// arrival's features are a few look-ups whatever the length of the queue.
type State struct {
	cpus   int
	busy   int64 // CPUs
	jobs   map[int64]*held
	queues map[int]*queue
}

// held is a job that waits or runs.
type held struct {
	arrival Arrival
	since   protocol.Instant // it waits, or runs
	runs    bool
}

// queue is the sums over one queue's jobs.
type queue struct {
	waiting, running tally
	users            map[int]*pair
}

type pair struct{ waiting, running tally }

// tally is sums over jobs.
type tally struct {
	jobs     int64
	cpus     int64
	work     int64 // CPUs × estimate, in CPU·ms
	estimate int64 // ms
	since    int64 // the instants since when they wait or run
}

// NewState returns an empty system with a number of CPUs.
func NewState(cpus int) *State {
	return &State{cpus: cpus, jobs: make(map[int64]*held), queues: make(map[int]*queue)}
}

// Arrival tells what a job would meet now, without submitting it.
func (s *State) Arrival(now protocol.Instant, job Job) Arrival {
	job.CPUs = min(max(job.CPUs, 1), maxCPUs)
	job.Estimate = min(max(job.Estimate, 0), maxEstimate)
	arrival := Arrival{Job: job, At: now, Empty: len(s.jobs) == 0}
	f := &arrival.Meets
	f[FeatureCPUs] = float64(job.CPUs)
	f[FeatureEstimate] = seconds(job.Estimate)
	f[FeatureArrival] = seconds(protocol.Duration(now))
	f[FeatureFree] = float64(max(int64(s.cpus)-s.busy, 0))
	q, ok := s.queues[job.Queue]
	if !ok {
		return arrival
	}
	if own, ok := q.users[job.User]; ok && job.User != UnknownUser {
		own.waiting.describe(f[FeatureUserWaiting:])
		own.running.describe(f[FeatureUserRunning:])
	}
	f[FeatureWaitingEstimate] = float64(q.waiting.estimate) / ms
	f[FeatureWaitingCPUs] = float64(q.waiting.cpus)
	f[FeatureWaitingElapsed] = q.waiting.elapsed(now)
	f[FeatureRunningEstimate] = float64(q.running.estimate) / ms
	f[FeatureRunningCPUs] = float64(q.running.cpus)
	f[FeatureRunningElapsed] = q.running.elapsed(now)
	return arrival
}

// Submit puts the job of an arrival into the queue at the arrival's instant. One
// that is known already stays as it is, and ok is false.
func (s *State) Submit(a Arrival) (event Event, ok bool) {
	if _, known := s.jobs[a.Job.ID]; known {
		return Event{}, false
	}
	h := &held{arrival: a, since: a.At}
	s.jobs[a.Job.ID] = h
	s.count(h, 1)
	return Event{Kind: Submitted, At: a.At, Arrival: a}, true
}

// Start moves a job from the queue to those that run; ok is false if it does not
// wait.
func (s *State) Start(now protocol.Instant, id int64) (event Event, ok bool) {
	h, known := s.jobs[id]
	if !known || h.runs {
		return Event{}, false
	}
	s.count(h, -1)
	h.runs, h.since = true, now
	s.count(h, 1)
	s.busy += int64(h.arrival.Job.CPUs)
	return Event{Kind: Started, At: now, Arrival: h.arrival, Wait: max(now.Sub(h.arrival.At), 0)}, true
}

// Leave forgets a job that has ended, or was withdrawn before it started; ok is
// false if it is not known.
func (s *State) Leave(now protocol.Instant, id int64) (event Event, ok bool) {
	h, known := s.jobs[id]
	if !known {
		return Event{}, false
	}
	s.count(h, -1)
	delete(s.jobs, id)
	event = Event{Kind: Withdrawn, At: now, Arrival: h.arrival}
	if h.runs {
		s.busy -= int64(h.arrival.Job.CPUs)
		event.Kind = Ended
	}
	return event, true
}

// count adds a job to the sums, or with sign −1 takes it away.
func (s *State) count(h *held, sign int64) {
	job := h.arrival.Job
	q, ok := s.queues[job.Queue]
	if !ok {
		q = &queue{users: make(map[int]*pair)}
		s.queues[job.Queue] = q
	}
	own, ok := q.users[job.User]
	if !ok {
		own = &pair{}
		q.users[job.User] = own
	}
	if h.runs {
		q.running.add(h, sign)
		own.running.add(h, sign)
	} else {
		q.waiting.add(h, sign)
		own.waiting.add(h, sign)
	}
	if own.waiting.jobs+own.running.jobs == 0 {
		delete(q.users, job.User)
	}
	if len(q.users) == 0 {
		delete(s.queues, job.Queue)
	}
}

func (t *tally) add(h *held, sign int64) {
	job := h.arrival.Job
	t.jobs += sign
	t.cpus += sign * int64(job.CPUs)
	t.work += sign * int64(job.CPUs) * int64(job.Estimate)
	t.estimate += sign * int64(job.Estimate)
	t.since += sign * int64(h.since)
}

// describe writes the four features of the same user.
func (t *tally) describe(features []float64) {
	features[0] = float64(t.jobs)
	features[1] = float64(t.work) / ms
	features[2] = float64(t.cpus)
	features[3] = float64(t.estimate) / ms
}

// elapsed is how long the jobs have waited or run, in seconds.
func (t *tally) elapsed(now protocol.Instant) float64 {
	return float64(max(t.jobs*int64(now)-t.since, 0)) / ms
}
