package engine_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestEASY runs small traces on 4 CPUs. In the pictures a row is a CPU, a column
// a millisecond, and a letter the job that runs there, A being job 0.
func TestEASY(t *testing.T) {
	t.Parallel()
	type submission struct {
		at       protocol.Instant
		cpus     int
		estimate protocol.Duration
		run      protocol.Duration
	}
	for _, c := range []struct {
		name string
		jobs []submission
		want []protocol.Instant
	}{
		{
			// A A A A
			// A A A A
			// B B
			// C C C C C
			"what fits starts at once",
			[]submission{{0, 2, 4, 4}, {0, 1, 2, 2}, {0, 1, 5, 5}},
			[]protocol.Instant{0, 0, 0},
		},
		{
			// A A A A B B
			// A A A A B B
			// C C C . B B
			// . . . . B B
			"a short job passes a head that waits",
			[]submission{{0, 2, 4, 4}, {0, 4, 2, 2}, {0, 1, 3, 3}},
			[]protocol.Instant{0, 4, 0},
		},
		{
			// A A A A B B C C C C C
			// A A A A B B
			// . . . . B B
			// . . . . B B
			"a long job waits if it would delay the head",
			[]submission{{0, 2, 4, 4}, {0, 4, 2, 2}, {0, 1, 5, 5}},
			[]protocol.Instant{0, 4, 6},
		},
		{
			// A A A A B B
			// A A A A B B
			// . . . . B B
			// C C C C C C
			"a long job starts on what the head leaves over",
			[]submission{{0, 2, 4, 4}, {0, 3, 2, 2}, {0, 1, 6, 6}},
			[]protocol.Instant{0, 4, 0},
		},
		{
			// A A A A B B D D D D D D
			// A A A A B B
			// . . . . B B
			// C C C C C C
			"what the head leaves over is lent once",
			[]submission{{0, 2, 4, 4}, {0, 3, 2, 2}, {0, 1, 6, 6}, {0, 1, 6, 6}},
			[]protocol.Instant{0, 4, 0, 6},
		},
		{
			// A A A C C
			// A A A C C
			// B B B C C
			// D D D D D D     (the ends of A and B both count)
			"all that ends at the shadow counts",
			[]submission{{0, 2, 3, 3}, {0, 1, 3, 3}, {0, 3, 2, 2}, {0, 1, 6, 6}},
			[]protocol.Instant{0, 0, 3, 0},
		},
		{
			// A A B B
			// A A B B     (A said 4 and ends at 2)
			// . . B B
			// . . B B
			"an early end is used at once",
			[]submission{{0, 2, 4, 2}, {0, 4, 2, 2}},
			[]protocol.Instant{0, 2},
		},
		{
			// A A A A A A B     (A said 4; C may not lean on its end)
			// A A A A A A B
			// . . . . . . B
			// . . . . . . B C
			"nothing is lent of a job past its estimate",
			[]submission{{0, 2, 4, 6}, {0, 4, 1, 1}, {5, 1, 1, 1}},
			[]protocol.Instant{0, 6, 7},
		},
		{
			// the shorter C comes after B and may not pass it
			"jobs behind the head start in the order of submission",
			[]submission{{0, 4, 3, 3}, {0, 4, 5, 5}, {0, 4, 1, 1}},
			[]protocol.Instant{0, 3, 8},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			trace := make([]arrival, len(c.jobs))
			for i, j := range c.jobs {
				trace[i] = arrival{j.at, job(i, j.cpus, j.estimate), j.run}
			}
			got := startsOf(t, cpus(4), engine.EASY(), trace)
			for i, want := range c.want {
				if got[tag(i)] != want {
					t.Errorf("job %c started at %d, want %d", 'A'+i, got[tag(i)], want)
				}
			}
		})
	}
}

// TestPlanEASY asks for quotes in a known state of 4 CPUs:
//
//	A A A A B B      A runs, B waits, C is ahead: it comes
//	A A A A B B      after B and is as wide as the machine
//	. . . . B B
//	. . . . . . C
func TestPlanEASY(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(4), engine.EASY())
	r.now = 1000
	r.submit(job(0, 2, 4), 4)
	r.submit(job(1, 3, 2), 2)
	ahead := []protocol.Request{{CPUs: 4, WallTime: 1}}
	for _, c := range []struct {
		name  string
		now   protocol.Instant
		ahead []protocol.Request
		cpus  int
		time  protocol.Duration
		want  protocol.Instant
	}{
		{"short, now", 1000, nil, 2, 4, 1000},
		{"short, no longer short enough", 1001, nil, 2, 4, 1006},
		{"long, beside the head", 1000, nil, 1, 100, 1000},
		{"long, beside the head, later", 1003, nil, 1, 100, 1003},
		{"long and wide, after the head", 1000, nil, 2, 100, 1006},
		{"as wide as the machine", 1000, nil, 4, 1, 1006},
		{"ahead: short, now", 1000, ahead, 2, 4, 1000},
		{"ahead: long, beside the first head only", 1000, ahead, 1, 100, 1000},
		{"ahead: as wide as the machine", 1000, ahead, 4, 1, 1007},
		{"past the estimate: next millisecond", 1009, nil, 3, 100, 1012},
		{"past the estimate: now, beside the head", 1009, nil, 1, 100, 1009},
		{"past the estimate: ahead", 1009, ahead, 4, 1, 1013},
	} {
		got := r.engine.Plan(c.now, c.ahead, []protocol.Request{{CPUs: c.cpus, WallTime: c.time}})
		if got[0].Start != c.want || got[0].Declined != "" {
			t.Errorf("%s: %+v, want start %d", c.name, got[0], c.want)
		}
	}
}

// TestShortThenLong: a job that is over when the head begins takes nothing of what is left beside
// the head, so that a long one finds it there.
//
//	8 │ B B B B B H H      A is 5 wide, H 7, B 2, C 1
//	  │ A A A A A H H
//	1 │ C C C C C C C C
func TestShortThenLong(t *testing.T) {
	t.Parallel()
	for _, policy := range []engine.Policy{engine.EASY(), engine.EASYSJBF()} {
		r := newRig(t, cpus(8), policy)
		r.submit(job(0, 5, 10), 10)
		r.submit(job(1, 7, 5), 5)
		r.submit(job(2, 2, 10), 10)
		r.submit(job(3, 1, 100), 100)
		if starts := r.order; !slices.Equal(starts, []protocol.Tag{tag(0), tag(2), tag(3)}) {
			t.Errorf("started are %v, want all but the head", starts)
		}
	}
}

// TestShortThenLater: the same when the long one finds room only later, at an end that came in time.
func TestShortThenLater(t *testing.T) {
	t.Parallel()
	for _, policy := range []engine.Policy{engine.EASY(), engine.EASYSJBF()} {
		r := newRig(t, cpus(9), policy)
		r.submit(job(0, 5, 10), 10)
		r.submit(job(1, 1, 5), 5)
		r.submit(job(2, 7, 5), 5)   // the head: two CPUs are left beside it
		r.submit(job(3, 2, 10), 10) // is over when it begins
		r.submit(job(4, 2, 100), 100)
		r.drain()
		if head, long := r.jobs[tag(2)].start, r.jobs[tag(4)].start; head != 10 || long != 5 {
			t.Errorf("the head starts at %d, want 10, the long one at %d, want 5", head, long)
		}
	}
}
