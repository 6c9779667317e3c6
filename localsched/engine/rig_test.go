package engine_test

import (
	"cmp"
	"slices"
	"strings"
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

// limit is when a running job reaches its time limit.
func (j *testJob) limit() protocol.Instant { return j.start.Add(cmp.Or(j.Limit, j.WallTime)) }

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
		if j.MinTime > 0 {
			j.Limit = r.engine.Limit(t).Sub(r.now)
			j.end = min(j.end, r.now.Add(j.Limit))
		}
		if j.Limit != 0 && (j.Limit < j.LeastTime() || j.Limit > j.WallTime) {
			r.t.Fatalf("%v was started for %v, it asked for %v to %v", t, j.Limit, j.LeastTime(), j.WallTime)
		}
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
			if j.end = j.limit(); j.end < r.now {
				j.end = r.now + 1
			}
		}
	}
	// Of those past their estimate, the one that is longest past ends first.
	slices.SortStableFunc(r.started, func(a, b *testJob) int {
		return cmp.Compare(a.limit(), b.limit())
	})
}

func cpus(n int) engine.Machine { return engine.PerCPU(protocol.Capacity{CPUs: n, Nodes: 1}) }

// reference is EASY written a second time, without any structure: at each event
// it looks at every job.
type reference struct {
	waiting []*testJob
	running []*testJob
	machine engine.Machine
	bound   map[*testJob]protocol.Instant // the head's shadows
}

func (f *reference) pass(now protocol.Instant) {
	for len(f.waiting) > 0 && possible(f.machine, f.running, f.waiting[0]) {
		f.start(now, 0)
	}
	if len(f.waiting) == 0 {
		return
	}
	for i := 1; i < len(f.waiting); i++ {
		j := f.waiting[i]
		shadow, then := f.shadow(now)
		if !possible(f.machine, f.running, j) {
			continue
		}
		if now.Add(j.WallTime) > shadow && !possible(f.machine, then, j) {
			if now.Add(j.LeastTime()) > shadow {
				continue
			}
			j.Limit = shadow.Sub(now)
		}
		f.start(now, i)
		i--
	}
	shadow, _ := f.shadow(now)
	if bound, ok := f.bound[f.waiting[0]]; !ok || shadow < bound {
		f.bound[f.waiting[0]] = shadow
	}
}

// shadow is when the head starts, and which jobs run then.
func (f *reference) shadow(now protocol.Instant) (shadow protocol.Instant, then []*testJob) {
	ends := func(j *testJob) protocol.Instant { return max(j.limit(), now) }
	slices.SortStableFunc(f.running, func(a, b *testJob) int { return cmp.Compare(ends(a), ends(b)) })
	then = slices.Clone(f.running)
	for _, j := range f.running {
		if ends(j) > shadow && possible(f.machine, then, f.waiting[0]) {
			break
		}
		then = then[1:]
		shadow = ends(j)
	}
	return shadow, append(then, f.waiting[0])
}

func (f *reference) start(now protocol.Instant, i int) {
	j := f.waiting[i]
	j.start = now
	f.waiting = slices.Delete(f.waiting, i, i+1)
	f.running = append(f.running, j)
}

func (f *reference) finish(now protocol.Instant, j *testJob) {
	f.running = slices.DeleteFunc(f.running, func(o *testJob) bool { return o == j })
	f.pass(now)
}

// possible says whether jobs can run at once: whether the machine has the units and resources that
// they take together, and each set of its groups the units of those that may have no other.
func possible(m engine.Machine, running []*testJob, more ...*testJob) bool {
	c := m.Capacity()
	units, has := 0, map[string]int{}
	for _, one := range c.Shared {
		has[one.Name] += one.Count
	}
	of := func(g protocol.NodeGroup) int { // units of the group
		if c.WholeNode {
			return g.Nodes
		}
		return g.Nodes * g.CPUs
	}
	for _, g := range c.Groups {
		for _, one := range g.Resources {
			has[one.Name] += g.Nodes * one.Count
		}
	}
	within := make([]int, 1<<len(c.Groups)) // units of jobs by the set of groups that they may have
	for _, j := range append(slices.Clone(running), more...) {
		takes, _ := m.Units(j.Request)
		units += takes
		for _, asked := range j.Resources {
			count := j.InAll(asked)
			if c.WholeNode && asked.Per == protocol.PerNode {
				count = asked.Count * takes
			}
			if has[asked.Name] -= count; has[asked.Name] < 0 {
				return false
			}
		}
		within[groupsOf(&c, &j.Request)] += takes
	}
	for set := 1; set < len(within); set++ {
		room, taken := 0, 0
		for i, g := range c.Groups {
			if set&(1<<i) != 0 {
				room += of(g)
			}
		}
		for inner, takes := range within {
			if inner&^set == 0 {
				taken += takes
			}
		}
		if taken > room && set != len(within)-1 {
			return false
		}
	}
	return units <= m.NewFreeSet().Free()
}

// groupsOf is the set of groups that serve a request: with the features and the resources that a
// node must have, if nodes have such resources at all.
func groupsOf(c *protocol.Capacity, r *protocol.Request) (set int) {
	for i, g := range c.Groups {
		ok := r.Features == "" || slices.ContainsFunc(strings.Split(r.Features, "|"), g.Has)
		for _, asked := range r.Resources {
			onNodes := slices.ContainsFunc(c.Groups, func(g protocol.NodeGroup) bool { return protocol.CountOf(g.Resources, asked) > 0 })
			ok = ok && (!onNodes || protocol.CountOf(g.Resources, asked) >= max(1, r.OnNode(asked)))
		}
		if len(r.Resources) > 0 || r.Features != "" {
			ok = ok && g.CPUs >= r.NodeCPUs() && (g.MemoryMB == 0 || g.MemoryMB >= r.MemoryMB)
		}
		if ok {
			set |= 1 << i
		}
	}
	return set
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
