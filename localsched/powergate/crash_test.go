package powergate_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/powergate"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// crash is what a power cut at some instant leaves: the gate's directory, the batch system,
// and what the peer knows to be true.
type crash struct {
	at     string
	dir    string
	behind *fake
	known  map[int]string // the jobs that were submitted, and what is wanted of them
}

// crashes collects them.
type crashes struct {
	t     testing.TB
	site  *site
	mu    sync.Mutex
	known map[int]string
	all   []crash
}

func (c *crashes) take(at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir := filepath.Join(c.t.TempDir(), "gate")
	if err := os.CopyFS(dir, os.DirFS(c.site.config.Dir)); err != nil {
		c.t.Error(err)
	}
	c.all = append(c.all, crash{fmt.Sprintf("%d, %s", len(c.all), at), dir, c.site.behind.clone(), maps.Clone(c.known)})
}

func (c *crashes) wants(n int, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[n] = what
}

// TestCrashAtEveryStep: the power goes before and after each call of the batch system and
// of the gate, between which there is at most one record written. Whatever was left, each
// job runs once or, where the peer wanted it back and got it, never; and its end is told.
func TestCrashAtEveryStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(cpus)
		c := &crashes{t: t, known: map[int]string{}}
		c.site = openSite(t, f, until(t, now().Add(protocol.Hour), 2))
		f.probe = func(call string, tag protocol.Tag) { c.take(fmt.Sprintf("%s of %v", call, tag)) }
		s := c.site
		submit := func(n, width int) {
			c.wants(n, "run")
			c.take(fmt.Sprintf("before submitting %d", n))
			s.submit(t, n, width)
			synctest.Wait()
			c.take(fmt.Sprintf("%d submitted", n))
		}
		back := func(n int) {
			c.wants(n, "back")
			if _, err := s.Withdraw(t.Context(), tagOf(n)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			c.take(fmt.Sprintf("%d withdrawn", n))
		}
		submit(1, 1) // runs at once
		submit(2, 1) // waits in the batch system
		submit(3, 1) // takes the place of 2, once that is withdrawn
		submit(4, 1) // held until 1 has ended
		submit(5, 1) // held, and withdrawn there
		f.start(tagOf(1))
		synctest.Wait()
		c.take("1 runs")
		back(5)
		back(2)
		f.end(tagOf(1))
		c.take("1 has ended, and perhaps the gate knows")
		synctest.Wait()
		c.take("1 has ended")
		c.wants(1, "forgotten")
		if err := s.Forget(t.Context(), tagOf(1)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		submit(6, 2) // held until off-peak
		time.Sleep(time.Hour)
		synctest.Wait()
		c.take("off-peak")
		if err := s.SetBudget(until(t, now().Add(protocol.Hour), 0)); err != nil { // what waits is taken back
			t.Fatal(err)
		}
		synctest.Wait()
		c.take("under another budget")
		f.probe = nil
		if len(c.all) < 25 {
			t.Errorf("there are %d crashes", len(c.all))
		}
		for _, one := range c.all {
			one.recover(t, 0)
			one.recover(t, 10*time.Minute)
		}
	})
}

// recover opens a gate on what is left, and does what a peer does that takes its time.
func (c crash) recover(t *testing.T, pause time.Duration) {
	t.Helper()
	s := &site{behind: c.behind.clone(), last: map[protocol.Tag]localsched.Change{}}
	dir := filepath.Join(t.TempDir(), "gate")
	if err := os.CopyFS(dir, os.DirFS(c.dir)); err != nil {
		t.Fatal(err)
	}
	s.config = powergate.Config{Dir: dir, Machine: machine(), Budget: until(t, now().Add(protocol.Minute), 2), Scheduler: s.behind}
	s.open(t)
	defer s.Close()
	time.Sleep(pause)
	for n, want := range c.known {
		switch want {
		case "run", "back":
			presence, _, err := s.FindByTag(t.Context(), tagOf(n))
			if err != nil {
				t.Errorf("%s: job %d: %v", c.at, n, err)
			}
			if presence == localsched.Absent && want == "run" {
				s.submit(t, n, 1)
			}
			if want == "back" {
				s.withdraws(t, tagOf(n), localsched.Withdrawn)
			}
		}
	}
	for range 6 { // the jobs run, by and by, once there is no budget
		time.Sleep(time.Hour)
		synctest.Wait()
		for n := range c.known {
			s.behind.start(tagOf(n))
			s.behind.end(tagOf(n))
		}
	}
	s.hear(t)
	for n, want := range c.known {
		if wrong := s.ended(t, n, want); wrong != "" {
			t.Errorf("%s, after %v: job %d %s", c.at, pause, n, wrong)
		}
	}
	if load := s.load(t); load.Draw != 0 || load.QueuedJobs != 0 {
		t.Errorf("%s: in the end the load is %+v", c.at, load)
	}
}

// ended says how the end of a job is not what the peer wants.
func (s *site) ended(t *testing.T, n int, want string) (wrong string) {
	t.Helper()
	j, _ := s.behind.get(tagOf(n))
	reported := s.last[tagOf(n)].State
	switch {
	case want == "back" && (j.runs > 0 || reported != 0):
		return fmt.Sprintf("was withdrawn, ran %d times and is %v", j.runs, reported)
	case want != "back" && j.runs != 1:
		return fmt.Sprintf("ran %d times", j.runs)
	case want == "run" && reported != protocol.Completed:
		return fmt.Sprintf("is %v", reported)
	case want != "forgotten":
		return ""
	}
	if reported.Terminal() { // of a job that the peer has no more
		if err := s.Forget(t.Context(), tagOf(n)); err != nil {
			return err.Error()
		}
	}
	if j, _ = s.behind.get(tagOf(n)); !j.gone {
		return "is kept for ever by the batch system"
	}
	if _, err := os.Stat(filepath.Join(s.config.Dir, powergate.NameOf(tagOf(n)))); err == nil {
		return "is kept for ever by the gate"
	}
	return ""
}

// step is one thing that happens in [TestBudgetHolds].
type step struct {
	what string
	n    int
}

// jobs is how many there may be.
const jobs = 8

func whatHappens() []string {
	return []string{
		"submit", "submit", "submit", "start", "end", "end", "wait", "wait", "wait",
		"withdraw", "trouble", "spoil", "spoil", "mend", "mend", "reopen",
	}
}

// TestBudgetHolds: whatever happens, the batch system never gets a job that brings the draw
// of all that it has got, and has not ended, above the budget of the time. In the end, when
// there is none, all jobs have run, once.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) step {
			return step{
				rapid.SampledFrom(whatHappens()).Draw(r, "what"),
				rapid.IntRange(0, jobs-1).Draw(r, "n"),
			}
		}), 1, 60).Draw(r, "steps")
		limits := rapid.SliceOfN(rapid.Int64Range(0, cpus+1), 3, 9).Draw(r, "limits")
		wrong := ""
		synctest.Test(t, func(t *testing.T) { wrong = play(t, steps, limits) })
		if wrong != "" {
			r.Fatal(wrong)
		}
	})
}

// play returns what went wrong. Each limit holds for ten minutes; that of all CPUs and more
// is none.
func play(t *testing.T, steps []step, limits []int64) (wrong string) {
	t.Helper()
	begin := now()
	last := int64(-1)
	var list []power.Step
	for i, limit := range limits {
		if limit *= 1000; limit > 1000*cpus {
			limit = power.Unlimited
		}
		if limit != last {
			list = append(list, power.Step{At: begin.Add(protocol.Duration(i) * 10 * protocol.Minute), Limit: limit})
		}
		last = limit
	}
	list = append(list, power.Step{At: begin.Add(2 * protocol.Hour), Limit: power.Unlimited})
	signal, err := power.NewSignal(list)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(cpus)
	f.probe = func(call string, tag protocol.Tag) {
		if call != "after submit" {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		draw := int64(0)
		for _, j := range f.jobs {
			if j.state == protocol.Pending || j.state == protocol.Running {
				draw += 1000 * int64(j.cpus)
			}
		}
		if limit, _ := signal.At(now()); draw > limit {
			wrong = fmt.Sprintf("with job %v all draw %d mW of %d", tag, draw, limit)
		}
	}
	s := openSite(t, f, engine.Budget{Signal: signal, Rates: watt(), Bound: 30 * protocol.Minute})
	var fixed time.Time                               // when the records could be read and written again
	wanted, unclear := map[int]bool{}, map[int]bool{} // what withdrawals were unclear
	for _, one := range steps {
		tag := tagOf(one.n)
		switch one.what {
		case "submit":
			if _, known := wanted[one.n]; !known && !unclear[one.n] {
				s.tries(t, one.n)
				wanted[one.n] = true
			}
		case "start":
			for n := range wanted {
				f.start(tagOf(n))
			}
		case "end":
			f.endSome(one.n)
		case "wait":
			time.Sleep(time.Duration(3*one.n) * time.Minute)
		case "withdraw":
			became, err := s.Withdraw(t.Context(), tag)
			if err == nil && became == localsched.Withdrawn {
				wanted[one.n] = false
			}
			unclear[one.n] = err != nil
		case "trouble": // of three kinds, or none any more
			kind := []error{nil, errTrouble}
			f.set("submit", kind[one.n%2], kind[one.n/2%2])
			f.set("find", kind[one.n/4%2], nil)
		case "spoil":
			fixed = time.Now().Add(24 * time.Hour) // the records of all, also of those that come
			s.fixAll(t)
			for n := range jobs {
				s.spoil(t, tagOf(n))
			}
		case "mend":
			s.fixAll(t)
			fixed = time.Now()
		case "reopen": // damage that stays ends jobs, see [TestDamagedRecords]
			s.fixAll(t)
			fixed = time.Now()
			s.reopen(t)
		}
		synctest.Wait()
		if limit, _ := signal.At(now()); time.Since(fixed) > time.Minute && wrong == "" {
			wrong = f.waitsBeyond(limit)
		}
	}
	f.set("submit", nil, nil)
	f.set("find", nil, nil)
	s.fixAll(t)
	time.Sleep(time.Minute)
	s.settle(t, wanted, unclear)
	for range 19 {
		time.Sleep(time.Hour)
		synctest.Wait()
		for n := range wanted {
			f.start(tagOf(n))
			f.end(tagOf(n))
		}
	}
	s.hear(t)
	for n, run := range wanted {
		if j, _ := f.get(tagOf(n)); run && (j.runs != 1 || s.last[tagOf(n)].State != protocol.Completed) || !run && j.runs > 0 {
			return fmt.Sprintf("job %d, wanted: %v, ran %d times and is %v", n, run, j.runs, s.last[tagOf(n)].State)
		}
	}
	return wrong
}

// waitsBeyond tells of a job that waits although all that was given draws more than a budget.
func (f *fake) waitsBeyond(limit int64) (wrong string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	draw := int64(0)
	for tag, j := range f.jobs {
		if j.state == protocol.Pending {
			wrong = fmt.Sprintf("job %v waits", tag)
		}
		if j.state == protocol.Pending || j.state == protocol.Running {
			draw += 1000 * int64(j.cpus)
		}
	}
	if draw <= limit || wrong == "" {
		return ""
	}
	return fmt.Sprintf("%s in the batch system, where all draw %d mW of %d", wrong, draw, limit)
}

// tries submits a job; the answer may be that it is unclear.
func (s *site) tries(t testing.TB, n int) {
	t.Helper()
	if _, err := s.Submit(t.Context(), submission(n, 1+n%cpus)); isRefusal(err) {
		t.Errorf("job %d: %v", n, err)
	}
}

// settle does what a peer does once all answers are clear again: it withdraws what it wanted
// back, and submits what is absent.
func (s *site) settle(t testing.TB, wanted, unclear map[int]bool) {
	t.Helper()
	for n := range wanted {
		presence, _, err := s.FindByTag(t.Context(), tagOf(n))
		if err != nil || presence == localsched.PresenceUnknown {
			t.Errorf("job %d is %v, %v", n, presence, err)
		}
		if unclear[n] {
			became, err := s.Withdraw(t.Context(), tagOf(n))
			if err != nil {
				t.Errorf("job %d is not withdrawn: %v", n, err)
			}
			wanted[n] = became == localsched.Started
		}
		if wanted[n] && presence == localsched.Absent {
			s.tries(t, n)
		}
	}
}

func (s *site) fixAll(t testing.TB) {
	t.Helper()
	for n := range jobs {
		s.fix(t, tagOf(n))
	}
}
