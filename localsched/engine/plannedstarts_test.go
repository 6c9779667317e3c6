package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPlannedStartsComeTrue: without further jobs, and if all estimates hold, each pending job starts when that was planned.
// Asking changes nothing.
func TestPlannedStartsComeTrue(t *testing.T) {
	t.Parallel()
	for policyName, policy := range policies() {
		for machineName, draw := range machines() {
			t.Run(policyName+" on "+machineName, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { plannedStartsComeTrue(t, draw(t), policy) })
			})
		}
	}
}

func plannedStartsComeTrue(t *rapid.T, m engine.Machine, policy engine.Policy) {
	story := drawStory(t, m)
	r, twin := story.tell(t, m, policy), story.tell(t, m, policy)
	request := []protocol.Request{drawRequest(t, m)}
	pending, plan := r.waiting(), r.engine.Plan(r.now, nil, request)
	asked := append([]protocol.Tag{tag(5000)}, pending...) // there is no such job
	for _, j := range r.started {
		asked = append(asked, j.Tag)
	}
	twin.comeTrue()
	twin.drain()
	got := r.engine.PlannedStarts(r.now, asked)
	if len(got) != len(pending) {
		t.Fatalf("%d starts are planned of %d pending jobs: %v", len(got), len(pending), got)
	}
	for i, planned := range got {
		if planned.Tag != pending[i] || planned.Start != twin.jobs[planned.Tag].start {
			t.Fatalf("at %d, %v is planned at %d; %v started at %d", r.now, planned.Tag, planned.Start, pending[i], twin.jobs[pending[i]].start)
		}
	}
	if again := r.engine.Plan(r.now, nil, request); again[0] != plan[0] {
		t.Fatalf("asking for planned starts changed the plan from %v to %v", plan, again)
	}
	if wrong := r.engine.Check(); wrong != "" {
		t.Fatal(wrong)
	}
}

// TestPlannedStartOfReserved: a job with an advance reservation starts with that; one of which no start is in sight is left
// out, and so is a reservation without a job.
func TestPlannedStartOfReserved(t *testing.T) {
	t.Parallel()
	e := engine.New(cpus(1), engine.EASY())
	for n, start := range []protocol.Instant{100, 200} {
		if _, _, err := e.Reserve(0, localsched.Reservation{Tag: tag(n), Request: job(n, 1, 10).Request, Start: start}, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Submit(0, job(0, 1, 10)); err != nil {
		t.Fatal(err)
	}
	if got := e.PlannedStarts(5, []protocol.Tag{tag(0), tag(1), tag(0)}); len(got) != 1 || got[0] != (localsched.PlannedStart{Tag: tag(0), Start: 100}) {
		t.Errorf("planned %v", got)
	}
	never := engine.New(cpus(1), closed{quotes: engine.PlanSimulate})
	if _, err := never.Submit(0, job(0, 1, 10)); err != nil {
		t.Fatal(err)
	}
	if got := never.PlannedStarts(5, []protocol.Tag{tag(0)}); len(got) != 0 {
		t.Errorf("planned %v, and nothing ever starts", got)
	}
}
