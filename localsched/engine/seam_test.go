package engine_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// policies are all there are, and some from outside.
func policies() map[string]engine.Policy {
	all := map[string]engine.Policy{
		"plain":           plain{},
		"outer first fit": outerFit{},
		"outer alone":     outerAlone{},
	}
	for _, name := range engine.Names() {
		policy, err := engine.Named(name)
		if err != nil {
			panic(err)
		}
		all[name] = policy
	}
	for name, budget := range budgets() {
		base, _, _ := strings.Cut(name, " ")
		all[name] = engine.Within(budget, all[base])
	}
	return all
}

// machines are all models; a new one gets its row here.
func machines() map[string]func(*rapid.T) engine.Machine {
	return map[string]func(*rapid.T) engine.Machine{
		"whole node": func(t *rapid.T) engine.Machine { return engine.WholeNode(drawCapacity(t)) },
		"per CPU":    func(t *rapid.T) engine.Machine { return engine.PerCPU(drawCapacity(t)) },
		"partitions": func(*rapid.T) engine.Machine { return partitions{} },
		"bgp":        drawPartitioned,
	}
}

// TestQuoteComesTrue: a quote is the start, for every policy on every machine.
func TestQuoteComesTrue(t *testing.T) {
	t.Parallel()
	for policyName, policy := range policies() {
		for machineName, draw := range machines() {
			t.Run(policyName+" on "+machineName, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { quoteComesTrue(t, draw(t), policy) })
			})
		}
	}
}

// TestShortestFirst: a policy may reorder the queue, and quotes know it.
func TestShortestFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(1), engine.SJF())
	r.submit(job(0, 1, 5), 5)
	r.submit(job(1, 1, 9), 9)
	short := job(2, 1, 2)
	if p := r.engine.Plan(0, nil, []protocol.Request{short.Request}); p[0].Start != 5 {
		t.Errorf("planned %+v, want start 5", p)
	}
	r.submit(short, 2)
	r.drain()
	if got := r.jobs[tag(1)].start; got != 7 {
		t.Errorf("the long job started at %d, want 7", got)
	}
}

// TestLongReorderedQueue inserts and withdraws all over a queue of many chunks, and of several groups of them.
func TestLongReorderedQueue(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	r := newRig(t, cpus(1), engine.SJF())
	r.submit(job(0, 1, 1), 1)
	for i := 1; i <= 1500; i++ {
		r.submit(job(i, 1, 1+protocol.Duration(random.IntN(200))), 1)
		if waiting := r.waiting(); i%3 == 0 {
			r.withdraw(waiting[random.IntN(len(waiting))])
		}
	}
	r.drain()
	byTime := func(a, b protocol.Tag) int {
		return cmp.Or(cmp.Compare(r.jobs[a].WallTime, r.jobs[b].WallTime), cmp.Compare(a.Job, b.Job))
	}
	if len(r.order) != len(r.jobs) || !slices.IsSortedFunc(r.order, byTime) {
		t.Errorf("%d of %d jobs started, in the order %v", len(r.order), len(r.jobs), r.order)
	}
}

// TestLongQueueShrinks withdraws a long queue from its head. The shortest job stands just
// behind the first group of chunks, whose bound it must lower once it has moved there.
func TestLongQueueShrinks(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(1), engine.FirstFit())
	r.submit(job(0, 1, 5000), 5000)
	const jobs = 1100
	for i := 1; i <= jobs; i++ {
		time := protocol.Duration(10)
		if i == 520 {
			time = 1
		}
		r.submit(job(i, 1, time), 1)
	}
	for i := 1; i < jobs; i++ {
		r.withdraw(tag(i))
	}
	if load := r.engine.Load(); load.QueuedJobs != 1 || load.QueuedWork != 10 {
		t.Errorf("the load is %+v, want the last job alone", load)
	}
}

// TestNeverStarts: a policy that starts nothing gets no start and no endless loop.
func TestNeverStarts(t *testing.T) {
	t.Parallel()
	for _, quotes := range []engine.PlanMode{engine.PlanSimulate, engine.PlanLookup} {
		e := engine.New(cpus(1), closed{quotes: quotes})
		p := e.Plan(5, nil, []protocol.Request{{CPUs: 1, WallTime: 1}})
		if p[0].Start != math.MaxInt64 || p[0].Declined != "" {
			t.Errorf("quotes %v: planned %+v", quotes, p)
		}
	}
}

// closed starts nothing.
type closed struct {
	plain
	quotes engine.PlanMode
}

func (c closed) PlanMode() engine.PlanMode                       { return c.quotes }
func (closed) Pass(_ *engine.ClusterState) engine.BackfillWindow { return engine.BackfillWindow{} }

// TestPartitions: units that are free may still be no place.
//
//	0 1 2 3      1 and 3 are taken: two units are free, no pair
//	. A . B
func TestPartitions(t *testing.T) {
	t.Parallel()
	r := newRig(t, partitions{}, engine.EASY())
	for i, run := range []protocol.Duration{1, 5, 1, 5} {
		r.submit(job(i, 1, run), run)
	}
	r.advance(2)
	if p := r.engine.Plan(2, nil, []protocol.Request{{CPUs: 2, WallTime: 1}}); p[0].Start != 5 {
		t.Errorf("planned %+v, want start 5", p)
	}
}

// plain is first come first served: nothing passes a head that waits.
type plain struct{}

func (plain) Rank(engine.PendingJob) int64 { return 0 }
func (plain) PlanMode() engine.PlanMode    { return engine.PlanLookup }
func (plain) Pass(f *engine.ClusterState) engine.BackfillWindow {
	f.StartHeads()
	if _, blocked := f.Head(); blocked {
		return engine.BackfillWindow{}
	}
	return engine.Open(f.FreeSet().Free())
}

// outerFit starts whatever fits, in the order of submission.
type outerFit struct{ plain }

func (outerFit) Pass(f *engine.ClusterState) engine.BackfillWindow {
	left := engine.Open(f.FreeSet().Free())
	for c, ok := f.Next(engine.Cursor{}, left); ok; c, ok = f.Next(c, left) {
		job := f.At(c)
		place, fits := f.FreeSet().Find(job.Demand(), nil)
		if !fits {
			c = c.After()
			continue
		}
		f.Start(c, place)
		left = engine.Open(f.FreeSet().Free())
	}
	return left
}

// outerAlone takes the widest first and promises nothing.
type outerAlone struct{ outerFit }

func (outerAlone) Rank(w engine.PendingJob) int64 { return -int64(w.Units) }
func (outerAlone) PlanMode() engine.PlanMode      { return engine.PlanSimulate }

// partitions is a machine of four units in partitions of one, two and four that
// begin at multiples of their size.
type partitions struct{}

func (partitions) Capacity() protocol.Capacity { return protocol.Capacity{CPUs: 4, Nodes: 4} }
func (partitions) CPUs(units int) int          { return units }
func (partitions) Pool() bool                  { return false }
func (partitions) NewFreeSet() engine.FreeSet  { return &partitionRoom{} }
func (m partitions) Units(r protocol.Request) (units int, reason string) {
	units = 1
	for units < max(r.CPUs, r.Nodes) {
		units *= 2
	}
	capacity := m.Capacity()
	return units, capacity.Fits(r)
}

type partitionRoom struct{ taken [4]bool }

func (p *partitionRoom) Free() (free int) {
	for _, taken := range p.taken {
		if !taken {
			free++
		}
	}
	return free
}

func (p *partitionRoom) Find(demand engine.Demand, beside engine.FreeSet) (place engine.Place, ok bool) {
	units := demand.Units
	other, both := beside.(*partitionRoom)
	for at := 0; at < len(p.taken); at += units {
		free := true
		for i := at; i < at+units; i++ {
			free = free && !p.taken[i] && (!both || !other.taken[i])
		}
		if free {
			return engine.Place(at), true
		}
	}
	return 0, false
}

func (p *partitionRoom) Has(demand engine.Demand, place engine.Place) bool {
	return !slices.Contains(p.taken[place:int(place)+demand.Units], true)
}

func (p *partitionRoom) Intersect(other engine.FreeSet) {
	if o, ok := other.(*partitionRoom); ok {
		for i := range p.taken {
			p.taken[i] = p.taken[i] || o.taken[i]
		}
	}
}

func (p *partitionRoom) Allocate(demand engine.Demand, place engine.Place) {
	p.set(demand.Units, place, true)
}

func (p *partitionRoom) Release(demand engine.Demand, place engine.Place) {
	p.set(demand.Units, place, false)
}

func (p *partitionRoom) set(units int, place engine.Place, taken bool) {
	for i := range units {
		p.taken[int(place)+i] = taken
	}
}

func (p *partitionRoom) CopyFrom(other engine.FreeSet) {
	if o, ok := other.(*partitionRoom); ok {
		*p = *o
	}
}
