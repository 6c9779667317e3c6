package slurm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/powergate"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
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
	g, err := powergate.Open(powergate.Config{
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
	w.await(t, second.Tag, func(c localsched.Change) bool { return c.Reason == changefeed.PowerBudget })
	if got := s.cluster.must(t, "squeue", "-h", "-o", "%j", "-n", s.jobName(first.Tag)+","+s.jobName(second.Tag)+","+s.jobName(third.Tag)); got != s.jobName(first.Tag) {
		t.Errorf("Slurm has %q, want the first job alone", got)
	}
	if load, failed := g.Load(t.Context()); failed != nil || load.Draw != 1000 || load.Budget != protocol.ActiveBudget(1000) || load.Free() > 0 {
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

// watts is a budget of so many CPUs, a watt each, for an hour from an instant on.
func watts(t *testing.T, from protocol.Instant, cpus int64) engine.Budget {
	t.Helper()
	end := protocol.InstantOf(time.Now()).Add(protocol.Hour)
	signal, err := power.NewSignal([]power.Step{{At: from, Limit: 1000 * cpus}, {At: end, Limit: power.Unlimited}})
	if err != nil {
		t.Fatal(err)
	}
	return engine.Budget{Signal: signal, Rates: power.Rates{Busy: 1_000_000}}
}

// gated is a gate before real Slurm, which holds each job that it gets until the test releases
// it there.
type gated struct {
	*site
	*gateWatcher

	config powergate.Config
	dir    string // of the jobs
}

func openGated(t *testing.T, c cluster) *gated {
	t.Helper()
	s := openSite(t, c, func(c *slurm.Config) { c.Extra = []string{"--hold"} })
	g := &gated{site: s, dir: homeDir(t), config: powergate.Config{
		Dir: newDir(t) + "/gate", Scheduler: s.Scheduler,
		Machine: engine.Of(protocol.Capacity{CPUs: allCPUs, Nodes: nodes}),
		Budget:  engine.Budget{Rates: power.Rates{Busy: 1_000_000}},
	}}
	g.openGate(t)
	t.Cleanup(func() { g.g.Close() })
	return g
}

func (g *gated) openGate(t *testing.T) {
	t.Helper()
	opened, err := powergate.Open(g.config)
	if err != nil {
		t.Fatal(err)
	}
	g.gateWatcher = &gateWatcher{g: opened, last: map[protocol.Tag]localsched.Change{}}
}

// gives submits jobs that run until a file named go is there, and waits until Slurm has them.
func (g *gated) gives(t *testing.T, count int) (tags []protocol.Tag) {
	t.Helper()
	for range count {
		job := home(g.dir, "")
		job.Payload.Script = fmt.Appendf(nil, "#!/bin/sh\necho ran >> ran.%d\nwhile [ ! -e go ]; do sleep 0.1; done\n", job.Tag.Job)
		job.Payload.Stdout, job.Payload.Stderr = "", ""
		if _, err := g.g.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		tags = append(tags, job.Tag)
	}
	g.slurmHas(t, tags, tags)
	return tags
}

// slurmHas waits until of some jobs Slurm's queue has just these.
func (g *gated) slurmHas(t *testing.T, of, want []protocol.Tag) {
	t.Helper()
	name := func(tags []protocol.Tag) (names []string) {
		for _, tag := range tags {
			names = append(names, g.jobName(tag))
		}
		slices.Sort(names)
		return names
	}
	eventually(t, fmt.Sprintf("Slurm has %v", want), func() bool {
		out, err := g.cluster.run("squeue", "-h", "-o", "%j", "-t", "PD,R", "-n", strings.Join(name(of), ","))
		got := strings.Fields(out)
		slices.Sort(got)
		return err == nil && slices.Equal(got, name(want))
	})
}

// starts has Slurm start a job.
func (g *gated) starts(t *testing.T, tag protocol.Tag) {
	t.Helper()
	id := g.cluster.must(t, "squeue", "-h", "-o", "%A", "-t", "PD", "-n", g.jobName(tag))
	g.cluster.must(t, "scontrol", "release", id)
	g.gateWatcher.await(t, tag, func(c localsched.Change) bool { return c.State == protocol.Running })
}

func (g *gated) isHeld(t *testing.T, tag protocol.Tag) {
	t.Helper()
	g.gateWatcher.await(t, tag, func(c localsched.Change) bool { return c.Reason == changefeed.PowerBudget })
}

// ends lets all jobs end, and checks that each has run once.
func (g *gated) ends(t *testing.T, tags []protocol.Tag) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tag := range tags {
		g.gateWatcher.await(t, tag, func(c localsched.Change) bool { return c.State == protocol.Completed })
		if ran, _ := os.ReadFile(filepath.Join(g.dir, fmt.Sprintf("ran.%d", tag.Job))); string(ran) != "ran\n" {
			t.Errorf("job %v ran %q; %s", tag, ran, g.story(tag))
		}
	}
}

func (g *gated) draws(t *testing.T, running, pending int64) {
	t.Helper()
	load, err := g.g.Load(t.Context())
	if kept := g.g.Pending(); err != nil || load.Draw != 1000*running || kept != 1000*pending {
		t.Errorf("the running jobs draw %d mW and the pending ones would draw %d, %v; want %d and %d W", load.Draw, kept, err, running, pending)
	}
}

// TestPowerGateTakesBack: what waits in the queue of real Slurm when a budget begins, and when it
// falls, is taken back, and given again when there is none. What runs, runs on.
func TestPowerGateTakesBack(t *testing.T) {
	t.Parallel()
	g := openGated(t, "siteA")
	tags := g.gives(t, 4)
	g.starts(t, tags[1])
	g.draws(t, 1, 3)
	if err := g.g.SetBudget(watts(t, protocol.InstantOf(time.Now()).Add(protocol.Second), 2)); err != nil {
		t.Fatal(err)
	}
	g.isHeld(t, tags[2]) // when the budget has begun
	g.isHeld(t, tags[3])
	g.slurmHas(t, tags, tags[:2])
	g.draws(t, 1, 1)
	if err := g.g.SetBudget(watts(t, 0, 1)); err != nil {
		t.Fatal(err)
	}
	g.isHeld(t, tags[0])
	g.slurmHas(t, tags, tags[1:2])
	g.draws(t, 1, 0)
	if err := g.g.SetBudget(g.config.Budget); err != nil {
		t.Fatal(err)
	}
	g.slurmHas(t, tags, tags)
	for _, tag := range []protocol.Tag{tags[0], tags[2], tags[3]} {
		g.starts(t, tag)
	}
	g.draws(t, 4, 0)
	g.ends(t, tags)
}

// TestPowerGateTakesBackFromTheDead: a budget begins while slurmctld is down, and while the gate is.
// What slurmctld then starts does not run until the budget allows it.
func TestPowerGateTakesBackFromTheDead(t *testing.T) {
	t.Parallel()
	const here = cluster("siteB")
	siteB.Lock()
	defer siteB.Unlock()
	g := openGated(t, here)
	tags := g.gives(t, 2)
	var ids []string
	for _, tag := range tags {
		ids = append(ids, here.must(t, "squeue", "-h", "-o", "%A", "-t", "PD", "-n", g.jobName(tag)))
	}
	here.stop(t)
	if err := g.g.Close(); err != nil {
		t.Fatal(err)
	}
	none := g.config.Budget
	g.config.Budget = watts(t, 0, 0)
	g.openGate(t)
	for _, tag := range tags {
		g.isHeld(t, tag)
	}
	if err := here.start(); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids { // as far as they are not cancelled yet
		_, _ = here.run("scontrol", "release", id)
	}
	g.slurmHas(t, tags, nil)
	g.draws(t, 0, 0)
	if ran, err := filepath.Glob(filepath.Join(g.dir, "ran.*")); err != nil || len(ran) > 0 {
		t.Errorf("under a budget of nothing ran %v, %v", ran, err)
	}
	if err := g.g.SetBudget(none); err != nil {
		t.Fatal(err)
	}
	g.slurmHas(t, tags, tags)
	for _, tag := range tags {
		g.starts(t, tag)
	}
	g.ends(t, tags)
}

// gateWatcher follows a gate.
type gateWatcher struct {
	g      *powergate.Gate
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
		var was []localsched.Change
		for _, c := range watched.Changes {
			if w.last[c.Tag] = c; c.Tag == tag && is(c) {
				was = append(was, c)
			}
		}
		if len(was) > 0 {
			return was[0]
		}
	}
}
