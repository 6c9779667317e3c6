package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The users of the guarded site, and of another one.
const (
	own   protocol.SiteNumber = 7
	other protocol.SiteNumber = 9
)

// of is a job as one of a site.
func of(site protocol.SiteNumber, j localsched.Queued) localsched.Queued {
	j.Tag.Job = protocol.NewJobID(site, uint64(j.Tag.Job))
	j.Job = j.Tag.Job
	return j
}

// TestDelaysByHand on 4 CPUs under EASY. A and B run or wait as in the picture, C is
// the newcomer.
//
//	A A A A B B D D      A has 3 CPUs; B, the head, wants 2; D wants
//	A A A A B B D D      all of them. The CPU that A leaves is lent.
//	A A A A . . D D
//	C C ? ? ? ? D D
func TestDelaysByHand(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(4), engine.EASY())
	r.now = 1000
	r.submit(of(other, job(0, 3, 4)), 4)
	r.submit(of(other, job(1, 2, 2)), 2)
	r.submit(of(own, job(2, 4, 2)), 2)
	for _, c := range []struct {
		name    string
		ahead   []protocol.Request
		cpus    int
		time    protocol.Duration
		guarded protocol.SiteNumber
		want    protocol.Duration
	}{
		{"short: over before D begins", nil, 1, 4, own, 0},
		{"just as long as D waits", nil, 1, 6, own, 0},
		{"a ms longer", nil, 1, 7, own, 1},
		{"much longer", nil, 1, 100, own, 94},
		{"wide: comes after D", nil, 2, 100, own, 0},
		{"as wide as the machine", nil, 4, 100, own, 0},
		{"D is not of the guarded site", nil, 1, 100, 8, 0},
		{"the head keeps its reservation", nil, 1, 100, other, 0},
		{"what never fits delays nobody", nil, 5, 100, own, 0},
		{"behind one ahead that has the free CPU", []protocol.Request{{CPUs: 1, WallTime: 6}}, 1, 100, own, 0},
		{"behind one ahead that gives it back", []protocol.Request{{CPUs: 1, WallTime: 1}}, 1, 100, own, 95},
		{"what those ahead delay is not the newcomer's", []protocol.Request{{CPUs: 1, WallTime: 50}}, 1, 3, own, 0},
	} {
		never := protocol.Request{CPUs: 9, WallTime: 1} // what cannot run delays nobody, and hides nobody's delay
		got := r.engine.Delays(r.now, c.ahead, []protocol.Request{never, {CPUs: c.cpus, WallTime: c.time}}, c.guarded)
		if !slices.Equal(got, []protocol.Duration{0, c.want}) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestDelaysInOtherOrders: who comes first under shortest job first delays those whose
// turn it takes.
func TestDelaysInOtherOrders(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]protocol.Duration{"sjf": 3, "sjffit": 3, "fcfs": 0, "easy": 0, "conservative": 0} {
		policy, err := engine.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, cpus(1), policy)
		r.submit(of(own, job(0, 1, 10)), 10)
		r.submit(of(own, job(1, 1, 5)), 5)
		got := r.engine.Delays(0, nil, []protocol.Request{{CPUs: 1, WallTime: 3}, {CPUs: 1, WallTime: 30}}, own)
		if !slices.Equal(got, []protocol.Duration{want, 0}) {
			t.Errorf("%s: %v, want %v and 0", name, got, want)
		}
	}
}

// TestDelaysComeTrue: two engines in the same state, one with the newcomer and one
// without, are run to the end with all estimates holding. What a waiting job of the
// guarded site starts later there is its delay.
func TestDelaysComeTrue(t *testing.T) {
	t.Parallel()
	for policyName, policy := range policies() {
		for machineName, draw := range machines() {
			t.Run(policyName+" on "+machineName, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { delaysComeTrue(t, draw(t), policy) })
			})
		}
	}
}

func delaysComeTrue(t *rapid.T, m engine.Machine, policy engine.Policy) {
	story := drawStory(t, m)
	r := story.tell(t, m, policy)
	ahead, newcomers := drawRequests(t, m, 3, "ahead"), drawRequests(t, m, 3, "newcomers")
	var guarded []protocol.Tag
	for _, tag := range r.waiting() {
		if tag.Job.Origin() == own {
			guarded = append(guarded, tag)
		}
	}
	startOf := func(newcomer ...protocol.Request) map[protocol.Tag]protocol.Instant {
		twin := story.tell(t, m, policy)
		twin.comeTrue()
		for i, request := range slices.Concat(ahead, newcomer) {
			twin.submit(of(other, localsched.Queued{Request: request, Tag: tag(1000 + i)}), request.WallTime)
		}
		twin.drain()
		starts := map[protocol.Tag]protocol.Instant{}
		for _, tag := range guarded {
			starts[tag] = twin.jobs[tag].start
		}
		return starts
	}
	before := startOf()
	want := make([]protocol.Duration, len(newcomers))
	for i, newcomer := range newcomers {
		for tag, at := range startOf(newcomer) {
			want[i] = max(want[i], at.Sub(before[tag]))
		}
	}
	plan := r.engine.Plan(r.now, ahead, newcomers)
	if got := r.engine.Delays(r.now, ahead, newcomers, own); !slices.Equal(got, want) {
		t.Fatalf("at %d: %v, want %v (waiting %v)", r.now, got, want, guarded)
	}
	if again := r.engine.Plan(r.now, ahead, newcomers); !slices.Equal(plan, again) {
		t.Fatalf("asking for delays changed the plan from %v to %v", plan, again)
	}
	if wrong := r.engine.Check(); wrong != "" {
		t.Fatal(wrong)
	}
}

// story is what happens to an engine, so that it can be told again.
type story []func(*rig)

// drawStory is drawState as a story: jobs of two sites come, run as long as they like,
// and some are withdrawn.
func drawStory(t *rapid.T, m engine.Machine) (s story) {
	for n := range rapid.IntRange(0, 20).Draw(t, "steps") {
		switch rapid.IntRange(0, 4).Draw(t, "step") {
		case 0, 1, 2:
			site := rapid.SampledFrom([]protocol.SiteNumber{own, other}).Draw(t, "site")
			j := of(site, localsched.Queued{Request: drawRequest(t, m), Tag: tag(n)})
			run := protocol.Duration(rapid.IntRange(1, 20).Draw(t, "run"))
			s = append(s, func(r *rig) { r.submit(j, run) })
		case 3:
			pause := protocol.Instant(rapid.IntRange(0, 6).Draw(t, "pause"))
			s = append(s, func(r *rig) { r.advance(r.now + pause) })
		case 4:
			which := rapid.IntRange(0, 9).Draw(t, "withdrawn")
			s = append(s, func(r *rig) {
				if waiting := r.waiting(); which < len(waiting) {
					r.withdraw(waiting[which])
				}
			})
		}
	}
	return s
}

func (s story) tell(t failer, m engine.Machine, p engine.Policy) *rig {
	r := newRig(t, m, p)
	r.now = 100
	for _, happen := range s {
		happen(r)
	}
	r.advance(r.now)
	return r
}

// TestDelaysThatNeverEnd: where nothing starts, nobody is delayed, and asking ends.
func TestDelaysThatNeverEnd(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(1), closed{quotes: engine.PlanSimulate})
	if _, err := e.Submit(0, of(own, job(0, 1, 5))); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(e.Delays(5, nil, []protocol.Request{{CPUs: 1, WallTime: 1}}, own)); got != "[0s]" {
		t.Errorf("got %s", got)
	}
}

// TestDelaysOfOneShape: the queue is planned once for each shape of newcomers, and not at
// all where no job of the guarded site waits.
func TestDelaysOfOneShape(t *testing.T) {
	t.Parallel()
	passes := 0
	e := engine.New(cpus(1), counting{engine.EASY(), &passes})
	for i := range 3 {
		if _, err := e.Submit(0, of(own, job(i, 1, 5))); err != nil {
			t.Fatal(err)
		}
	}
	asked := func(guarded protocol.SiteNumber, jobs ...protocol.Request) int {
		before := passes
		e.Delays(0, nil, jobs, guarded)
		return passes - before
	}
	short, long := protocol.Request{Job: 1, CPUs: 1, WallTime: 1}, protocol.Request{Job: 2, CPUs: 1, WallTime: 9}
	one, two := asked(own, short), asked(own, short, long)
	short.Job = 3
	if many := asked(own, slices.Repeat([]protocol.Request{short, long}, 50)...); one == 0 || many != two {
		t.Errorf("%d passes for one shape, %d for two, %d for a hundred jobs of two", one, two, many)
	}
	if none := asked(other, short); none != 0 {
		t.Errorf("%d passes where no job is guarded", none)
	}
}

// counting counts the passes of a policy.
type counting struct {
	engine.Policy
	passes *int
}

func (c counting) Pass(f *engine.ClusterState) engine.BackfillWindow {
	*c.passes++
	return c.Policy.Pass(f)
}
