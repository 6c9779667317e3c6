package engine_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sized is a job of CPUs and a time as a core's driver gives it.
func sized(t *testing.T, core *engine.Core, cpus int, time protocol.Duration) engine.PendingJob {
	t.Helper()
	w, reason := core.Size(protocol.Request{CPUs: cpus, WallTime: time})
	if reason != "" {
		t.Fatalf("%d CPUs for %d ms: %s", cpus, time, reason)
	}
	return w
}

// TestCoreByNumbers: a driver that numbers its jobs makes the passes itself, and what it says of a
// number that is not in the state for it changes nothing.
func TestCoreByNumbers(t *testing.T) {
	t.Parallel()
	core := engine.NewCore(cpus(4), engine.EASY())
	if got := core.Submit(10, 3, sized(t, core, 3, 20)); !slices.Equal(got, []int{3}) {
		t.Fatalf("started %v, want job 3", got)
	}
	core.Add(10, 7, sized(t, core, 4, 5))
	core.End(11, 7)    // it waits
	core.Remove(11, 3) // it runs
	core.Remove(11, 5) // it is unknown
	core.End(11, 5)
	if got, want := core.Load(), (protocol.Load{CPUs: 4, Busy: 3, QueuedJobs: 1, QueuedWork: 20}); got != want {
		t.Errorf("the load is %+v, want %+v", got, want)
	}
	core.Add(12, 8, sized(t, core, 1, 5))
	core.End(12, 8) // it waits, and can be removed all the same
	core.Remove(12, 8)
	core.End(12, 3)
	if got := core.Load(); got.Busy != 0 || got.QueuedJobs != 1 {
		t.Errorf("before the pass after an end the load is %+v", got)
	}
	if got := core.Pass(12); !slices.Equal(got, []int{7}) {
		t.Errorf("started %v, want job 7", got)
	}
	core.Add(12, 3, sized(t, core, 1, 9)) // the number is free again
	core.Remove(12, 3)
	if got, want := core.Load(), (protocol.Load{CPUs: 4, Busy: 4}); got != want {
		t.Errorf("the load is %+v, want %+v", got, want)
	}
}

// TestExpired: a job whose estimate is over gives its units back before it is known to have
// ended; its end gives back nothing more.
func TestExpired(t *testing.T) {
	t.Parallel()
	core := engine.NewCore(cpus(4), engine.Conservative())
	core.Submit(0, 0, sized(t, core, 4, 10))
	core.Submit(0, 1, sized(t, core, 3, 10))
	core.Expire(10, 0)
	if got := core.Load().Busy; got != 0 {
		t.Errorf("%d CPUs are busy after the estimate, want none", got)
	}
	if got := core.Pass(10); !slices.Equal(got, []int{1}) {
		t.Errorf("started %v, want job 1", got)
	}
	core.End(12, 0)
	if got := core.Load().Busy; got != 3 {
		t.Errorf("%d CPUs are busy after the end, want 3", got)
	}
	core.Add(12, 0, sized(t, core, 2, 5))
	core.End(13, 1)
	if got := core.Pass(13); !slices.Equal(got, []int{0}) {
		t.Errorf("started %v, want job 0, a new one of that number", got)
	}
}
