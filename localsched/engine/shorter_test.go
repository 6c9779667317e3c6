package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func atLeast(j localsched.Queued, least protocol.Duration) localsched.Queued {
	j.MinTime = least
	return j
}

// TestShorterLimit: a job that takes a shorter limit starts at once with all the time that there is before the
// reservation of another one, which starts when it would have without it.
func TestShorterLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		least  protocol.Duration
		start  protocol.Instant // of the job
		limit  protocol.Duration
	}{
		{"easy", 30, 0, 60},
		{"easy", 60, 0, 60},
		{"easy", 61, 160, 100},
		{"easysjbf", 30, 0, 60},
		{"conservative", 30, 0, 60},
		{"conservative", 61, 160, 100},
		{"fcfs", 30, 160, 100},
		{"sjf", 30, 160, 100},
		{"firstfit", 30, 0, 100},
		{"sjffit", 30, 0, 100},
	} {
		policy, err := engine.Named(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, cpus(4), policy)
		r.submit(job(1, 3, 60), 60)
		r.submit(job(2, 4, 100), 100)
		flexible := atLeast(job(3, 1, 100), c.least)
		planned := r.engine.Plan(r.now, nil, []protocol.Request{flexible.Request})[0]
		r.submit(flexible, 100)
		for _, j := range r.jobs { // before they end
			if limit := r.engine.Limit(j.Tag); j.running && limit != j.limit() {
				t.Errorf("%s: %v has its limit at %d, want %d", c.policy, j.Tag, limit, j.limit())
			}
		}
		r.drain()
		got := r.jobs[tag(3)]
		if got.start != c.start || got.end.Sub(got.start) != c.limit || planned.Start != c.start {
			t.Errorf("%s, at least %v: quoted %d, started at %d for %v; want %d for %v",
				c.policy, c.least, planned.Start, got.start, got.end.Sub(got.start), c.start, c.limit)
		}
		if wide := r.jobs[tag(2)]; c.policy != "firstfit" && c.policy != "sjffit" && wide.start != 60 {
			t.Errorf("%s, at least %v: the job before it starts at %d, want 60", c.policy, c.least, wide.start)
		}
	}
}

// TestShorterBeforeReservation: under every policy a job starts before an advance reservation with the time
// that there is, or waits if it does not take that.
func TestShorterBeforeReservation(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names() {
		for _, c := range []struct{ least, limit protocol.Duration }{{20, 40}, {40, 40}, {41, 0}, {0, 0}} {
			r := newHoldRig(t, cpus(4), named(t, name))
			r.hold(job(1, 4, 50), 40)
			r.submit(atLeast(job(2, 2, 100), c.least), 100)
			if got := r.engine.Limit(tag(2)); got != protocol.Instant(c.limit) {
				t.Errorf("%s, at least %v: limit at %d, want %d", name, c.least, got, c.limit)
			}
		}
	}
}

// TestShorterKeepsReservedStarts: no job that starts with a shorter limit moves the reserved start of another one
// to a later time.
func TestShorterKeepsReservedStarts(t *testing.T) {
	t.Parallel()
	shorter := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t)
		r := newRig(t, m, engine.Conservative())
		promised := map[protocol.Tag]protocol.Instant{}
		keep := func() {
			for _, w := range r.waiting() {
				at := r.engine.PromisedTo(w, r.now)
				if was, ok := promised[w]; ok && at > was {
					t.Fatalf("at %d %v has a reserved start at %d, it had one at %d", r.now, w, at, was)
				}
				promised[w] = at
			}
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
			for to := r.now + protocol.Instant(rapid.IntRange(0, 4).Draw(t, "gap")); ; keep() {
				if !r.step(to) {
					r.now = to
					break
				}
			}
			request := drawRequest(t, m)
			request.MinTime = 1 // so that some job of a hundred draws surely gets a shorter limit
			r.submit(localsched.Queued{Request: request, Tag: tag(i)}, protocol.Duration(rapid.IntRange(1, int(request.WallTime)).Draw(t, "run")))
			keep()
		}
		for r.step(1 << 62) {
			keep()
		}
		for _, j := range r.jobs {
			if j.Limit != 0 && j.Limit < j.WallTime {
				shorter++
			}
		}
	})
	if shorter == 0 {
		t.Error("no job was started with a shorter limit")
	}
}
