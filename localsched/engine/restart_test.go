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

// restarted is a rig whose driver was restarted: a new engine, which is told what runs, in the
// order of the starts, and what waits, in the order of submission, with what it was promised.
func (r *rig) restarted(m engine.Machine, p engine.Policy) *rig {
	r.t.Helper()
	promised := map[protocol.Tag]engine.ReservedStart{}
	for _, one := range r.engine.ReservedStarts() {
		promised[one.Tag] = one
	}
	again := newRig(r.t, m, p)
	again.now = r.now
	for t, j := range r.jobs {
		twin := *j
		again.jobs[t] = &twin
	}
	for _, j := range r.started {
		again.started = append(again.started, again.jobs[j.Tag])
		running := j.Queued
		running.Place = r.engine.PlaceName(j.Tag)
		if err := again.engine.Restore(running, j.start); err != nil {
			r.t.Fatalf("restore %v: %v", j.Tag, err)
		}
	}
	for _, t := range r.waiting() {
		if err := again.engine.Requeue(again.now, r.jobs[t].Queued, promised[t]); err != nil {
			r.t.Fatalf("requeue %v: %v", t, err)
		}
	}
	again.apply(again.engine.Pass(again.now))
	again.apply(again.engine.Tick(again.now))
	return again
}

// drawTrace draws jobs that keep a machine busy, and run as long as they were estimated to at
// most. The jobs follow from one number, evenly: small ones, as rapid prefers them, leave
// nothing to wait for.
func drawTrace(t *rapid.T, m engine.Machine) []arrival {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	trace := make([]arrival, 40)
	at := protocol.Instant(1000)
	for i := range trace {
		at += protocol.Instant(random.IntN(12))
		estimate := 1 + protocol.Duration(random.IntN(100))
		run := 1 + protocol.Duration(random.IntN(int(estimate)))
		trace[i] = arrival{at, job(i, 1+random.IntN(m.Capacity().CPUs*3/4+1), estimate), run}
		if i%4 == 0 {
			trace[i].job.MinTime = 1 + protocol.Duration(random.IntN(int(estimate)))
		}
	}
	return trace
}

// TestRestart: a restart of the driver changes no start. Under a policy that promises starts
// none comes later than was promised; one may come earlier, as all promises are looked at once
// more.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names() {
		policy, err := engine.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			m := cpus(16)
			if rapid.Bool().Draw(t, "partitions") {
				m = drawPartitioned(t)
			}
			trace := drawTrace(t, m)
			cut := rapid.IntRange(0, len(trace)).Draw(t, "jobs before the restart")
			r := newRig(t, m, policy)
			r.follow(trace[:cut])
			r.advance(r.now + protocol.Instant(rapid.IntRange(0, 30).Draw(t, "pause")))
			promised := r.engine.ReservedStarts()
			again := r.restarted(m, policy)
			for _, one := range []*rig{r, again} {
				one.follow(trace[cut:])
				one.drain()
			}
			for _, one := range promised {
				if start := again.jobs[one.Tag].start; start > one.Start {
					t.Fatalf("%v was promised %d and starts at %d", one.Tag, one.Start, start)
				}
			}
			for tag, j := range r.jobs {
				if start := again.jobs[tag].start; start != j.start && policy.PlanMode() != engine.PlanReserved {
					t.Fatalf("%v starts at %d, and at %d without the restart", tag, start, j.start)
				}
			}
		})
	}
}

// follow submits the jobs of a trace, each at its time or as soon as that can be.
func (r *rig) follow(trace []arrival) {
	r.t.Helper()
	for _, a := range trace {
		r.advance(a.at)
		r.submit(a.job, a.run)
	}
}

// TestNothingWasPromised: after a restart a job that was promised nothing comes after those that
// were, and takes none of their time.
func TestNothingWasPromised(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(2), engine.Conservative())
	if err := e.Restore(job(0, 1, 20), 0); err != nil {
		t.Fatal(err)
	}
	for n, j := range []localsched.Queued{job(1, 1, 100), job(2, 2, 10)} {
		promised := engine.ReservedStart{Tag: j.Tag, Start: []protocol.Instant{0, 20}[n]}
		if err := e.Requeue(5, j, promised); err != nil {
			t.Fatal(err)
		}
	}
	started, want := e.Pass(5).Starts, []engine.ReservedStart{{Tag: tag(1), Start: 30}, {Tag: tag(2), Start: 20}}
	if got := e.ReservedStarts(); len(started) > 0 || !slices.Equal(got, want) {
		t.Errorf("started %v, and promised are %+v, want %+v", started, got, want)
	}
}

// TestPromisesToSeveral: all that have come since the last pass are promised a start by the next, in
// the order in which they came.
func TestPromisesToSeveral(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(2), engine.Conservative())
	mustSubmit(t, e, 0, job(0, 2, 20))
	for n := 1; n <= 3; n++ {
		if err := e.Requeue(5, job(n, 2, 10), engine.ReservedStart{}); err != nil {
			t.Fatal(err)
		}
	}
	e.Pass(5)
	want := []engine.ReservedStart{{Tag: tag(1), Start: 20}, {Tag: tag(2), Start: 30}, {Tag: tag(3), Start: 40}}
	if got := e.ReservedStarts(); !slices.Equal(got, want) {
		t.Errorf("promised are %+v, want %+v", got, want)
	}
}
