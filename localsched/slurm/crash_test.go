package slurm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestControllerKilled kills slurmctld at random instants while jobs stream in. Each
// job runs exactly once, or ended as NODE_FAIL after it had started.
func TestControllerKilled(t *testing.T) {
	t.Parallel()
	const site = cluster("siteB")
	s := openSite(t, site, func(c *slurm.Config) { slurm.SetPatience(c, 20*time.Second, 5*time.Second) })
	dir := homeDir(t)
	ctx, stop := context.WithCancel(t.Context())
	var operator sync.WaitGroup
	operator.Go(func() { site.tend(ctx) })
	defer operator.Wait()
	defer stop()
	const kills, perKill = 6, 12
	dice := rand.New(rand.NewPCG(4, 2))
	var tags []protocol.Tag
	for range kills {
		killed := make(chan error)
		after := time.Duration(dice.IntN(2500)) * time.Millisecond
		go func() {
			time.Sleep(after)
			err := site.kill()
			if err == nil {
				err = site.start()
			}
			killed <- err
		}()
		for range perKill {
			job := home(dir, "")
			job.Payload.Script = fmt.Appendf(nil, "#!/bin/sh\necho %v >> ran.%d\nsleep 0.%d\n", job.Tag, job.Tag.Job, dice.IntN(10))
			job.Payload.Stdout, job.Payload.Stderr = "", ""
			s.submitUntilTaken(t, job)
			tags = append(tags, job.Tag)
			time.Sleep(time.Duration(dice.IntN(200)) * time.Millisecond)
		}
		if err := <-killed; err != nil {
			t.Fatal(err)
		}
	}
	lost := 0
	for _, tag := range tags {
		outcome := s.awaitEnd(t, tag)
		ran, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("ran.%d", tag.Job)))
		once := string(ran) == tag.String()+"\n"
		switch {
		case outcome.State == protocol.Completed && once:
		case outcome.State == protocol.NodeFail && (once || len(ran) == 0):
			lost++
			if _, err := os.Stat(s.folder(tag, "claim/started")); err != nil {
				t.Errorf("job %v is %+v and never started", tag, outcome)
			}
		default:
			t.Errorf("job %v ran %q and is %+v", tag, ran, outcome)
		}
	}
	t.Logf("%d jobs, %d of them lost after their start", len(tags), lost)
}

// submitUntilTaken does what a peer does: after an error that is no refusal, the
// job is looked for, and submitted again only if it is reliably absent.
func (s *site) submitUntilTaken(t testing.TB, job localsched.Submission) {
	t.Helper()
	eventually(t, "the job is taken", func() bool {
		_, err := s.Submit(t.Context(), job)
		if errors.As(err, new(*localsched.RefusedError)) {
			t.Fatal(err)
		}
		for err != nil {
			presence, _, unclear := s.FindByTag(t.Context(), job.Tag)
			if presence == localsched.Present {
				return true
			}
			if presence == localsched.Absent {
				break
			}
			t.Log("not clear yet:", unclear)
			time.Sleep(100 * time.Millisecond)
		}
		return err == nil
	})
}

// TestCancelledByItsNumber: after kill -9 of a controller a waiting job may have the number of a
// run that goes on, and Slurm takes it for cancelled when that one ends.
func TestCancelledByItsNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		other        uint32
		placed, want bool
	}{{8, false, false}, {7, false, true}, {8, true, true}} {
		if got := slurm.WorthAnother(7, c.other, c.placed); got != c.want {
			t.Errorf("7 is cancelled, another has %d, placed %t: submitted again %t, want %t", c.other, c.placed, got, c.want)
		}
	}
}

// TestControllerStopped stops slurmctld while sbatch talks to it. The answer is
// not clear; once it goes on, the job is found, or reliably absent, and runs once.
func TestControllerStopped(t *testing.T) {
	t.Parallel()
	const site = cluster("siteC")
	siteC.Lock()
	defer siteC.Unlock()
	s := openSite(t, site, func(c *slurm.Config) { c.Timeout = 5 * time.Second })
	dir := homeDir(t)
	job := home(dir, "echo ran >> ran")
	site.signal(t, syscall.SIGSTOP)
	defer site.signal(t, syscall.SIGCONT)
	_, err := s.Submit(t.Context(), job)
	if err == nil || errors.As(err, new(*localsched.RefusedError)) || !strings.Contains(err.Error(), "slurmctld does not answer") {
		t.Fatal(err)
	}
	if presence, _, err := s.FindByTag(t.Context(), job.Tag); presence != localsched.Unclear || err == nil {
		t.Errorf("while the controller sleeps the job is %v, %v", presence, err)
	}
	site.signal(t, syscall.SIGCONT)
	s.submitUntilTaken(t, job)
	if got := s.awaitEnd(t, job.Tag); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
	eventually(t, "the queue is empty", func() bool {
		return site.must(t, "squeue", "-h", "-t", "PD,R,CG", "-n", s.name(job.Tag)) == ""
	})
	if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); string(ran) != "ran\n" {
		t.Errorf("it ran %q", ran)
	}
}

// siteC is for one test at a time.
var siteC sync.Mutex

// TestQueueFull fills the queue up to MaxJobCount.
func TestQueueFull(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteE", func(c *slurm.Config) { c.Extra, c.Timeout = []string{"--hold"}, ample })
	var tags []protocol.Tag
	for range 20 {
		job := guest("true")
		begin := time.Now()
		_, err := s.Submit(t.Context(), job)
		if err == nil {
			tags = append(tags, job.Tag)
			continue
		}
		if errors.As(err, new(*localsched.RefusedError)) || !strings.Contains(err.Error(), "the queue is full") {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > time.Minute { // sbatch itself goes on for two
			t.Errorf("it took %v to say so", took)
		}
		if presence, _, err := s.FindByTag(t.Context(), job.Tag); err != nil || presence != localsched.Absent {
			t.Errorf("%v %v", presence, err)
		}
		break
	}
	if len(tags) == 0 || len(tags) > 6 {
		t.Errorf("%d jobs were taken", len(tags))
	}
	for _, tag := range tags {
		if got, err := s.Withdraw(t.Context(), tag); err != nil || got != localsched.Withdrawn {
			t.Errorf("%v %v", got, err)
		}
	}
}

// TestNumberReused has Slurm forget a job and give its number to another: as seen
// after kill -9 of a controller. Here the job is taken out of the state by hand.
func TestNumberReused(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) { c.Extra = []string{"--hold"} }) // until Slurm has forgotten it
	dir := homeDir(t)
	job := home(dir, "echo ran >> ran")
	other := s.cluster.must(t, "sbatch", "--parsable", "--uid="+jobAccount, "-o", "/dev/null", "-J", "other", "--wrap", "exit 9")
	s.submit(t, job)
	s.Close()
	// What was acknowledged was another number, and now that is another job.
	name := s.name(job.Tag)
	s.cluster.must(t, "scancel", "--name="+name)
	if err := os.WriteFile(s.folder(job.Tag, "native.json"),
		[]byte(`{"id":`+other+`,"submitted_ms":0,"tries":1,"past":[`+s.ended(t, job.Tag)+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.config.Extra = nil
	s.open(t)
	if got := s.awaitEnd(t, job.Tag); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
	if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); string(ran) != "ran\n" {
		t.Errorf("it ran %q", ran)
	}
}

// ended is the record of the job of Slurm's that stood for the tag, once it is
// cancelled.
func (s *site) ended(t testing.TB, tag protocol.Tag) (record string) {
	t.Helper()
	eventually(t, "the job is cancelled", func() bool {
		line := s.cluster.must(t, "squeue", "-h", "-t", "all", "-n", s.name(tag), "-o", "%A %V %T")
		f := strings.Fields(line)
		if len(f) != 3 || f[2] == "RUNNING" || f[2] == "PENDING" || f[2] == "COMPLETING" {
			return false
		}
		at, err := time.Parse("2006-01-02T15:04:05", f[1])
		record = fmt.Sprintf(`{"id":%s,"submitted_ms":%d}`, f[0], at.UnixMilli())
		return err == nil
	})
	return record
}
