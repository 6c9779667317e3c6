package process_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// alike is a job of a program that has run before.
func alike(t testing.TB, like uint64, script string) localsched.Submission {
	t.Helper()
	job := guest(t, script)
	job.Spec.PowerClass = like
	return job
}

// lessons are what the jobs of a site should have taught, by the files that say how they
// ended: whatever their machine was busy with, and however fast it is.
type lessons struct {
	power.History

	cpu map[uint64]protocol.Duration // of the last job of a likeness
}

// attend takes in how a job has ended.
func (l *lessons) attend(t testing.TB, s *site, job localsched.Submission) {
	t.Helper()
	s.awaitEnd(t, job.Tag)
	exit, err := process.ReadExit(s.dir(job.Tag, ""))
	if err != nil {
		t.Fatal(err)
	}
	l.cpu[job.Spec.PowerClass] = exit.Usage.CPU
	if ppm, ok := process.Measured(watts(), job.Spec.CPUs, exit.End); ok {
		l.Add(job.Spec.PowerClass, ppm)
	}
}

// expect is what the next job of a likeness, on a CPU, should be taken to draw, in milliwatts.
func (l *lessons) expect(like uint64) int64 {
	ppm, _ := l.Predict(like)
	return watts().Draw(1, 1, ppm)
}

// checkDraw submits a job and checks what it is taken to draw, in milliwatts. It may run for
// long enough to teach something.
func (l *lessons) checkDraw(t testing.TB, s *site, job localsched.Submission, want int64) {
	t.Helper()
	s.awaitRunning(t, s.submit(t, job))
	if draw := s.load(t).Draw; draw != want {
		t.Errorf("a job of likeness %d is taken to draw %d mW, want %d", job.Spec.PowerClass, draw, want)
	}
	if err := s.Kill(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	l.attend(t, s, job)
}

// The likenesses of jobs that sleep, that work, and that are over at once.
const (
	idle = iota + 1
	busy
	short
)

// check has a job of each likeness come.
func (l *lessons) check(t testing.TB, s *site) {
	t.Helper()
	for _, like := range []uint64{idle, busy, short} {
		l.checkDraw(t, s, alike(t, like, "sleep 300"), l.expect(like))
	}
	stated := alike(t, idle, "sleep 300")
	stated.Spec.Power = 700_000
	l.checkDraw(t, s, stated, 700)
}

// TestLearnsWhatJobsDraw: by the processor time of the script and of what it has left
// behind. What was learnt survives a restart, and counts in the queue and in quotes.
func TestLearnsWhatJobsDraw(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Budget, c.LearnJobPower = engine.Budget{Rates: watts()}, true })
	taught := &lessons{cpu: map[uint64]protocol.Duration{}}
	// An orphan works, and the script waits until it has. On two CPUs it is never quite busy.
	work := alike(t, busy, `(sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; times; : >done' &)
while [ ! -e done ]; do sleep 0.1; done; sleep 0.5`)
	work.Spec.CPUs = 2
	for _, job := range []localsched.Submission{alike(t, idle, "sleep 1.2"), work, alike(t, short, "true")} {
		s.submit(t, job)
		taught.attend(t, s, job)
	}
	if used := usedBy(t, s.read(t, work.Tag, protocol.Stdout)); taught.cpu[busy] < used || taught.cpu[idle] > taught.cpu[busy] {
		t.Errorf("the worker has used %v of the processor, its job %v, and one that sleeps %v", used, taught.cpu[busy], taught.cpu[idle])
	}
	for _, like := range []uint64{idle, busy} {
		if draw := taught.expect(like); draw < 250 || draw > 999 {
			t.Errorf("likeness %d has taught %d mW", like, draw)
		}
	}
	taught.check(t, s)
	s.reopen(t)
	taught.check(t, s)
	if err := s.SetBudget(until(t, now().Add(protocol.Hour), 0)); err != nil {
		t.Fatal(err)
	}
	quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: []protocol.Request{alike(t, idle, "").Spec.Request, alike(t, busy, "").Spec.Request}})
	for i, like := range []uint64{idle, busy} {
		if err != nil || !strings.Contains(quotes[i].Note, power.Text(taught.expect(like))) {
			t.Errorf("quoted %+v, %v, for a job that draws %d mW", quotes, err, taught.expect(like))
		}
	}
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(filepath.Join(s.config.Dir, "likely"), []byte("likely 1\nold x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	(&lessons{cpu: map[uint64]protocol.Duration{}}).check(t, s)
}

// usedBy reads what the shell's times prints: its own user and system time, and then that of
// its children.
func usedBy(t testing.TB, times string) protocol.Duration {
	t.Helper()
	var used time.Duration
	words := strings.Fields(times)
	if len(words) != 4 {
		t.Fatalf("the worker has printed %q", times)
	}
	for _, word := range words {
		part, err := time.ParseDuration(word)
		if err != nil {
			t.Fatal(err)
		}
		used += part
	}
	return protocol.DurationOf(used)
}

// TestCutShortTeachesNothing: what the scheduler's own end has cut off is no example of what
// the program draws.
func TestCutShortTeachesNothing(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) {
		c.Budget, c.LearnJobPower, c.OnStop = engine.Budget{Rates: watts()}, true, process.EndJobs
	})
	job := alike(t, busy, "sleep 1.2; : >late; sleep 300")
	s.submit(t, job)
	eventually(t, "the job has run for a while", func() bool {
		_, err := os.Stat(s.dir(job.Tag, "work/late"))
		return err == nil
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if exit, err := process.ReadExit(s.dir(job.Tag, "")); err != nil || exit.State != protocol.Cancelled {
		t.Fatalf("it ended %+v, %v", exit, err)
	}
	if text, err := os.ReadFile(filepath.Join(s.config.Dir, "likely")); err == nil {
		t.Errorf("it has taught:\n%s", text)
	}
}

// TestMeasuredPowerIsKeptLater: what could not be written down is news until it is.
func TestMeasuredPowerIsKeptLater(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Budget, c.LearnJobPower = engine.Budget{Rates: watts()}, true })
	path := filepath.Join(s.config.Dir, "likely")
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.awaitEnd(t, s.submit(t, alike(t, idle, "sleep 1.2")))
	for range 2 {
		if err := s.SavePowerHistory(); err == nil {
			t.Error("it is written down")
		}
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if text := readFile(t, path); !strings.Contains(text, "young 0000000000000001 ") {
		t.Errorf("written down is:\n%s", text)
	}
}

func endOf(state protocol.State, ran protocol.Duration, used protocol.Usage) spool.End {
	return spool.End{State: state, Ran: ran, Usage: used}
}

// TestMeasured: power is energy over time; where no energy is measured, it lies between the
// rates as utilisation lies between 0 and 1.
func TestMeasured(t *testing.T) {
	t.Parallel()
	rates := watts()
	for name, c := range map[string]struct {
		cpus     int
		ran, cpu protocol.Duration
		energy   int64
		state    protocol.State
		ppm      int
		ok       bool
	}{
		"idle":                    {1, 1000_000, 1, 0, protocol.Completed, 250_000, true},
		"busy":                    {2, 1000, 2000, 0, protocol.Completed, 1_000_000, true},
		"half":                    {2, 1000, 1000, 0, protocol.Failed, 625_000, true},
		"more than it asked for":  {1, 1000, 5000, 0, protocol.Timeout, 1_000_000, true},
		"too short":               {1, 999, 999, 999, protocol.Completed, 0, false},
		"not measured":            {1, 1000, 0, 0, protocol.Completed, 0, false},
		"nobody knows":            {1, 5000, 0, 0, protocol.NodeFail, 0, false},
		"no CPUs":                 {0, 1000, 500, 0, protocol.Completed, 625_000, true},
		"for ever":                {math.MaxInt, math.MaxInt64, math.MaxInt64, 0, protocol.Completed, 250_000, true},
		"by its energy":           {2, 4000, 8000, 6000, protocol.Completed, 750_000, true},
		"by more than CPUs draw":  {1, 2000, 0, 5000, protocol.Completed, 2_500_000, true},
		"by next to no energy":    {1, 1 << 50, 1 << 49, 1, protocol.Completed, 1, true},
		"by more than may be":     {1, 1000, 0, math.MaxInt64, protocol.Completed, protocol.MaxPower, true},
		"by energy, without CPUs": {0, 1000, 0, 500, protocol.Completed, 500_000, true},
	} {
		end := endOf(c.state, c.ran, protocol.Usage{CPU: c.cpu, Energy: c.energy})
		if ppm, ok := process.Measured(rates, c.cpus, end); ppm != c.ppm || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, %v", name, ppm, ok, c.ppm, c.ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		r := power.Rates{Busy: rapid.Int64Range(1, power.MaxRate).Draw(t, "busy"), Idle: rapid.Int64Range(0, power.MaxRate).Draw(t, "idle")}
		cpus := rapid.IntRange(1, 1<<20).Draw(t, "CPUs")
		ran := protocol.Duration(rapid.Int64Range(1000, 1<<40).Draw(t, "ran"))
		cpu := protocol.Duration(rapid.Int64Range(1, 1<<60).Draw(t, "CPU time"))
		used := min(1, float64(cpu)/float64(cpus)/float64(ran))
		want := (float64(r.Idle) + used*(float64(r.Busy)-float64(r.Idle))) / float64(r.Busy) * protocol.PPM
		want = min(max(1, want), protocol.MaxPower)
		ppm, ok := process.Measured(r, cpus, endOf(protocol.Completed, ran, protocol.Usage{CPU: cpu}))
		slack := 2 + 2*max(1, float64(r.Idle)/float64(r.Busy)) // a millionth of each rate, rounded down
		if !ok || math.Abs(float64(ppm)-want) > slack+protocol.PPM/float64(r.Busy) {
			t.Fatalf("%d ppm, want %f", ppm, want)
		}
	})
}
