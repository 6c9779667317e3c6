package slurm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// TestControllerKilled kills slurmctld at random instants while jobs stream in. Each
// job runs exactly once, or ended as NODE_FAIL after it had started.
func TestControllerKilled(t *testing.T) {
	t.Parallel()
	const site = cluster("siteB")
	siteB.Lock()
	defer siteB.Unlock()
	s := openSite(t, site, func(c *slurm.Config) {
		slurm.SetPatience(c, time.Minute, 20*time.Second)
		slurm.SetKilledPatience(c, ample)
	})
	dir := homeDir(t)
	ctx, stop := context.WithCancel(t.Context())
	var operator sync.WaitGroup
	operator.Go(func() { site.tend(ctx) })
	defer operator.Wait()
	defer stop()
	const perKill = 12
	kills := 6
	if testing.Short() { // the tests below bring about what is known to come of it
		kills = 2
	}
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
			if _, err := os.Stat(s.dir(tag, "claim/started")); err != nil {
				t.Errorf("job %v is %+v and never started; %s", tag, outcome, s.story(tag))
			}
		default:
			t.Errorf("job %v ran %q and is %+v; %s", tag, ran, outcome, s.story(tag))
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

// siteB is for one test at a time.
var siteB sync.Mutex

// saved has the controller save its state. What is returned has the controller killed and started
// again with that state, as if it had saved none since.
func (c cluster) saved(t *testing.T) (back func()) {
	t.Helper()
	state, kept := c.path("state"), filepath.Join(newDir(t), "state")
	do := func(steps ...func() error) {
		t.Helper()
		for _, step := range steps {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	copyState := func(from, to string) func() error {
		return func() error {
			out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			return err
		}
	}
	c.stop(t)
	do(copyState(state, kept), c.start)
	c.nodesAnswer(t)
	eventually(t, "the nodes are idle", func() bool { // until then none gets a job
		return c.must(t, "sinfo", "-h", "-p", "batch", "-N", "-o", "%T") == strings.TrimSuffix(strings.Repeat("idle\n", nodes), "\n")
	})
	return func() {
		t.Helper()
		do(c.kill, func() error { return os.RemoveAll(state) }, copyState(kept, state), c.start)
	}
}

// signalNodes signals the daemons of all nodes.
func (c cluster) signalNodes(t *testing.T, sig syscall.Signal) {
	t.Helper()
	files, err := filepath.Glob(c.path("run/slurmd-*.pid"))
	if err != nil || len(files) != nodes {
		t.Fatalf("the nodes' files are %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil {
			err = syscall.Kill(pid, sig)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// nodesAnswer waits until the controller hears of all nodes. On a busy machine it may give up one that
// was stopped, or for which it was down itself; such a one is told to register again.
func (c cluster) nodesAnswer(t *testing.T) {
	t.Helper()
	again := time.Now().Add(5 * time.Second)
	eventually(t, "the nodes answer", func() bool {
		states, err := c.run("sinfo", "-h", "-p", "batch", "-N", "-o", "%T")
		if err == nil && !slices.ContainsFunc([]string{"down", "drain", "unknown", "*"}, func(bad string) bool { return strings.Contains(states, bad) }) {
			return true
		}
		if time.Now().After(again) {
			c.signalNodes(t, syscall.SIGHUP)
			_, _ = c.run("scontrol", "update", "nodename=ALL", "state=resume") // refused where nothing is to be resumed
			again = time.Now().Add(5 * time.Second)
		}
		return false
	})
}

// waiting is the number of the job of Slurm's that waits and stands for a tag; empty: there is none.
func (s *site) waiting(t *testing.T, tag protocol.Tag) string {
	t.Helper()
	return s.cluster.must(t, "squeue", "-h", "-t", "PD", "-n", s.jobName(tag), "-o", "%A")
}

// starting waits until the controller has told a node to start a job of a number.
func (c cluster) starting(t *testing.T, id string) {
	t.Helper()
	eventually(t, "Slurm starts it", func() bool { return c.must(t, "squeue", "-h", "-t", "R", "-j", id, "-o", "%A") == id })
}

// heldJob opens a site that holds what it submits, and makes a job, not submitted yet, whose story is
// shown if the test fails. It returns the job's home as well.
func heldJob(t *testing.T, script string) (s *site, job localsched.Submission, dir string) {
	t.Helper()
	siteB.Lock()
	t.Cleanup(siteB.Unlock)
	s = openSite(t, "siteB", func(c *slurm.Config) {
		c.Extra = []string{"--hold"}
		slurm.SetKilledPatience(c, ample)
	})
	dir = homeDir(t)
	job = home(dir, script)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.story(job.Tag))
		}
	})
	return s, job, dir
}

// TestForgottenWaiting: jobs that wait when a controller is killed, and which it then does not know,
// or cancels by itself ("Could not launch job 6 and not able to requeue it, cancelling job", slurmd
// says), are submitted again, and run once.
func TestForgottenWaiting(t *testing.T) {
	t.Parallel()
	for name, forgotten := range map[string]func(*testing.T, *site, localsched.Submission) string{
		"it is not known":                                   termUnknown,
		"its launch was under way":                          underWay,
		"the launch of another of its number was under way": anothersUnderWay,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job, dir := heldJob(t, "echo ran >> ran")
			here := s.cluster
			defer here.signalNodes(t, syscall.SIGCONT)
			first, next := forgotten(t, s, job), ""
			here.signalNodes(t, syscall.SIGCONT)
			eventually(t, "the job is submitted again", func() bool {
				next = s.waiting(t, job.Tag)
				return next != "" && next != first
			})
			here.must(t, "scontrol", "release", next)
			here.nodesAnswer(t)
			if got := s.awaitEnd(t, job.Tag); got.State != protocol.Completed {
				t.Errorf("%+v", got)
			}
			if ran, _ := os.ReadFile(filepath.Join(dir, "ran")); string(ran) != "ran\n" {
				t.Errorf("it ran %q", ran)
			}
		})
	}
}

// notKnown has the controller forget a job that waits. Submitted again, it may get the same number.
func termUnknown(t *testing.T, s *site, job localsched.Submission) (id string) {
	t.Helper()
	back := s.cluster.saved(t)
	s.submitUntilTaken(t, job)
	back()
	return ""
}

// underWay has the controller forget that it was starting a job. It returns the job's number.
func underWay(t *testing.T, s *site, job localsched.Submission) (id string) {
	t.Helper()
	s.submitUntilTaken(t, job)
	id = s.waiting(t, job.Tag)
	back := s.cluster.saved(t)
	s.cluster.signalNodes(t, syscall.SIGSTOP)
	s.cluster.must(t, "scontrol", "release", id)
	s.cluster.starting(t, id)
	back()
	return id
}

// anothersUnderWay has the controller forget another job that it was starting, and gives the job
// its number, which it returns.
func anothersUnderWay(t *testing.T, s *site, job localsched.Submission) (id string) {
	t.Helper()
	back := s.cluster.saved(t)
	s.cluster.signalNodes(t, syscall.SIGSTOP)
	another := s.cluster.must(t, "sbatch", "--parsable", "--uid="+jobAccount, "--no-requeue", "-o", "/dev/null", "--wrap", "true")
	s.cluster.starting(t, another)
	back()
	s.submitUntilTaken(t, job)
	if id = s.waiting(t, job.Tag); id != another {
		t.Fatalf("the job has the number %s, and the other had %s", id, another)
	}
	return id
}

// TestForgottenRunning: a job that runs when a controller is killed, and which it then does not
// know, is ended by its node, and not submitted again.
func TestForgottenRunning(t *testing.T) {
	t.Parallel()
	const here = cluster("siteB")
	siteB.Lock()
	defer siteB.Unlock()
	s := openSite(t, here, func(c *slurm.Config) { slurm.SetPatience(c, 0, 5*time.Second) })
	dir := homeDir(t)
	job := home(dir, "echo ran >> ran; exec sleep 1000")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.story(job.Tag))
		}
	})
	back := here.saved(t)
	s.submitUntilTaken(t, job)
	ran := func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "ran"))
		return string(text)
	}
	eventually(t, "its script runs", func() bool { return ran() == "ran\n" })
	back()
	got := s.awaitEnd(t, job.Tag)
	if got.State != protocol.NodeFail || !strings.Contains(got.Reason, "Slurm has lost the job after it had started") || ran() != "ran\n" {
		t.Errorf("it ran %q and is %+v", ran(), got)
	}
}

// TestForgottenStart: a job that runs when a controller is killed, and which it then takes for one
// that waits, did not end by itself, and nobody cancelled it.
func TestForgottenStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hidden bool // the node does not report that it runs the job
		reason string
	}{
		"its node ends it":               {false, "Slurm started the job a second time, which was prevented"},
		"slurmd does not start it again": {true, "CANCELLED in Slurm about when its controller was started"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job, dir := heldJob(t, "echo ran >> ran; until [ -e stop ]; do sleep 0.1; done; : > stopped")
			here := s.cluster
			s.submitUntilTaken(t, job)
			id := s.waiting(t, job.Tag)
			back := here.saved(t)
			here.must(t, "scontrol", "release", id)
			ran := func() string {
				text, _ := os.ReadFile(filepath.Join(dir, "ran"))
				return string(text)
			}
			eventually(t, "its script runs", func() bool { return ran() == "ran\n" })
			if c.hidden {
				here.hideSteps(t, id)
				defer func() { // nobody else ends it
					if err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600); err != nil {
						t.Error(err)
					}
					eventually(t, "it stops", func() bool {
						_, err := os.Stat(filepath.Join(dir, "stopped"))
						return err == nil
					})
					here.nodesAnswer(t) // the controller has drained the node
				}()
			}
			back()
			here.must(t, "scontrol", "release", id)
			got := s.awaitEnd(t, job.Tag)
			if got.State != protocol.NodeFail || !strings.Contains(got.Reason, c.reason) || ran() != "ran\n" {
				t.Errorf("it ran %q and is %+v", ran(), got)
			}
		})
	}
}

// hideSteps removes the sockets by which slurmd reaches what it runs of a job.
func (c cluster) hideSteps(t *testing.T, id string) {
	t.Helper()
	sockets, err := filepath.Glob(c.path("spool/*/*_" + id + ".*"))
	if err != nil || len(sockets) == 0 {
		t.Fatalf("the job's sockets are %v, %v", sockets, err)
	}
	for _, socket := range sockets {
		if err = os.Remove(socket); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhoCancelled: Slurm may have cancelled a waiting job by itself if its controller was started
// about when the job was submitted or cancelled, or if the job has the number of another.
func TestWhoCancelled(t *testing.T) {
	t.Parallel()
	const boot, hour, near = 1_795_000_000_000, protocol.Instant(protocol.Hour), protocol.Instant(59 * protocol.Second)
	for _, c := range []struct {
		submitted, cancelled, booted protocol.Instant
		want                         bool
	}{
		{boot + near, boot + hour, boot, true},
		{boot - near, boot - 1, boot, true},
		{boot - hour, boot + near, boot, true},
		{0, boot + near, boot, true},
		{boot - hour, boot + hour, boot, false},
		{boot + hour, boot + 2*hour, boot, false},
		{boot - 2*hour, boot - hour, boot, false},
		{boot, boot, 0, false},
		{0, 0, boot, false},
	} {
		if got := slurm.AfterKill(c.submitted, c.cancelled, c.booted); got != c.want {
			t.Errorf("%+v: by Slurm itself %t", c, got)
		}
	}
	for _, c := range []struct {
		now, started uint32
		want         bool
	}{{8, 0, false}, {7, 0, true}, {8, 7, true}} {
		if got := slurm.NumberOfAnother(7, c.now, c.started); got != c.want {
			t.Errorf("7, and another has %d and had %d: %t", c.now, c.started, got)
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
	if presence, _, err := s.FindByTag(t.Context(), job.Tag); presence != localsched.PresenceUnknown || err == nil {
		t.Errorf("while the controller sleeps the job is %v, %v", presence, err)
	}
	site.signal(t, syscall.SIGCONT)
	s.submitUntilTaken(t, job)
	if got := s.awaitEnd(t, job.Tag); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
	eventually(t, "the queue is empty", func() bool {
		return site.must(t, "squeue", "-h", "-t", "PD,R,CG", "-n", s.jobName(job.Tag)) == ""
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
	name := s.jobName(job.Tag)
	s.cluster.must(t, "scancel", "--name="+name)
	if err := os.WriteFile(s.dir(job.Tag, "native.json"),
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
		line := s.cluster.must(t, "squeue", "-h", "-t", "all", "-n", s.jobName(tag), "-o", "%A %V %T")
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

// story is what the spool has about a job, and what Slurm has said of it and of the numbers that
// it had, for the message of a failure.
func (s *site) story(tag protocol.Tag) string {
	var text strings.Builder
	numbers := map[string]bool{}
	for _, name := range []string{"native.json", "claim/started", "claim/exit", "claim/trouble", "slurm.log", "end.json"} {
		data, err := os.ReadFile(s.dir(tag, name))
		if err != nil {
			fmt.Fprintf(&text, "%v\n", err)
			continue
		}
		fmt.Fprintf(&text, "%s: %s\n", name, bytes.TrimSpace(data))
		if name == "claim/started" {
			number, _, _ := strings.Cut(string(data), " ")
			numbers[number] = true
		}
	}
	record, _ := os.ReadFile(s.dir(tag, "native.json"))
	for _, found := range regexp.MustCompile(`"id":\s*(\d+)`).FindAllSubmatch(record, -1) {
		numbers[string(found[1])] = true
	}
	logs, _ := filepath.Glob(s.cluster.path("log/slurm*.log"))
	for _, path := range append(logs, s.cluster.path("jobcomp.log")) {
		data, _ := os.ReadFile(path)
		for line := range strings.Lines(string(data)) {
			about := strings.Contains(line, "slurmctld version") || strings.Contains(line, "Running as primary") || strings.Contains(line, s.name(tag)+" ")
			for number := range numbers {
				about = about || regexp.MustCompile(`(?i)(JobId=|StepId=|job |batch script for job |\[)`+number+`\b`).MatchString(line)
			}
			if about {
				fmt.Fprintf(&text, "%s: %s", filepath.Base(path), line)
			}
		}
	}
	return text.String()
}
