package pluginhost_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A plugin that stands still finds, when it goes on, submissions that were given up and
// the question whether they took effect. What it then calls absent does not come.
func TestGivenUpSubmissions(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "memory")
	spec.Kind = pluginhost.SchedulerKind
	plugin := up(t, spec)
	scheduler := plugin.Scheduler()
	pid := plugin.Status().PID
	var absent []protocol.Tag
	for i := range 40 {
		tag := tagOf(1000 + uint64(i))
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_, err := scheduler.Submit(short, submission(tag.Job.Seq()))
		cancel()
		goOn := func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
		later := time.AfterFunc(5*time.Millisecond, goOn)
		presence, _, failed := scheduler.FindByTag(t.Context(), tag)
		later.Stop()
		goOn() // it may have answered before it stood still
		switch {
		case failed != nil:
			t.Fatal(failed)
		case presence == localsched.Absent && err == nil:
			t.Errorf("job %v was submitted, and is absent", tag)
		case presence == localsched.Absent:
			absent = append(absent, tag)
		}
	}
	for _, tag := range absent {
		if presence, _, err := scheduler.FindByTag(t.Context(), tag); err != nil || presence != localsched.Absent {
			t.Errorf("job %v was absent, and is %v afterwards, %v", tag, presence, err)
		}
	}
	if len(absent) == 0 {
		t.Error("no submission was given up in time")
	}
}
