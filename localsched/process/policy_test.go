package process_test

import (
	"errors"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A wide job holds up a long narrow one under EASY, and not under first fit: the
// change starts it, and leaves the one that runs alone.
func TestSetPolicyAtRunTime(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Capacity.CPUs = 2 })
	first := s.submit(t, guest(t, "sleep 300"))
	s.awaitRunning(t, first)
	wide := guest(t, "true")
	wide.Spec.CPUs = 2
	s.submit(t, wide)
	long := guest(t, "true")
	long.Spec.WallTime = protocol.Hour
	s.submit(t, long)
	load, err := s.Load(t.Context())
	if err != nil || load.Busy != 1 || load.QueuedJobs != 2 {
		t.Fatalf("under EASY: %+v, %v", load, err)
	}
	if err = s.SetPolicy(engine.FirstFit()); err != nil {
		t.Fatal(err)
	}
	if outcome := s.awaitEnd(t, long.Tag); outcome.State != protocol.Completed {
		t.Errorf("the long job ended %+v", outcome)
	}
	for _, c := range s.seen {
		if c.Tag == first && c.State.Terminal() {
			t.Errorf("the job that ran ended: %+v", c)
		}
	}
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	if err = s.SetPolicy(engine.EASY()); !errors.Is(err, localsched.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
