package engine_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// rig drives an engine as a simulator would: it holds what runs and when that
// will really end.
type rig struct {
	t       failer
	engine  *engine.Engine
	now     protocol.Instant
	wake    protocol.Instant
	jobs    map[protocol.Tag]*testJob
	started []*testJob // running, in the order of the starts
	order   []protocol.Tag
}

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

type testJob struct {
	localsched.Queued
	run     protocol.Duration // how long it really runs
	start   protocol.Instant
	end     protocol.Instant // the real one
	running bool
	ended   bool
}

func newRig(t failer, m engine.Machine, p engine.Policy) *rig {
	return &rig{t: t, engine: engine.New(m, p), jobs: map[protocol.Tag]*testJob{}}
}

func tag(n int) protocol.Tag { return protocol.Tag{Job: protocol.JobID(n), Epoch: 1} }

// job asks for CPUs and time.
func job(n, cpus int, time protocol.Duration) localsched.Queued {
	return localsched.Queued{
		Request: protocol.Request{Job: protocol.JobID(n), CPUs: cpus, WallTime: time},
		Tag:     tag(n),
	}
}

func (r *rig) submit(j localsched.Queued, run protocol.Duration) {
	r.t.Helper()
	r.jobs[j.Tag] = &testJob{Queued: j, run: run}
	actions, err := r.engine.Submit(r.now, j)
	if err != nil {
		r.t.Fatalf("submit %v: %v", j.Tag, err)
	}
	r.apply(actions)
}

func (r *rig) restore(j localsched.Queued, started protocol.Instant, run protocol.Duration) error {
	if err := r.engine.Restore(j, started); err != nil {
		return err
	}
	restored := &testJob{Queued: j, run: run, start: started, end: max(r.now, started.Add(run)), running: true}
	r.jobs[j.Tag] = restored
	r.started = append(r.started, restored)
	return nil
}

func (r *rig) withdraw(t protocol.Tag) {
	r.t.Helper()
	actions, err := r.engine.Withdraw(r.now, t)
	if err != nil {
		r.t.Fatalf("withdraw %v: %v", t, err)
	}
	delete(r.jobs, t)
	r.apply(actions)
}

func (r *rig) apply(actions localsched.Actions) {
	r.t.Helper()
	r.wake = actions.Wake
	for _, t := range actions.Starts {
		j := r.jobs[t]
		if j == nil || j.running || j.ended {
			r.t.Fatalf("%v was started at %d but does not wait", t, r.now)
		}
		j.running, j.start, j.end = true, r.now, r.now.Add(j.run)
		r.started = append(r.started, j)
		r.order = append(r.order, t)
	}
	if wrong := r.engine.Check(); wrong != "" {
		r.t.Fatalf("at %d: %s", r.now, wrong)
	}
}

// next is the running job that ends first, of several the one started first.
func (r *rig) next() (*testJob, bool) {
	if len(r.started) == 0 {
		return nil, false
	}
	return slices.MinFunc(r.started, func(a, b *testJob) int { return cmp.Compare(a.end, b.end) }), true
}

func (r *rig) finish(j *testJob) {
	r.t.Helper()
	r.now = max(r.now, j.end)
	j.running, j.ended = false, true
	r.started = slices.DeleteFunc(r.started, func(o *testJob) bool { return o == j })
	actions, err := r.engine.Finished(r.now, j.Tag)
	if err != nil {
		r.t.Fatalf("finished %v: %v", j.Tag, err)
	}
	r.apply(actions)
}

// advance goes to a later time, reports what ends until then, and wakes the
// engine when it asked for that. What it wants to end goes on.
func (r *rig) advance(to protocol.Instant) {
	r.t.Helper()
	for r.step(to) {
	}
	r.now = max(r.now, to)
}

// step does the next thing that is due by a time: ends come before wakes.
func (r *rig) step(to protocol.Instant) bool {
	r.t.Helper()
	j, running := r.next()
	if r.wake != 0 && r.wake <= to && (!running || r.wake < j.end) {
		r.now = max(r.now, r.wake) // a restored job may be past its limit
		r.apply(r.engine.Tick(r.now))
		return true
	}
	if !running || j.end > to {
		return false
	}
	r.finish(j)
	return true
}

// drain goes on until nothing runs.
func (r *rig) drain() {
	r.t.Helper()
	for r.step(1 << 62) {
	}
	if queued := r.engine.Load().QueuedJobs; queued > 0 {
		r.t.Fatalf("%d jobs were never started", queued)
	}
}

// comeTrue makes the estimates of all jobs hold from now on, as plans assume.
func (r *rig) comeTrue() {
	for _, j := range r.jobs {
		j.run = j.WallTime
		if j.running {
			if j.end = j.start.Add(j.WallTime); j.end < r.now {
				j.end = r.now + 1
			}
		}
	}
	// Of those past their estimate, the one that is longest past ends first.
	slices.SortStableFunc(r.started, func(a, b *testJob) int {
		return cmp.Compare(a.start.Add(a.WallTime), b.start.Add(b.WallTime))
	})
}

func cpus(n int) engine.Machine { return engine.PerCPU(protocol.Capacity{CPUs: n, Nodes: 1}) }

// reference is EASY written a second time, without any structure: at each event
// it looks at every job.
type reference struct {
	free    int
	waiting []*testJob
	running []*testJob
	units   func(protocol.Request) int
	bound   map[*testJob]protocol.Instant // the head's shadows
}

func (f *reference) pass(now protocol.Instant) {
	for len(f.waiting) > 0 && f.units(f.waiting[0].Request) <= f.free {
		f.start(now, 0)
	}
	if len(f.waiting) == 0 {
		return
	}
	for i := 1; i < len(f.waiting); i++ {
		shadow, extra := f.shadow(now)
		units := f.units(f.waiting[i].Request)
		if units <= f.free && (now.Add(f.waiting[i].WallTime) <= shadow || units <= extra) {
			f.start(now, i)
			i--
		}
	}
	shadow, _ := f.shadow(now)
	if bound, ok := f.bound[f.waiting[0]]; !ok || shadow < bound {
		f.bound[f.waiting[0]] = shadow
	}
}

func (f *reference) shadow(now protocol.Instant) (shadow protocol.Instant, extra int) {
	ends := func(j *testJob) protocol.Instant { return max(j.start.Add(j.WallTime), now) }
	slices.SortStableFunc(f.running, func(a, b *testJob) int { return cmp.Compare(ends(a), ends(b)) })
	need, free := f.units(f.waiting[0].Request), f.free
	for _, j := range f.running {
		if free >= need && ends(j) > shadow {
			break
		}
		free += f.units(j.Request)
		shadow = ends(j)
	}
	return shadow, free - need
}

func (f *reference) start(now protocol.Instant, i int) {
	j := f.waiting[i]
	j.start = now
	f.free -= f.units(j.Request)
	f.waiting = slices.Delete(f.waiting, i, i+1)
	f.running = append(f.running, j)
}

func (f *reference) finish(now protocol.Instant, j *testJob) {
	f.running = slices.DeleteFunc(f.running, func(o *testJob) bool { return o == j })
	f.free += f.units(j.Request)
	f.pass(now)
}

// startsOf runs jobs through a rig: each at its time, running as long as it says.
func startsOf(t *testing.T, m engine.Machine, p engine.Policy, trace []arrival) map[protocol.Tag]protocol.Instant {
	t.Helper()
	r := newRig(t, m, p)
	for _, a := range trace {
		r.advance(a.at)
		r.submit(a.job, a.run)
	}
	r.drain()
	starts := map[protocol.Tag]protocol.Instant{}
	for _, a := range trace {
		starts[a.job.Tag] = r.jobs[a.job.Tag].start
	}
	return starts
}

type arrival struct {
	at  protocol.Instant
	job localsched.Queued
	run protocol.Duration
}
