package slurm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// forgets checks what the adapter tells of jobs that ended while it was closed and
// that the queue does not show any more: what ran has written down its end; what an
// operator cancelled before it ran is known from the history, if there is one, and
// else is submitted again.
func forgets(t *testing.T, s *site, history bool) {
	t.Helper()
	dir := homeDir(t)
	cancelled := s.held(t, home(dir, "echo ran >> cancelled"))
	ran := s.submit(t, home(dir, "echo ran >> ran; exit 4"))
	broken := s.submit(t, home(dir, "echo ran >> broken; kill -9 $PPID; exec sleep 0.1"))
	s.Close()
	s.cluster.must(t, "scancel", "--name="+s.jobName(cancelled))
	deadline := time.Now().Add(2 * ample) // it forgets once a minute
	for s.cluster.must(t, "squeue", "-h", "-t", "all", "-n", s.jobName(ran)+","+s.jobName(cancelled)+","+s.jobName(broken)) != "" {
		if time.Now().After(deadline) {
			t.Fatal("Slurm does not forget")
		}
		time.Sleep(200 * time.Millisecond)
	}
	s.open(t)
	if got := s.awaitEnd(t, ran); got.State != protocol.Failed || got.ExitCode != 4 {
		t.Errorf("%+v", got)
	}
	want, state, signal := "ran\n", protocol.Completed, 0
	if history {
		want, state = "", protocol.Cancelled
		signal = 9
	}
	got := s.awaitEnd(t, cancelled)
	if out, _ := os.ReadFile(filepath.Join(dir, "cancelled")); got.State != state || string(out) != want {
		t.Errorf("cancelled: %+v, and it wrote %q", got, out)
	}
	got = s.awaitEnd(t, broken)
	if got.Ran > 10*protocol.Minute {
		t.Errorf("it ran for %v", got.Ran)
	}
	if out, _ := os.ReadFile(filepath.Join(dir, "broken")); string(out) != "ran\n" || got.Signal != signal ||
		history && got.State != protocol.Failed || !history && (got.State != protocol.NodeFail || !strings.Contains(got.Reason, "lost")) {
		t.Errorf("broken: %+v, and it wrote %q", got, out)
	}
}

func TestForgottenWithLog(t *testing.T) {
	t.Parallel()
	siteC.Lock()
	defer siteC.Unlock()
	forgets(t, openSite(t, "siteC", nil), true)
}

// TestForgottenInAnotherZone has a controller that is not in UTC. Its log has its local time.
func TestForgottenInAnotherZone(t *testing.T) {
	t.Parallel()
	const here = cluster("siteC")
	here.up(t)
	siteC.Lock()
	defer siteC.Unlock()
	restart := func(zone string) {
		if err := here.kill(); err != nil {
			t.Error(err)
		}
		if err := here.startIn(zone); err != nil {
			t.Error(err)
		}
	}
	defer restart("UTC")
	restart("EST5")
	forgets(t, openSite(t, here, nil), true)
}

// TestEndsOfAnotherZone: of jobs with one number and name the one is told apart that was
// submitted at that time, whatever zone the log is in, and its times are in UTC.
func TestEndsOfAnotherZone(t *testing.T) {
	t.Parallel()
	const submitted = 1_795_000_000_000
	for _, c := range []struct {
		ahead   protocol.Duration // of the log
		know    bool
		matches bool
	}{
		{0, true, true},
		{protocol.Hour, true, true},
		{-5 * protocol.Hour, true, true},
		{5*protocol.Hour + 45*protocol.Minute, true, true},
		{14 * protocol.Hour, true, true},
		{-3*protocol.Hour - 30*protocol.Minute, false, true},
		{0, false, true},
		{3 * protocol.Second, true, false},
		{protocol.Hour - 2*protocol.Second, true, false},
		{24 * protocol.Hour, true, false},
	} {
		line := fmt.Sprintf("JobId=7 UserId=a(12) GroupId=a(12) Name=sy.north.9.1 JobState=CANCELLED StartTime=%s EndTime=%s SubmitTime=%s ExitCode=0:15",
			wallClock(submitted+1000, c.ahead), wallClock(submitted+61_000, c.ahead), wallClock(submitted, c.ahead))
		start, end, ok := slurm.EndInLog(line, submitted, c.know)
		if ok != c.matches || ok && (start != submitted+1000 || end != submitted+61_000) {
			t.Errorf("%+v: matches %t, from %d to %d", c, ok, start-submitted, end-submitted)
		}
	}
}

// wallClock is an instant as a clock shows it that is ahead of UTC.
func wallClock(at protocol.Instant, ahead protocol.Duration) string {
	return at.Add(ahead).Time().UTC().Format("2006-01-02T15:04:05")
}

func TestForgottenWithoutAnything(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(newDir(t), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	siteC.Lock()
	defer siteC.Unlock()
	forgets(t, openSite(t, "siteC", func(c *slurm.Config) {
		c.JobComp = empty
		slurm.SetPatience(c, time.Minute, time.Second)
	}), false)
}

// TestForgottenWithDatabase has slurmdbd and no log.
func TestForgottenWithDatabase(t *testing.T) {
	t.Parallel()
	needsDatabase(t)
	const here = cluster("siteH")
	forgets(t, openSite(t, here, nil), true)
	s := openSite(t, here, func(c *slurm.Config) { slurm.SetAccountPatience(c, time.Minute) })
	for _, name := range []string{"slurmdbd", "mariadbd"} {
		forgetsLate(t, s, filepath.Join(here.base(), "db/run", name+".pid"))
	}
}

// forgetsLate has an operator cancel a waiting job while the peer is down and the database, or what
// is before it, hangs. The end is known once that goes on, and until then the job is not submitted
// again.
func forgetsLate(t *testing.T, s *site, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	dir := homeDir(t)
	cancelled := s.held(t, home(dir, "echo ran >> cancelled"))
	s.Close()
	if err = syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	defer goOn()
	s.cluster.must(t, "scancel", "--name="+s.jobName(cancelled))
	eventually(t, "Slurm forgets the job", func() bool { return s.cluster.must(t, "squeue", "-h", "-t", "all", "-n", s.jobName(cancelled)) == "" })
	s.open(t)
	s.await(t, cancelled, func(c localsched.Change) bool { return strings.Contains(c.Reason, "not known yet") })
	goOn()
	got := s.awaitEnd(t, cancelled)
	if out, _ := os.ReadFile(filepath.Join(dir, "cancelled")); got.State != protocol.Cancelled || len(out) > 0 {
		t.Errorf("cancelled: %+v, and it wrote %q", got, out)
	}
}

func TestUntold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"Agent queue size: 4\nDBD Agent queue size: 17\n": 17, "": 0, "DBD Agent queue size: 0": 0} {
		if got, err := slurm.ParseUntold(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	if got, err := slurm.ParseUntold("DBD Agent queue size: many"); err == nil {
		t.Errorf("many are %d", got)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	tag := s.submit(t, guest("exec sleep 1000"))
	got := s.awaitEnd(t, tag)
	if got.State != protocol.Timeout || got.Ran < protocol.Minute-5*protocol.Second || !strings.Contains(got.Reason, "limit of 0:01:00") {
		t.Errorf("%+v", got)
	}
}
