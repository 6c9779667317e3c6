package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watts has a CPU that works draw a watt and one that is held idle a quarter of it.
func watts() power.Rates { return power.Rates{Busy: 1_000_000, Idle: 250_000} }

func now() protocol.Instant { return protocol.InstantOf(time.Now()) }

// until is a budget in watts from now to then.
func until(t testing.TB, then protocol.Instant, limit int64) engine.Budget {
	t.Helper()
	signal, err := power.NewSignal([]power.Step{{At: 0, Limit: 1000 * limit}, {At: then, Limit: power.Unlimited}})
	if err != nil {
		t.Fatal(err)
	}
	return engine.Budget{Signal: signal, Rates: watts()}
}

func (s *site) load(t testing.TB) protocol.Load {
	t.Helper()
	load, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return load
}

// awaitReason watches until the job waits for that reason.
func (s *site) awaitReason(t testing.TB, tag protocol.Tag, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		last := localsched.Change{}
		for _, c := range s.seen {
			if c.Tag == tag {
				last = c
			}
		}
		if last.State == protocol.Pending && last.Reason == reason {
			return
		}
		watched, err := s.Watch(ctx, s.cursor)
		if err != nil {
			t.Fatalf("job %v does not wait for %q: %v; seen: %+v", tag, reason, err, s.seen)
		}
		s.cursor = watched.Cursor
		s.seen = append(s.seen, watched.Changes...)
	}
}

// TestProcessesStartWithinTheBudget: a job for which there are CPUs and no power waits, and
// says so to users, to other sites and in the load; with another budget it starts.
func TestProcessesStartWithinTheBudget(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Budget = until(t, now().Add(protocol.Hour), 2) })
	two := guest(t, "sleep 300")
	two.Spec.CPUs, two.Spec.WallTime = 2, protocol.Hour
	s.awaitRunning(t, s.submit(t, two))
	one := s.submit(t, guest(t, "true"))
	s.awaitReason(t, one, changefeed.PowerBudget)
	want := protocol.Load{
		CPUs: 4, Busy: 2, QueuedJobs: 1, QueuedWork: int64(protocol.Minute), PowerIdledCPUs: 2, Draw: 2000, Budget: protocol.ActiveBudget(2000),
	}
	if load := s.load(t); load != want {
		t.Errorf("the load is %+v, want %+v", load, want)
	}
	quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: []protocol.Request{guest(t, "").Spec.Request}})
	if err != nil || quotes[0].AWT < 30*protocol.Minute || !strings.Contains(quotes[0].Note, "2 W") {
		t.Errorf("quoted %+v, %v", quotes, err)
	}
	if err = s.SetBudget(until(t, now().Add(protocol.Hour), 3)); err != nil {
		t.Fatal(err)
	}
	if outcome := s.awaitEnd(t, one); outcome.State != protocol.Completed {
		t.Errorf("it ended %+v", outcome)
	}
}

// TestHeldNoMore: a job that the budget no longer holds, and for which there are no CPUs,
// waits for no reason that is worth a word.
func TestHeldNoMore(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Budget = until(t, now().Add(protocol.Hour), 4) })
	four := guest(t, "sleep 300")
	four.Spec.CPUs = 4
	s.awaitRunning(t, s.submit(t, four))
	one := s.submit(t, guest(t, "true"))
	s.awaitReason(t, one, changefeed.PowerBudget)
	if err := s.SetBudget(engine.Budget{}); err != nil {
		t.Fatal(err)
	}
	s.awaitReason(t, one, "")
	if load := s.load(t); load.Budget.Active || load.PowerIdledCPUs != 0 || load.Draw != 0 {
		t.Errorf("the load is %+v", load)
	}
}

// TestBudgetEnds: nothing else happens, and the job starts.
func TestBudgetEnds(t *testing.T) {
	t.Parallel()
	end := now().Add(300)
	s := openSite(t, func(c *process.Config) { c.Budget = until(t, end, 0) })
	tag := s.submit(t, guest(t, "true"))
	if began := s.awaitRunning(t, tag); began.Started < end {
		t.Errorf("it started %v before the budget ended", end.Sub(began.Started))
	}
}

// TestWatchersHearOfTheBudget though no job is there.
func TestWatchersHearOfTheBudget(t *testing.T) {
	t.Parallel()
	end := now().Add(300)
	s := openSite(t, func(c *process.Config) { c.Budget = until(t, end, 3) })
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	first, err := s.Watch(ctx, "")
	for err == nil && first.Load.Budget.Active {
		first, err = s.Watch(ctx, first.Cursor)
	}
	const apart = 50 * protocol.Millisecond // the scheduler follows the wall clock, and may be ahead of it
	if err != nil || now().Add(apart) < end || len(first.Changes) > 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	news := make(chan localsched.Watched, 1)
	go func() {
		watched, failed := s.Watch(ctx, first.Cursor)
		if failed != nil {
			t.Error(failed)
		}
		news <- watched
	}()
	if err = s.SetBudget(until(t, now().Add(protocol.Hour), 1)); err != nil {
		t.Fatal(err)
	}
	if watched := <-news; watched.Load.Budget != protocol.ActiveBudget(1000) || watched.Load.PowerIdledCPUs != 3 {
		t.Errorf("told of %+v", watched)
	}
}

func TestBudgetIsChecked(t *testing.T) {
	t.Parallel()
	wrong := engine.Budget{Signal: power.Always(1)}
	config := configOf(newDir(t))
	config.Budget = wrong
	if _, err := process.Open(config); err == nil || !strings.Contains(err.Error(), "power budget") {
		t.Errorf("opened: %v", err)
	}
	config.Budget, config.LearnJobPower = engine.Budget{}, true
	if _, err := process.Open(config); err == nil || !strings.Contains(err.Error(), "watts_per_cpu") {
		t.Errorf("opened: %v", err)
	}
	s := openSite(t, nil)
	if err := s.SetBudget(wrong); err == nil {
		t.Error("it is set")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.SetBudget(engine.Budget{}); !errors.Is(err, localsched.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// TestTooMuchForAnyBudget: such a job is refused. One that was in the queue before waits,
// also over a restart, until there is a budget that it fits in.
func TestTooMuchForAnyBudget(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) {
		c.Budget, c.OnStop = until(t, now().Add(protocol.Hour), 0), process.LeaveJobs
	})
	tag := s.submit(t, guest(t, "true"))
	s.config.Budget = engine.Budget{Signal: power.Always(500), Rates: watts()}
	s.reopen(t)
	_, err := s.Submit(t.Context(), guest(t, "true"))
	if refused := new(localsched.RefusedError); !errors.As(err, &refused) {
		t.Errorf("submitted: %v", err)
	}
	s.await(t, tag, func(state protocol.State) bool { return state == protocol.Pending })
	if reason := s.seen[len(s.seen)-1].Reason; !strings.Contains(reason, "500") && !strings.Contains(reason, "0.5 W") {
		t.Errorf("it waits for %q", reason)
	}
	if err = s.SetBudget(engine.Budget{Signal: power.Always(1000), Rates: watts()}); err != nil {
		t.Fatal(err)
	}
	s.awaitEnd(t, tag)
}

// TestRefusalStands: a job that the budget refuses, and whose directory cannot be removed, would
// be found by the next start. It is not refused, then, but waits, before that as after it.
func TestRefusalStands(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) {
		c.Budget, c.OnStop = engine.Budget{Signal: power.Always(500), Rates: watts()}, process.LeaveJobs
	})
	job := guest(t, "true")
	inTheWay := filepath.Join(s.config.Dir, "jobs", ".gone-"+spool.DirName(job.Tag))
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		s.await(t, job.Tag, func(state protocol.State) bool { return state == protocol.Pending })
		if reason := s.seen[len(s.seen)-1].Reason; !strings.Contains(reason, "0.5 W") {
			t.Errorf("it waits for %q", reason)
		}
		if presence, _, err := s.FindByTag(t.Context(), job.Tag); err != nil || presence != localsched.Present {
			t.Errorf("it is %v, %v", presence, err)
		}
	}
	if _, err := s.Submit(t.Context(), job); errors.As(err, new(*localsched.RefusedError)) {
		t.Fatalf("submitted: %v", err)
	}
	check()
	s.reopen(t)
	check()
	if err := s.SetBudget(engine.Budget{Signal: power.Always(1000), Rates: watts()}); err != nil {
		t.Fatal(err)
	}
	if outcome := s.awaitEnd(t, job.Tag); outcome.State != protocol.Completed {
		t.Errorf("it ended %+v", outcome)
	}
}

// TestManyAreRestoredAtOnce: what the budget holds is looked at once, however many jobs are
// found.
func TestManyAreRestoredAtOnce(t *testing.T) {
	t.Parallel()
	peak := until(t, now().Add(protocol.Hour), 0)
	s := openSite(t, func(c *process.Config) { c.Budget, c.OnStop = peak, process.LeaveJobs })
	var tags []protocol.Tag
	for range 10 {
		tags = append(tags, s.submit(t, guest(t, "true")))
	}
	s.reopen(t)
	for _, tag := range tags {
		s.awaitReason(t, tag, changefeed.PowerBudget)
	}
	if looks := s.Looks(); looks > 2 {
		t.Errorf("it took %d looks", looks)
	}
	s.config.Budget = engine.Budget{Signal: power.Always(500), Rates: watts()} // too little for any
	s.reopen(t)
	before := s.Looks()
	if err := s.SetBudget(peak); err != nil {
		t.Fatal(err)
	}
	if looks := s.Looks() - before; looks > 2 {
		t.Errorf("another budget took %d looks", looks)
	}
}

// TestWaitSurvivesRestart: a job that has waited longer than the bound when it is found
// again has the reservation that nothing may overtake.
func TestWaitSurvivesRestart(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) {
		c.Policy, c.OnStop = engine.FirstFit(), process.LeaveJobs
		c.Budget = engine.Budget{Rates: watts(), Bound: protocol.Hour}
	})
	t.Cleanup(func() {
		if s.Close() == nil {
			s.config.OnStop = process.EndJobs
			s.open(t)
		}
	})
	blocker := guest(t, "sleep 3000")
	blocker.Spec.WallTime = protocol.Hour
	s.awaitRunning(t, s.submit(t, blocker))
	wide := guest(t, "true")
	wide.Spec.CPUs = 4
	s.submit(t, wide)
	long := []protocol.Request{guest(t, "").Spec.Request}
	long[0].WallTime = 2 * protocol.Hour
	wait := func() protocol.Duration {
		quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: long})
		if err != nil {
			t.Fatal(err)
		}
		return quotes[0].AWT
	}
	if awt := wait(); awt != 0 {
		t.Fatalf("first fit has a job wait %v", awt)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	back(t, s.dir(wide.Tag, "job.json"), 2*protocol.Hour)
	s.open(t)
	if awt := wait(); awt < 30*protocol.Second {
		t.Errorf("a job that has waited for hours may be overtaken: %v", awt)
	}
}

// back has a job have been submitted earlier.
func back(t testing.TB, path string, by protocol.Duration) {
	t.Helper()
	var record map[string]any
	if err := json.Unmarshal([]byte(readFile(t, path)), &record); err != nil {
		t.Fatal(err)
	}
	record["submitted_ms"] = now().Add(-by)
	data, err := json.Marshal(record)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
