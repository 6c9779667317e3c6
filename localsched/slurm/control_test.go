package slurm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// held waits in Slurm's queue for ever: its user may not run it yet.
func (s *site) held(t testing.TB, job localsched.Submission) protocol.Tag {
	t.Helper()
	s.config.Extra = []string{"--hold"}
	s.reopen(t)
	s.submit(t, job)
	s.config.Extra = nil
	s.reopen(t)
	return job.Tag
}

func TestWithdraw(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	dir := homeDir(t)
	tag := s.held(t, home(dir, "echo ran > ran"))
	s.await(t, tag, func(c localsched.Change) bool { return strings.HasPrefix(c.Reason, "JobHeld") })
	for range 2 {
		if got, err := s.Withdraw(t.Context(), tag); err != nil || got != localsched.Withdrawn {
			t.Fatalf("%v %v", got, err)
		}
	}
	eventually(t, "the job leaves the queue", func() bool {
		return s.cluster.must(t, "squeue", "-h", "-n", s.jobName(tag)) == ""
	})
	if err := s.Forget(t.Context(), tag); err != nil {
		t.Error(err)
	}
	if presence, _, err := s.FindByTag(t.Context(), tag); err != nil || presence != localsched.Absent {
		t.Errorf("%v %v", presence, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a withdrawn job ran")
	}
}

// TestWithdrawnWhileSlurmSleeps withdraws a job that Slurm then starts
// nevertheless: it finds the claim taken.
func TestWithdrawnWhileSlurmSleeps(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) { c.Poll, c.Extra = time.Hour, []string{"--hold"} })
	dir := homeDir(t)
	job := home(dir, "echo ran > ran")
	s.submit(t, job)
	// The spool alone is withdrawn from, as if scancel had been lost.
	if err := os.WriteFile(s.dir(job.Tag, "claim/started"), []byte("withdrawn\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.cluster.must(t, "scontrol", "release", s.cluster.must(t, "squeue", "-h", "-n", s.jobName(job.Tag), "-o", "%A"))
	eventually(t, "Slurm runs it", func() bool {
		return s.cluster.must(t, "squeue", "-h", "-t", "FAILED", "-n", s.jobName(job.Tag)) != ""
	})
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a withdrawn job ran")
	}
	log, err := os.ReadFile(s.dir(job.Tag, "slurm.log"))
	if err != nil || !strings.Contains(string(log), "taken back before: withdrawn") {
		t.Errorf("the wrapper says %q, %v", log, err)
	}
}

func TestWithdrawUnknown(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	job := guest("true")
	if got, err := s.Withdraw(t.Context(), job.Tag); err != nil || got != localsched.Withdrawn {
		t.Fatalf("%v %v", got, err)
	}
	s.reopen(t)
	if _, err := s.Submit(t.Context(), job); !errors.As(err, new(*localsched.RefusedError)) {
		t.Error(err)
	}
	if err := s.Kill(t.Context(), guest("").Tag); !errors.Is(err, localsched.ErrUnknownJob) {
		t.Error(err)
	}
}

// TestWithdrawRaces withdraws jobs about when they start: each has run, or is
// withdrawn, and never both.
func TestWithdrawRaces(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	dir := homeDir(t)
	const jobs = 24
	answers := make([]localsched.Withdrawal, jobs)
	var all sync.WaitGroup
	tags := make([]protocol.Tag, jobs)
	for i := range jobs {
		job := home(dir, fmt.Sprintf("echo ran >> ran.%d", i))
		tags[i] = s.submit(t, job)
		all.Go(func() {
			timer := time.NewTimer(time.Duration(i) * 150 * time.Millisecond)
			<-timer.C
			var err error
			if answers[i], err = s.Withdraw(t.Context(), tags[i]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	started := 0
	for i, answer := range answers {
		if answer == localsched.Started {
			started++
			if got := s.awaitEnd(t, tags[i]); got.State != protocol.Completed {
				t.Errorf("job %d: %+v", i, got)
			}
		}
		ran, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("ran.%d", i)))
		if want := answer == localsched.Started; want != (err == nil) || err == nil && string(ran) != "ran\n" {
			t.Errorf("job %d is %v, and wrote %q", i, answer, ran)
		}
	}
	t.Logf("%d of %d had started", started, jobs)
}

func TestKill(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	job := guest("echo before; exec sleep 1000")
	s.submit(t, job)
	if change := s.awaitRunning(t, job.Tag); change.Started == 0 {
		t.Error("it runs without a start")
	}
	if got, err := s.Withdraw(t.Context(), job.Tag); err != nil || got != localsched.Started {
		t.Errorf("withdrawn while it runs: %v %v", got, err)
	}
	if err := s.Forget(t.Context(), job.Tag); !errors.Is(err, localsched.ErrNotEnded) {
		t.Error(err)
	}
	eventually(t, "its script runs", func() bool { // and not only what goes before it
		out, _ := s.Fetch(t.Context(), job.Tag, protocol.Stdout, 0, 100)
		return string(out) == "before\n"
	})
	if err := s.Kill(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	got := s.awaitEnd(t, job.Tag)
	if got.State != protocol.Cancelled || got.Signal != 15 || !strings.Contains(got.Reason, "on request") {
		t.Errorf("%+v", got)
	}
	if out := s.read(t, job.Tag, protocol.Stdout); out != "before\n" {
		t.Errorf("%q", out)
	}
	if err := s.Kill(t.Context(), job.Tag); err != nil {
		t.Error("killed again:", err)
	}
	waiting := s.held(t, guest("true"))
	if err := s.Kill(t.Context(), waiting); !errors.Is(err, localsched.ErrNotStarted) {
		t.Error(err)
	}
}

// TestCancelledBySite has an operator cancel a job that waits and one that runs.
func TestCancelledBySite(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	waits, runs := s.held(t, guest("true")), s.submit(t, guest("exec sleep 1000"))
	s.awaitRunning(t, runs)
	for _, tag := range []protocol.Tag{waits, runs} {
		s.cluster.must(t, "scancel", "--name="+s.jobName(tag))
		got := s.awaitEnd(t, tag)
		if got.State != protocol.Cancelled || !strings.Contains(got.Reason, "CANCELLED") {
			t.Errorf("%+v", got)
		}
	}
}

// TestSlurmsWordCounts has an operator cancel a job, and lower the limit of another, whose
// scripts trap the signal and end as if nothing had happened.
func TestSlurmsWordCounts(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	number := func(tag protocol.Tag) string {
		return s.cluster.must(t, "squeue", "-h", "-n", s.jobName(tag), "-o", "%A")
	}
	const traps = "trap 'exit %d' TERM; echo ready; while :; do sleep .1; done"
	job := guest(fmt.Sprintf(traps, 0))
	job.Spec.WallTime = 10 * protocol.Minute
	limited, cancelled, failing := s.submit(t, job), s.submit(t, guest(fmt.Sprintf(traps, 0))), s.submit(t, guest(fmt.Sprintf(traps, 3)))
	for _, tag := range []protocol.Tag{limited, cancelled, failing} {
		s.awaitRunning(t, tag)
		eventually(t, "its script traps the signal", func() bool {
			out, _ := s.Fetch(t.Context(), tag, protocol.Stdout, 0, 100)
			return string(out) == "ready\n"
		})
	}
	s.cluster.must(t, "scontrol", "update", "JobId="+number(limited), "TimeLimit=1")
	s.cluster.must(t, "scancel", number(cancelled))
	s.cluster.must(t, "scancel", number(failing))
	if got := s.awaitEnd(t, cancelled); got.State != protocol.Cancelled || got.ExitCode != 0 || !strings.Contains(got.Reason, "CANCELLED in Slurm") {
		t.Errorf("cancelled: %+v", got)
	}
	if got := s.awaitEnd(t, failing); got.State != protocol.Cancelled || got.ExitCode != 3 {
		t.Errorf("cancelled, with exit code 3: %+v", got)
	}
	if got := s.awaitEnd(t, limited); got.State != protocol.Timeout || !strings.Contains(got.Reason, "TIMEOUT: Slurm ended it at an earlier limit") {
		t.Errorf("with a limit that was lowered: %+v", got)
	}
}

// TestSuspended has an operator suspend a running job, and resume it.
func TestSuspended(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	dir := homeDir(t)
	tag := s.submit(t, home(dir, "while [ ! -e go ]; do sleep 0.05; done"))
	first := s.awaitRunning(t, tag)
	id := s.cluster.must(t, "squeue", "-h", "-n", s.jobName(tag), "-o", "%A")
	s.cluster.must(t, "scontrol", "suspend", id)
	c := s.await(t, tag, func(c localsched.Change) bool { return strings.HasPrefix(c.Reason, "SUSPENDED") })
	if c.State != protocol.Running || c.Started != first.Started {
		t.Errorf("%+v, after %+v", c, first)
	}
	s.seen = nil
	s.cluster.must(t, "scontrol", "resume", id)
	if c = s.awaitRunning(t, tag); c.Reason != "" {
		t.Errorf("resumed: %+v", c)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := s.awaitEnd(t, tag); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
}

// TestPreempted has Slurm end a job for one that comes first, though its script traps the signal.
func TestPreempted(t *testing.T) {
	t.Parallel()
	siteC.Lock()
	defer siteC.Unlock()
	s := openSite(t, "siteC", nil)
	job := guest("trap 'exit 0' TERM; echo ready; while :; do sleep .1; done")
	job.Spec.CPUs, job.Spec.Nodes = allCPUs, nodes
	job.Spec.WallTime = 10 * protocol.Minute
	tag := s.submit(t, job)
	eventually(t, "its script traps the signal", func() bool {
		out, _ := s.Fetch(t.Context(), tag, protocol.Stdout, 0, 100)
		return string(out) == "ready\n"
	})
	urgent := s.cluster.must(t, "sbatch", "--parsable", "--uid=daemon", "-p", "urgent", "-N", strconv.Itoa(nodes), "-n", strconv.Itoa(allCPUs), "-t", "1", "-o", "/dev/null", "--wrap", "true")
	t.Cleanup(func() { s.cluster.run("scancel", urgent) })
	got := s.awaitEnd(t, tag)
	if got.State != protocol.NodeFail || !strings.HasPrefix(got.Reason, "PREEMPTED: Slurm has ended it for a job that comes first") {
		t.Errorf("%+v", got)
	}
}

// TestForgottenEnd: Slurm's word for an end does not count where the script was over before.
func TestForgottenEnd(t *testing.T) {
	t.Parallel()
	const old, times = "0 50000", "0m0s 0m0s\n0m0s 0m0s"
	for _, c := range []struct {
		text, state string
		end         protocol.Instant
		want        bool
	}{
		{"0 50000 -\n" + times, "CANCELLED", 50_000, true},
		{"0 50000 -\n" + times, "TIMEOUT", 50_000, false}, // TERM has reached the script alone by then
		{"0 50000 -\n" + times, "PREEMPTED", 52_000, false},
		{"0 50000 -\n" + times, "TIMEOUT", 80_000, true},
		{"0 50000 -\n" + times, "PREEMPTED", 53_000, true},
		{"0 50000 TERM\n" + times, "TIMEOUT", 80_000, false},
		{"0 50000 TERM\n" + times, "CANCELLED", 99_000, false},
		{"0 50000 TERM\n" + times, "NODE_FAIL", 99_000, false},
		{"0 50000 -\n" + times, "NODE_FAIL", 10_000, true},
		{"3 50000 TERM\n" + times, "FAILED", 50_000, true},
		{"0 50000 -\n" + times, "OUT_OF_MEMORY", 50_000, false},
		{old, "CANCELLED", 52_000, false}, // of wrappers of earlier versions
		{old, "CANCELLED", 53_000, true},
		{old + "\n" + times, "TIMEOUT", 49_000, false},
		{old + "\n" + times, "TIMEOUT", 80_000, true},
		{"0 junk", "CANCELLED", 80_000, false},
	} {
		if got := slurm.EndedItself(c.text, c.state, c.end, true); got != c.want {
			t.Errorf("%q and %s at %d: by itself %t, want %t", c.text, c.state, c.end, got, c.want)
		}
	}
	for end, want := range map[protocol.Instant]bool{52_000: false, 53_000: true} {
		if got := slurm.EndedItself("0 50000 -\n"+times, "CANCELLED", end, false); got != want {
			t.Errorf("cancelled at %d, long after the controller's start: by itself %t, want %t", end, got, want)
		}
	}
}

// TestOutOfMemory: a job of which Slurm says that a process ran out of memory has failed, with the number that Slurm prints,
// also if its script ended with 0 or with another exit code.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"0 50000 -", "7 50000 -", "137 50000 -"} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "claim"), 0o700), os.WriteFile(filepath.Join(dir, "claim/exit"), []byte(last+"\n0m0s 0m0s\n0m0s 0m0s\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		got := slurm.EndBySlurm(t.Context(), dir, "OUT_OF_MEMORY", "OutOfMemory")
		if got.State != protocol.Failed || got.ExitCode != 0 || got.Signal != protocol.SignalOutOfMemory || got.Ran != 50_000 || got.Reason != "OUT_OF_MEMORY: OutOfMemory" {
			t.Errorf("after %q: %+v", last, got)
		}
	}
}

// TestRequeued has an operator requeue a running job: it does not run twice. Slurm may end the
// second start by what it hears late of the first, before that has said anything.
func TestRequeued(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	for range 5 {
		if s.requeue(t) || t.Failed() {
			return
		}
	}
	t.Error("Slurm has never started a job again")
}

// requeue has a job run, and Slurm requeue it. It returns true once Slurm has started it again, and
// false if Slurm has ended it before.
func (s *site) requeue(t *testing.T) (again bool) {
	t.Helper()
	dir := homeDir(t)
	tag := s.submit(t, home(dir, "echo ran >> ran; exec sleep 1000"))
	defer func() {
		if t.Failed() {
			t.Log(s.cluster.run("squeue", "-a", "-t", "all", "-n", s.jobName(tag), "-o", "%i %j %T %r %S %C %N"))
			t.Log(s.cluster.run("sinfo", "-N", "-l"))
			t.Log(s.story(tag))
		}
	}()
	s.awaitRunning(t, tag)
	eventually(t, "its script runs", func() bool {
		ran, _ := os.ReadFile(filepath.Join(dir, "ran"))
		return string(ran) == "ran\n"
	})
	id := s.cluster.must(t, "squeue", "-h", "-n", s.jobName(tag), "-o", "%A")
	s.cluster.must(t, "scontrol", "update", "JobId="+id, "Requeue=1")
	s.cluster.must(t, "scontrol", "requeue", id)
	hurried := time.Time{}
	eventually(t, "Slurm has started it again, or ended it", func() bool {
		// It would wait for two minutes, and says so again once the first start is over.
		if time.Since(hurried) > time.Second {
			s.cluster.run("scontrol", "update", "JobId="+id, "StartTime=now")
			hurried = time.Now()
		}
		over := s.cluster.must(t, "squeue", "-h", "-n", s.jobName(tag)) == ""
		log, _ := os.ReadFile(s.dir(tag, "slurm.log"))
		again = strings.Contains(string(log), "started or taken back before")
		return over || again
	})
	if got := s.awaitEnd(t, tag); got.State == protocol.Completed {
		t.Errorf("%+v", got)
	}
	if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); string(ran) != "ran\n" {
		t.Errorf("it ran %q", ran)
	}
	return again
}

// TestRestart closes the adapter with jobs in all states and opens it when all of
// them have gone on.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	dir := homeDir(t)
	waits := s.held(t, guest("echo late"))
	done := s.submit(t, guest("echo done"))
	s.awaitEnd(t, done)
	runs := s.submit(t, home(dir, "while [ ! -e go ]; do sleep 0.05; done; exit 5"))
	s.awaitRunning(t, runs)
	gone := s.held(t, guest("true"))
	if got, err := s.Withdraw(t.Context(), gone); err != nil || got != localsched.Withdrawn {
		t.Fatal(got, err)
	}
	id, err := s.Submit(t.Context(), localsched.Submission{Tag: runs})
	if err != nil {
		t.Fatal(err)
	}
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.cluster.must(t, "scontrol", "release", s.cluster.must(t, "squeue", "-h", "-n", s.jobName(waits), "-o", "%A"))
	eventually(t, "both end", func() bool {
		return s.cluster.must(t, "squeue", "-h", "-t", "PD,R,CG", "-n", s.jobName(waits)+","+s.jobName(runs)) == ""
	})
	before := s.cursor
	s.open(t)
	if again, unknown := s.Submit(t.Context(), localsched.Submission{Tag: runs}); unknown != nil || again != id {
		t.Errorf("submitted again after the restart: %v %v, want %v", again, unknown, id)
	}
	if got := s.awaitEnd(t, runs); got.State != protocol.Failed || got.ExitCode != 5 {
		t.Errorf("%+v", got)
	}
	if got := s.awaitEnd(t, waits); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
	watched, err := s.Watch(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(watched.Changes, func(c localsched.Change) bool { return c.Tag == done }) {
		t.Error("what was told before the cursor is told again after a restart")
	}
	if watched, err = s.Watch(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(watched.Changes, func(c localsched.Change) bool { return c.Tag == done && c.State == protocol.Completed }) {
		t.Error("the end of before is not told from the beginning")
	}
	if got, err := s.Withdraw(t.Context(), gone); err != nil || got != localsched.Withdrawn {
		t.Errorf("%v %v", got, err)
	}
	if got := s.read(t, waits, protocol.Stdout); got != "late\n" {
		t.Errorf("%q", got)
	}
}

func TestWatchWaits(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := s.Watch(ctx, "nobody's"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	done := make(chan error)
	go func() {
		_, err := s.Watch(t.Context(), "")
		done <- err
	}()
	s.Close()
	if err := <-done; !errors.Is(err, localsched.ErrClosed) {
		t.Error(err)
	}
}
