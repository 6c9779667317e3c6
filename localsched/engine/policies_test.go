package engine_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPolicies runs one trace of 4 CPUs under each policy: A runs until 4, the
// others come while it does.
//
//	A 3×4   B 4×2   C 2×9   D 1×6   E 1×3   F 2×3   (CPUs × ms, A at 0, the others at 1)
func TestPolicies(t *testing.T) {
	t.Parallel()
	trace := []arrival{
		{0, job(0, 3, 4), 4},
		{1, job(1, 4, 2), 2},
		{1, job(2, 2, 9), 9},
		{1, job(3, 1, 6), 6},
		{1, job(4, 1, 3), 3},
		{1, job(5, 2, 3), 3},
	}
	for _, c := range []struct {
		policy string
		want   []protocol.Instant
	}{
		{"fcfs", []protocol.Instant{0, 4, 6, 6, 6, 12}},
		{"easy", []protocol.Instant{0, 4, 6, 6, 1, 12}},
		{"conservative", []protocol.Instant{0, 4, 6, 6, 1, 12}},
		{"easysjbf", []protocol.Instant{0, 4, 6, 6, 1, 12}},
		{"firstfit", []protocol.Instant{0, 13, 4, 1, 4, 7}},
		{"sjf", []protocol.Instant{0, 4, 9, 6, 6, 6}},
		{"sjffit", []protocol.Instant{0, 16, 7, 1, 4, 4}},
	} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			got := startsOf(t, cpus(4), named(t, c.policy), trace)
			starts := make([]protocol.Instant, len(trace))
			for i := range trace {
				starts[i] = got[tag(i)]
			}
			if !slices.Equal(starts, c.want) {
				t.Errorf("started at %v, want %v", starts, c.want)
			}
		})
	}
}

// TestShortestOvertakes: of two jobs that may overtake, EASY takes the first and
// EASYSJBF the shorter.
func TestShortestOvertakes(t *testing.T) {
	t.Parallel()
	trace := []arrival{
		{0, job(0, 3, 10), 10},
		{0, job(1, 1, 2), 2},
		{1, job(2, 4, 2), 2},
		{1, job(3, 1, 8), 8},
		{1, job(4, 1, 3), 3},
	}
	for policy, want := range map[string]int{"easy": 3, "easysjbf": 4} {
		if got := startsOf(t, cpus(4), named(t, policy), trace); got[tag(want)] != 2 {
			t.Errorf("%s: job %d started at %d, want 2", policy, want, got[tag(want)])
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for alias, name := range map[string]string{"fcfsbf": "easy", "ff": "firstfit"} {
		if got, want := named(t, alias), named(t, name); got != want {
			t.Errorf("%s is %T, want %T", alias, got, want)
		}
	}
	_, err := engine.Named("lifo")
	for _, name := range append(engine.Names(), "lifo") {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the error %v does not name %s", err, name)
		}
	}
}

func named(t failer, name string) engine.Policy {
	t.Helper()
	policy, err := engine.Named(name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return policy
}

// TestSetPolicy switches at run time: what runs stays, the queue is put in the
// new order, and one pass is made.
func TestSetPolicy(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(4), engine.FCFS())
	r.submit(job(0, 3, 10), 10)
	r.submit(job(1, 4, 5), 5)
	r.submit(job(2, 2, 4), 4)
	r.submit(job(3, 1, 9), 9)
	before := r.engine.Load()
	a := r.engine.SetPolicy(1, engine.EASY())
	if !slices.Equal(a.Starts, []protocol.Tag{tag(3)}) || a.Wake != 10 {
		t.Fatalf("%+v, want a start of the job that may overtake", a)
	}
	r.now = 1
	r.apply(a)
	if after := r.engine.Load(); after.Busy != before.Busy+1 {
		t.Errorf("%d CPUs busy, want %d", after.Busy, before.Busy+1)
	}
	r.now = 2
	r.apply(r.engine.SetPolicy(2, engine.SJF()))
	r.drain()
	if want := []protocol.Tag{tag(0), tag(3), tag(2), tag(1)}; !slices.Equal(r.order, want) {
		t.Errorf("started %v, want %v", r.order, want)
	}
}

// TestSetAnyPolicy switches between all policies in random states: quotes hold
// under the last one, and no job is lost.
func TestSetAnyPolicy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t)
		r := drawState(t, m, named(t, rapid.SampledFrom(engine.Names()).Draw(t, "policy")))
		for range rapid.IntRange(1, 3).Draw(t, "switches") {
			policy := named(t, rapid.SampledFrom(engine.Names()).Draw(t, "next policy"))
			running := slices.Clone(r.started)
			r.apply(r.engine.SetPolicy(r.now, policy))
			if !slices.Equal(running, r.started[:len(running)]) {
				t.Fatalf("what runs has changed")
			}
			comparePlans(t, r, m)
			r.submit(localsched.Queued{Request: drawRequest(t, m), Tag: tag(500 + len(r.jobs))}, 3)
			comparePlans(t, r, m)
		}
		r.drain()
	})
}

// TestConservativeWaits: while a job is past its limit the engine does not ask to
// be woken again and again for what was promised of its CPUs.
//
//	A A A A . . C      A said 4 and runs 6; B is promised 4, C the time after
//	B B                that, and both move on with A
func TestConservativeWaits(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(2), engine.Conservative())
	mustSubmit(t, e, 0, job(0, 2, 4))
	if a := mustSubmit(t, e, 0, job(1, 2, 2)); a.Wake != 4 {
		t.Errorf("wake at %d, want 4", a.Wake)
	}
	mustSubmit(t, e, 1, job(2, 2, 3))
	for now := protocol.Instant(4); now < 6; now++ {
		if a := e.Tick(now); len(a.Starts) > 0 || a.Wake != 0 && a.Wake <= now {
			t.Fatalf("tick %d: %+v", now, a)
		}
	}
	a, err := e.Finished(6, tag(0))
	if err != nil || !slices.Equal(a.Starts, []protocol.Tag{tag(1)}) || a.Wake != 8 {
		t.Errorf("finished: %+v, %v, want a start of job 1 and a wake at 8", a, err)
	}
}

// TestConservativePromise: with estimates that hold for at least as long as the
// run, no job starts later than it was promised when it came.
func TestConservativePromise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t)
		r := newRig(t, m, engine.Conservative())
		promised := map[protocol.Tag]protocol.Instant{}
		for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
			r.advance(r.now + protocol.Instant(rapid.IntRange(0, 3).Draw(t, "pause")))
			request := drawRequest(t, m)
			run := protocol.Duration(rapid.IntRange(1, int(request.WallTime)).Draw(t, "run"))
			r.submit(localsched.Queued{Request: request, Tag: tag(i)}, run)
			promised[tag(i)] = r.engine.PromisedTo(tag(i), r.now)
		}
		r.drain()
		for tag, at := range promised {
			if start := r.jobs[tag].start; start > at {
				t.Fatalf("%v was promised %d and started at %d", tag, at, start)
			}
		}
	})
}

// TestWithdrawalBreaksNoPromise: when B goes, C could start at 10 if all were promised anew in the
// order of submission, but D has had the promise of that time.
//
//	A A A A A . B B B B C C C C
//	A A A A A . D D D D C C C C
func TestWithdrawalBreaksNoPromise(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(2), engine.Conservative())
	for n, width := range []int{2, 1, 2, 1} {
		r.submit(job(n, width, 10), 10)
	}
	r.advance(5)
	r.withdraw(tag(1))
	r.drain()
	if c, d := r.jobs[tag(2)].start, r.jobs[tag(3)].start; c != 20 || d != 10 {
		t.Errorf("C starts at %d and D at %d, want 20 and 10", c, d)
	}
}

// TestPlansAreKept: while estimates hold, plans are carried from state to state,
// and stay equal to simulations.
func TestPlansAreKept(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"easy", "fcfs", "firstfit", "sjffit", "easysjbf"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(5, 6))
			r := newRig(t, cpus(16), named(t, name))
			kept := 0
			const jobs = 400
			for i := range jobs {
				r.advance(r.now + protocol.Instant(random.IntN(50)))
				j := job(i, 1+random.IntN(10), 1+protocol.Duration(random.IntN(100)))
				if r.engine.PlanIsKept(r.now) {
					kept++
				}
				asked := []protocol.Request{j.Request}
				got := r.engine.Plan(r.now, nil, asked)
				if want := r.engine.PlanAlone(r.now, nil, asked); !slices.Equal(got, want) {
					t.Fatalf("job %d at %d: lookup %v, simulation %v", i, r.now, got, want)
				}
				r.submit(j, j.WallTime)
			}
			if kept < jobs/5 {
				t.Errorf("%d plans were kept over %d arrivals", kept, jobs)
			}
			r.drain()
		})
	}
}
