package process_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLimitThatWasGranted: a job that starts before the reservation of another one with a shorter limit than it
// asked for has that limit in its environment and in what is reported of it, over a restart too, and is
// ended at it. All that has to happen before the limit: where the machine is too slow for one, a longer one is tried.
func TestLimitThatWasGranted(t *testing.T) {
	t.Parallel()
	for _, limit := range []protocol.Duration{20 * protocol.Second, protocol.Minute, 150 * protocol.Second} {
		if limitIsGranted(t, limit) {
			return
		}
	}
	t.Error("no job started with a shorter limit, or all had ended when the site was opened again, though the limit of the job before was 150 s")
}

// limitIsGranted tries it with jobs that end at a limit; inTime says whether that was not too early.
func limitIsGranted(t *testing.T, limit protocol.Duration) (inTime bool) {
	t.Helper()
	s := openSite(t, func(c *process.Config) {
		c.Capacity, c.OnStop = protocol.Capacity{CPUs: 2, Nodes: 1}, process.LeaveJobs
	})
	started := func(tag protocol.Tag) localsched.Change {
		return s.await(t, tag, func(state protocol.State) bool { return state == protocol.Running || state.Terminal() })
	}
	first := guest(t, "exec sleep 600")
	first.Spec.WallTime = limit
	s.submit(t, first)
	wide := guest(t, "exit 0")
	wide.Spec.CPUs = 2
	s.submit(t, wide)
	asked := limit * 10
	short := guest(t, `echo $((SLURM_JOB_END_TIME - SLURM_JOB_START_TIME))
exec sleep 600`)
	short.Spec.WallTime, short.Spec.MinTime = asked, 1
	s.submit(t, short)
	granted := started(short.Tag).TimeLimit
	if granted == 0 {
		return false // with its whole limit: the others had ended when it came
	}
	if granted > limit {
		t.Fatalf("started with a limit of %v, want one that ends with the first job's %v", granted, limit)
	}
	s.reopen(t)
	s.seen, s.cursor = nil, ""
	again := started(short.Tag)
	if again.State.Terminal() {
		return false
	}
	if again.TimeLimit != granted {
		t.Errorf("after a restart the limit is %v, it was %v", again.TimeLimit, granted)
	}
	got := s.awaitEnd(t, short.Tag)
	if got.State != protocol.Timeout || !strings.Contains(got.Reason, "limit of "+granted.Text()) || got.Ran < granted || got.Ran >= asked {
		t.Errorf("ended as %+v, want a time limit of %v", got, granted)
	}
	// Whole seconds, from the start as the shim has seen it.
	seconds := strings.TrimSpace(s.read(t, short.Tag, protocol.Stdout))
	if low, high := int64(granted/protocol.Second), int64(granted/protocol.Second)+1; seconds != strconv.FormatInt(low, 10) && seconds != strconv.FormatInt(high, 10) {
		t.Errorf("by its environment it may run for %s s, want %d to %d", seconds, low, high)
	}
	if end := s.awaitEnd(t, wide.Tag); end.State != protocol.Completed {
		t.Errorf("the job with the reservation ended as %+v", end)
	}
	return true
}
