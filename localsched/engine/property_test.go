package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func drawCapacity(t *rapid.T) protocol.Capacity {
	capacity := protocol.Capacity{
		Nodes:    rapid.IntRange(1, 12).Draw(t, "nodes"),
		MemoryMB: rapid.Int64Range(0, 3).Draw(t, "GB") * 1000,
	}
	capacity.CPUs = capacity.Nodes * rapid.IntRange(1, 4).Draw(t, "CPUs per node")
	if rapid.Bool().Draw(t, "resources") {
		capacity.Groups, capacity.Shared = drawGroups(t, capacity.Nodes, capacity.CPUs/capacity.Nodes), drawResources(t, "license")
		capacity.Exclusive = true
	}
	return capacity
}

// drawGroups draws groups of nodes with some resources and features.
func drawGroups(t *rapid.T, nodes, cpus int) (groups []protocol.NodeGroup) {
	for nodes > 0 {
		g := protocol.NodeGroup{Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes of a group"), CPUs: cpus, Resources: drawResources(t, "gpu", "nic")}
		if len(groups) == 2 {
			g.Nodes = nodes
		}
		for _, name := range []string{"big", "fast"} {
			if rapid.Bool().Draw(t, name) {
				g.Features = append(g.Features, name)
			}
		}
		groups = append(groups, g)
		nodes -= g.Nodes
	}
	return groups
}

func drawResources(t *rapid.T, names ...string) (list []protocol.Resource) {
	for _, name := range names {
		if n := rapid.IntRange(0, 4).Draw(t, name); n > 0 {
			list = append(list, protocol.Resource{Name: name, Count: n})
		}
	}
	return list
}

func drawMachine(t *rapid.T) engine.Machine {
	if rapid.Bool().Draw(t, "whole node") {
		c := drawCapacity(t)
		c.WholeNode = true
		return engine.WholeNode(c)
	}
	return engine.PerCPU(drawCapacity(t))
}

func drawRequest(t *rapid.T, m engine.Machine) protocol.Request {
	c := m.Capacity()
	r := protocol.Request{
		CPUs:     rapid.IntRange(0, c.CPUs).Draw(t, "CPUs"),
		Nodes:    rapid.IntRange(0, c.Nodes).Draw(t, "job nodes"),
		MemoryMB: rapid.Int64Range(0, c.MemoryMB).Draw(t, "memory"),
		WallTime: protocol.Duration(rapid.IntRange(1, 12).Draw(t, "time")),
		Power:    rapid.SampledFrom([]int{0, protocol.PPM / 4, 2 * protocol.PPM}).Draw(t, "power"),
	}
	if rapid.IntRange(0, 3).Draw(t, "flexible") == 0 {
		r.MinTime = protocol.Duration(rapid.IntRange(1, int(r.WallTime)).Draw(t, "least time"))
	}
	if len(c.Groups) > 0 {
		return drawExtras(t, m, r)
	}
	return r
}

// drawExtras adds what the machine might have beside units, if a job with it could run.
func drawExtras(t *rapid.T, m engine.Machine, r protocol.Request) protocol.Request {
	more := r
	for _, name := range []string{"gpu", "license", "nic"} {
		if n := rapid.IntRange(0, 5).Draw(t, "job "+name); n > 0 {
			per := rapid.SampledFrom([]protocol.Per{protocol.PerNode, protocol.PerTask, protocol.PerJob}).Draw(t, "per")
			if name == "license" {
				per = protocol.PerJob
			}
			more.Resources = append(more.Resources, protocol.Resource{Name: name, Count: n, Per: per})
		}
	}
	more.Features = rapid.SampledFrom([]string{"", "", "big", "fast", "big|fast"}).Draw(t, "features")
	more.Exclusive = rapid.IntRange(0, 3).Draw(t, "exclusive") == 0
	if _, reason := m.Units(more); reason == "" {
		return more
	}
	return r
}

func drawRequests(t *rapid.T, m engine.Machine, most int, label string) []protocol.Request {
	requests := make([]protocol.Request, rapid.IntRange(0, most).Draw(t, label))
	for i := range requests {
		requests[i] = drawRequest(t, m)
	}
	return requests
}

// drawState brings an engine into a random state: jobs restored, queued, running,
// ended early, in time and late, withdrawn. At each step it asks for quotes, so
// that plans are made, kept and given up.
func drawState(t *rapid.T, m engine.Machine, p engine.Policy) *rig {
	r := newRig(t, m, p)
	r.now = 100
	n := 0
	next := func() (localsched.Queued, protocol.Duration) {
		n++
		j := localsched.Queued{Request: drawRequest(t, m), Tag: tag(n)}
		run := rapid.OneOf(
			rapid.Just(j.WallTime),
			rapid.Map(rapid.IntRange(1, 20), func(d int) protocol.Duration { return protocol.Duration(d) }),
		).Draw(t, "run time")
		return j, run
	}
	for range rapid.IntRange(0, 3).Draw(t, "restored") {
		j, run := next()
		started := r.now - protocol.Instant(rapid.IntRange(0, 15).Draw(t, "age"))
		if r.restore(j, started, run) != nil {
			delete(r.jobs, j.Tag)
		}
	}
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		case 0, 1, 2:
			r.submit(next())
		case 3:
			r.advance(r.now + protocol.Instant(rapid.IntRange(0, 6).Draw(t, "pause")))
		case 4:
			if waiting := r.waiting(); len(waiting) > 0 {
				r.withdraw(rapid.SampledFrom(waiting).Draw(t, "withdrawn"))
			}
		case 5:
			comparePlans(t, r, m)
		}
	}
	r.advance(r.now)
	return r
}

func (r *rig) waiting() (tags []protocol.Tag) {
	for t, j := range r.jobs {
		if !j.running && !j.ended {
			tags = append(tags, t)
		}
	}
	slices.SortFunc(tags, func(a, b protocol.Tag) int { return int(a.Job) - int(b.Job) })
	return tags
}

// comparePlans checks lookups against futures simulated for each job alone.
func comparePlans(t *rapid.T, r *rig, m engine.Machine) {
	jobs := drawRequests(t, m, 6, "quoted")
	ahead := drawRequests(t, m, 1, "ahead of quoted")
	got := r.engine.Plan(r.now, ahead, jobs)
	if want := r.engine.PlanAlone(r.now, ahead, jobs); !slices.Equal(got, want) {
		t.Fatalf("at %d lookups give %v, simulations %v", r.now, got, want)
	}
}

// quoteComesTrue asks for a quote, lets the jobs ahead and the newcomer in, and
// lets all estimates hold.
func quoteComesTrue(t *rapid.T, m engine.Machine, policy engine.Policy) {
	r := drawState(t, m, policy)
	ahead := drawRequests(t, m, 4, "ahead")
	newcomer := drawRequest(t, m)
	if rapid.Bool().Draw(t, "asked before") {
		// The answer must be right as well if an older plan serves it.
		r.engine.Plan(r.now, ahead, []protocol.Request{drawRequest(t, m)})
		to := r.now + protocol.Instant(rapid.IntRange(0, 4).Draw(t, "later"))
		if next, ok := r.next(); (!ok || next.end > to) && (r.wake == 0 || r.wake > to) {
			r.now = to
		}
	}
	planned := r.engine.Plan(r.now, ahead, []protocol.Request{newcomer})
	if planned[0].Declined != "" {
		t.Fatalf("declined: %s", planned[0].Declined)
	}
	r.comeTrue()
	for i, request := range append(ahead, newcomer) {
		r.submit(localsched.Queued{Request: request, Tag: tag(1000 + i)}, request.WallTime)
	}
	r.drain()
	if got := r.jobs[tag(1000+len(ahead))].start; got != planned[0].Start {
		t.Fatalf("quoted %d, started %d", planned[0].Start, got)
	}
	for tag, j := range r.jobs {
		if !j.ended {
			t.Fatalf("%v was lost", tag)
		}
	}
}

// TestReference compares every start with the reference, and checks the head's
// shadow: with run times no longer than estimates no head starts after it.
func TestReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t)
		trace := make([]arrival, rapid.IntRange(1, 60).Draw(t, "jobs"))
		at := protocol.Instant(0)
		for i := range trace {
			at += protocol.Instant(rapid.IntRange(0, 4).Draw(t, "gap"))
			request := drawRequest(t, m)
			run := rapid.IntRange(1, int(request.WallTime)).Draw(t, "run")
			trace[i] = arrival{at, localsched.Queued{Request: request, Tag: tag(i)}, protocol.Duration(run)}
		}
		followReference(t, m, trace)
	})
}

// TestReferenceLongQueue does the same for queues of many chunks.
func TestReferenceLongQueue(t *testing.T) {
	t.Parallel()
	m := engine.PerCPU(protocol.Capacity{CPUs: 64, Nodes: 1})
	random := rand.New(rand.NewPCG(1, 2))
	trace := make([]arrival, 300)
	for i := range trace {
		time := 1 + protocol.Duration(random.IntN(1000))
		run := 1 + protocol.Duration(random.IntN(int(time)))
		trace[i] = arrival{protocol.Instant(i), job(i, 1+random.IntN(40), time), run}
	}
	followReference(t, m, trace)
}

func followReference(t failer, m engine.Machine, trace []arrival) {
	r := newRig(t, m, engine.EASY())
	f := &reference{machine: m, bound: map[*testJob]protocol.Instant{}}
	twins := map[protocol.Tag]*testJob{}
	same := func() {
		for tag, j := range r.jobs {
			if twin := twins[tag]; j.start != twin.start {
				t.Fatalf("at %d: %v started at %d, the reference says %d", r.now, tag, j.start, twin.start)
			}
		}
	}
	step := func(to protocol.Instant) {
		for j, ok := r.next(); ok && j.end <= to; j, ok = r.next() {
			r.finish(j)
			f.finish(r.now, twins[j.Tag])
			same()
		}
	}
	for _, a := range trace {
		step(a.at)
		r.now = a.at
		idle := len(r.started) == 0 && len(r.waiting()) == 0
		twins[a.job.Tag] = &testJob{Queued: a.job}
		f.waiting = append(f.waiting, twins[a.job.Tag])
		f.pass(a.at)
		r.submit(a.job, a.run)
		if idle && !r.jobs[a.job.Tag].running {
			t.Fatalf("%v waits for an empty machine", a.job.Tag)
		}
		same()
	}
	step(1 << 62)
	r.drain()
	for j, bound := range f.bound {
		if j.start > bound {
			t.Fatalf("%v was promised %d at the latest and started at %d", j.Tag, bound, j.start)
		}
	}
}

// TestDeterminism: equal input gives equal actions, in the same order, whether or
// not quotes are asked for in between.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t)
		requests := drawRequests(t, m, 30, "jobs")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 3), len(requests), len(requests)).Draw(t, "pauses")
		run := func(quoting bool) []protocol.Tag {
			r := newRig(t, m, engine.EASY())
			for i, request := range requests {
				r.advance(r.now + protocol.Instant(pauses[i]))
				if quoting {
					r.engine.Plan(r.now, requests[:i/3], requests)
				}
				r.submit(localsched.Queued{Request: request, Tag: tag(i)}, max(1, request.WallTime/2))
			}
			r.drain()
			return r.order
		}
		if a, b := run(false), run(true); !slices.Equal(a, b) {
			t.Fatalf("started %v, then %v", a, b)
		}
	})
}

// TestWithdrawKeepsOrder: jobs as wide as the machine start in the order of
// submission, whichever are withdrawn.
func TestWithdrawKeepsOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t, cpus(2), engine.EASY())
		n := rapid.IntRange(1, 300).Draw(t, "jobs")
		want := []protocol.Tag{}
		for i := range n {
			r.submit(job(i, 2, 5), 3)
		}
		gone := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), rapid.ID[int]).Draw(t, "withdrawn")
		for i := range n {
			if i == 0 || !slices.Contains(gone, i) {
				want = append(want, tag(i))
			}
		}
		for _, i := range gone {
			if i != 0 {
				r.withdraw(tag(i))
			}
		}
		r.drain()
		if !slices.Equal(r.order, want) {
			t.Fatalf("started %v, want %v", r.order, want)
		}
	})
}
