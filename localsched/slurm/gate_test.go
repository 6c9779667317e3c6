package slurm_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changes"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/gate"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPowerGate: within the budget of one CPU real Slurm gets one job, and the next when
// that has ended; what is withdrawn while it is held Slurm never gets.
func TestPowerGate(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	signal, err := power.NewSignal([]power.Step{{At: 0, Limit: 1000}, {At: power.End, Limit: power.Unlimited}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.Open(gate.Config{
		Dir: newDir(t) + "/gate", Scheduler: s.Scheduler,
		Machine: engine.Of(protocol.Capacity{CPUs: allCPUs, Nodes: nodes}),
		Budget:  engine.Budget{Signal: signal, Rates: power.Rates{Busy: 1_000_000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	dir := homeDir(t)
	first, second, third := home(dir, "while [ ! -e go ]; do sleep 0.1; done"), home(dir, "touch second"), home(dir, "touch third")
	for _, job := range []localsched.Submission{first, second, third} {
		if _, err = g.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	w := &gateWatcher{g: g, last: map[protocol.Tag]localsched.Change{}}
	w.await(t, first.Tag, func(c localsched.Change) bool { return c.State == protocol.Running })
	w.await(t, second.Tag, func(c localsched.Change) bool { return c.Reason == changes.PowerBudget })
	if got := s.cluster.must(t, "squeue", "-h", "-o", "%j", "-n", s.jobName(first.Tag)+","+s.jobName(second.Tag)+","+s.jobName(third.Tag)); got != s.jobName(first.Tag) {
		t.Errorf("Slurm has %q, want the first job alone", got)
	}
	if load, failed := g.Load(t.Context()); failed != nil || load.Draw != 1000 || load.Budget != 1000 || load.Free() > 0 {
		t.Errorf("the load is %+v, %v", load, failed)
	}
	if became, failed := g.Withdraw(t.Context(), third.Tag); failed != nil || became != localsched.Withdrawn {
		t.Errorf("withdrawn: %v, %v", became, failed)
	}
	if err = os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	began := w.await(t, second.Tag, func(c localsched.Change) bool { return c.State == protocol.Running })
	ended := w.await(t, first.Tag, func(c localsched.Change) bool { return c.State == protocol.Completed })
	if end := ended.Started.Add(ended.Outcome.Ran); began.Started < end.Add(-protocol.Second) {
		t.Errorf("the second job started at %d, the first ended at %d", began.Started, end)
	}
	w.await(t, second.Tag, func(c localsched.Change) bool { return c.State == protocol.Completed })
	if past := s.cluster.must(t, "squeue", "-h", "-t", "all", "-o", "%j", "-n", s.jobName(third.Tag)); past != "" {
		t.Errorf("Slurm has had %q", past)
	}
}

// gateWatcher follows a gate.
type gateWatcher struct {
	g      *gate.Gate
	cursor localsched.Cursor
	last   map[protocol.Tag]localsched.Change
}

// await watches until what was told last of a job is so.
func (w *gateWatcher) await(t *testing.T, tag protocol.Tag, is func(localsched.Change) bool) localsched.Change {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), ample)
	defer cancel()
	for {
		if c := w.last[tag]; is(c) {
			return c
		}
		watched, err := w.g.Watch(ctx, w.cursor)
		if err != nil {
			t.Fatalf("job %v: %v; told last: %+v", tag, err, w.last[tag])
		}
		w.cursor = watched.Cursor
		for _, c := range watched.Changes {
			if w.last[c.Tag] = c; c.Tag == tag && is(c) {
				return c
			}
		}
	}
}
