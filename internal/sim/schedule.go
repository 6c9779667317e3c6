package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tie is the rule for events of one time stamp.
type Tie string

// The tie rules. Schedules are comparable only under one rule.
const (
	// TiePyss is that of pyss: submissions before ends, each in its order and each
	// with a pass of its own. What a job holds is free from the time at which its
	// estimate ends, also for a submission that comes before its end.
	TiePyss Tie = "pyss"
	// TieBatch lets all submissions and ends of one time stamp happen, then makes
	// one pass.
	TieBatch Tie = "batch"
)

// ParseTie is the tie rule of a name.
func ParseTie(name string) (Tie, error) {
	switch tie := Tie(name); tie {
	case TiePyss, TieBatch:
		return tie, nil
	}
	return "", fmt.Errorf("no tie rule is called %q; choose %s or %s", name, TiePyss, TieBatch)
}

// NeverStarts is the start of a job that does not fit the machine.
const NeverStarts protocol.Instant = -1

// ErrNoSchedule is wrapped by the error of a workload that cannot be scheduled as
// it stands.
var ErrNoSchedule = errors.New("cannot be scheduled")

// Misfit is a job that never starts, because it would not even run on the empty
// machine.
type Misfit struct {
	Index  int // in the workload
	Reason string
}

// Schedule simulates one site with nothing but the batch engine: when each of the
// jobs starts, in their order, in the time of their submissions. Jobs must come
// in the order of submission. Those that do not fit the machine have
// [NeverStarts] and are listed; the others are scheduled as if these had not
// come. The error wraps [ErrNoSchedule] and names the job.
func Schedule(
	jobs []workload.Job, machine engine.Machine, policy engine.Policy, tie Tie,
) (starts []protocol.Instant, misfits []Misfit, err error) {
	r, err := newSchedule(jobs, machine, policy, tie)
	if err != nil {
		return nil, nil, err
	}
	r.simulate(tie)
	return r.starts, r.misfits, nil
}

// Choice is a pass that chose jobs within a power budget.
type Choice struct {
	At   protocol.Instant
	From []int // indices of the jobs each of which could have started alone
}

// ScheduleChoices is [Schedule] that also returns the passes in which a power budget made the policy
// choose, in the order of time.
func ScheduleChoices(
	jobs []workload.Job, machine engine.Machine, policy engine.Policy, tie Tie,
) (starts []protocol.Instant, choices []Choice, err error) {
	r, err := newSchedule(jobs, machine, policy, tie)
	if err != nil {
		return nil, nil, err
	}
	r.choices = new([]Choice)
	r.simulate(tie)
	return r.starts, *r.choices, nil
}

func newSchedule(jobs []workload.Job, machine engine.Machine, policy engine.Policy, tie Tie) (*scheduleRun, error) {
	if _, err := ParseTie(string(tie)); err != nil {
		return nil, fmt.Errorf("the workload %w: %w", ErrNoSchedule, err)
	}
	if err := checkSchedulable(jobs); err != nil {
		return nil, err
	}
	r := &scheduleRun{
		jobs:   jobs,
		core:   engine.NewCore(machine, policy),
		starts: make([]protocol.Instant, len(jobs)),
	}
	r.core.Expect(len(jobs))
	return r, nil
}

// simulate runs the schedule to its end.
func (r *scheduleRun) simulate(tie Tie) {
	if tie == TieBatch {
		r.run(r.together)
	} else {
		r.run(r.oneByOne)
	}
}

func checkSchedulable(jobs []workload.Job) error {
	last := protocol.Instant(0)
	for i := range jobs {
		job := &jobs[i]
		reason := ""
		switch {
		case job.Submit < last:
			reason = fmt.Sprintf("is submitted at %d ms, before the job ahead of it or the time 0; sort the workload", job.Submit)
		case job.Run < 1:
			reason = "has no run time; clean the workload"
		case job.Estimate < job.Run:
			reason = "runs longer than its estimate; clean the workload"
		}
		if reason != "" {
			return fmt.Errorf("the workload %w: job %d (number %d) %s", ErrNoSchedule, job.ID, i, reason)
		}
		last = job.Submit
	}
	return nil
}

// scheduleRun is one simulation of one site.
type scheduleRun struct {
	jobs    []workload.Job
	core    *engine.Core
	starts  []protocol.Instant
	misfits []Misfit
	pending endHeap
	begun   uint64
	next    int       // the next job to submit
	ended   []realEnd // at the present time
	choices *[]Choice // nil: they are not kept
}

// run goes from one time stamp to the next.
func (r *scheduleRun) run(happen func(now protocol.Instant)) {
	for {
		now, ok := r.nextTime()
		if !ok {
			return
		}
		r.ended = r.ended[:0]
		for len(r.pending) > 0 && r.pending[0].at <= now {
			r.ended = append(r.ended, r.pending.pop())
		}
		happen(now)
		for wake := r.core.Wake(); wake != 0 && wake <= now; wake = 0 {
			r.begin(now, r.core.Pass(now))
		}
	}
}

// nextTime is that of the next submission, end, or reserved start.
func (r *scheduleRun) nextTime() (now protocol.Instant, ok bool) {
	if r.next < len(r.jobs) {
		now, ok = r.jobs[r.next].Submit, true
	}
	if len(r.pending) > 0 && (!ok || r.pending[0].at < now) {
		now, ok = r.pending[0].at, true
	}
	if wake := r.core.Wake(); wake != 0 && (!ok || wake < now) {
		now, ok = wake, true
	}
	return now, ok
}

// oneByOne is [TiePyss].
func (r *scheduleRun) oneByOne(now protocol.Instant) {
	submits := r.next < len(r.jobs) && r.jobs[r.next].Submit == now
	if len(r.ended) > 1 || submits && len(r.ended) > 0 {
		r.expire(now)
	}
	for ; r.next < len(r.jobs) && r.jobs[r.next].Submit == now; r.next++ {
		if w, ok := r.size(); ok {
			r.begin(now, r.core.Submit(now, r.next, w))
		}
	}
	for _, end := range r.ended {
		r.core.End(now, end.job)
		r.begin(now, r.core.Pass(now))
	}
}

// expire frees what is held by jobs whose estimate ends now.
func (r *scheduleRun) expire(now protocol.Instant) {
	for _, end := range r.ended {
		if job := &r.jobs[end.job]; job.Run == job.Estimate {
			r.core.Expire(now, end.job)
		}
	}
}

// together is [TieBatch].
func (r *scheduleRun) together(now protocol.Instant) {
	for _, end := range r.ended {
		r.core.End(now, end.job)
	}
	for ; r.next < len(r.jobs) && r.jobs[r.next].Submit == now; r.next++ {
		if w, ok := r.size(); ok {
			r.core.Add(now, r.next, w)
		}
	}
	r.begin(now, r.core.Pass(now))
}

// size is what the next job takes of the machine, if it ever fits.
func (r *scheduleRun) size() (w engine.PendingJob, ok bool) {
	job := &r.jobs[r.next]
	w, reason := r.core.Size(protocol.Request{CPUs: job.CPUs, WallTime: job.Estimate, Power: job.Power})
	if reason != "" {
		r.misfits = append(r.misfits, Misfit{Index: r.next, Reason: reason})
		r.starts[r.next] = NeverStarts
	}
	return w, reason == ""
}

// begin enters the jobs that a pass has started, and what it chose from.
func (r *scheduleRun) begin(now protocol.Instant, started []int) {
	for _, i := range started {
		r.begun++
		r.starts[i] = now
		r.pending.push(realEnd{now.Add(r.jobs[i].Run), r.begun, i})
	}
	if from := r.core.Candidates(); r.choices != nil && len(from) > 0 {
		*r.choices = append(*r.choices, Choice{now, slices.Clone(from)})
	}
}

// realEnd is when a running job will end.
type realEnd struct {
	at    protocol.Instant
	order uint64 // of starting
	job   int
}

func (e *realEnd) before(o *realEnd) bool {
	return e.at < o.at || (e.at == o.at && e.order < o.order)
}

// endHeap has the first end at its top.
type endHeap []realEnd

func (h *endHeap) push(e realEnd) {
	s := append(*h, e)
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&s[up]) {
			break
		}
		s[i], i = s[up], up
	}
	s[i] = e
	*h = s
}

func (h *endHeap) pop() realEnd {
	s := *h
	top, e := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(s) {
			if len(s) > 0 {
				s[i] = e
			}
			return top
		}
		if down+1 < len(s) && s[down+1].before(&s[down]) {
			down++
		}
		if !s[down].before(&e) {
			s[i] = e
			return top
		}
		s[i], i = s[down], down
	}
}

// Placed is the result of a schedule of [Schedule], for [Measure].
func Placed(jobs []workload.Job, starts []protocol.Instant) *Result {
	result := &Result{Placements: make([]Placement, len(jobs))}
	for i, start := range starts {
		result.Placements[i] = Placement{Site: -1}
		if start != NeverStarts {
			result.Placements[i] = Placement{Start: start, End: start.Add(jobs[i].Run)}
		}
	}
	return result
}
