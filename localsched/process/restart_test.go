package process_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestRestartWhileJobsRun(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Capacity.CPUs = 1; c.OnStop = process.LeaveJobs })
	dir := homeDir(t)
	first := s.submit(t, home(t, dir, "while [ ! -e go ]; do sleep 0.02; done; exit 7"))
	second := s.submit(t, guest(t, "echo second"))
	third := s.submit(t, guest(t, "echo third"))
	started := s.awaitRunning(t, first).Started
	before := s.cursor
	s.reopen(t)
	if c := s.awaitRunning(t, first); c.Started != started {
		t.Errorf("it started at %d, now at %d", started, c.Started)
	}
	if watched, err := s.Watch(t.Context(), before); err != nil || len(watched.Changes) == 0 {
		t.Errorf("a cursor of before the restart brings %+v, %v", watched, err)
	}
	load, err := s.Load(t.Context())
	if err != nil || load.Busy != 1 || load.QueuedJobs != 2 {
		t.Errorf("the load is %+v, %v", load, err)
	}
	write(t, filepath.Join(dir, "go"), "")
	if got := s.awaitEnd(t, first); got.State != protocol.Failed || got.ExitCode != 7 {
		t.Errorf("got %+v", got)
	}
	s.awaitEnd(t, second)
	s.awaitEnd(t, third)
	if !inOrder(s.seen, second, third) {
		t.Errorf("the queue lost its order: %+v", s.seen)
	}
}

// inOrder reports whether a started no later than b.
func inOrder(seen []localsched.Change, a, b protocol.Tag) bool {
	started := map[protocol.Tag]protocol.Instant{}
	for _, c := range seen {
		started[c.Tag] = c.Started
	}
	return started[a] <= started[b]
}

func TestEndWhileAway(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.OnStop = process.LeaveJobs })
	dir := homeDir(t)
	tag := s.submit(t, home(t, dir, "while [ ! -e go ]; do sleep 0.02; done; exit 7"))
	s.awaitRunning(t, tag)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go"), "")
	eventually(t, "the end is written", func() bool {
		_, err := os.Stat(s.dir(tag, "exit"))
		return err == nil
	})
	s.open(t)
	if got := s.awaitEnd(t, tag); got.ExitCode != 7 {
		t.Errorf("got %+v", got)
	}
}

// TestSpoolSetAside renames the directory of all jobs while one runs, as a peer does that begins
// anew: how the job ended and what it has written are there under the new name, and its shim
// ends.
func TestSpoolSetAside(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.OnStop = process.LeaveJobs })
	tag := s.submit(t, guest(t, "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo done; exit 7"))
	s.awaitRunning(t, tag)
	eventually(t, "the job is under way", func() bool { return s.read(t, tag, protocol.Stdout) != "" })
	shim := s.started(t, tag).PID
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	jobs := filepath.Join(s.config.Dir, "jobs")
	aside := filepath.Join(jobs+".set-aside", filepath.Base(s.dir(tag, "")))
	if err := os.Rename(jobs, jobs+".set-aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(jobs, 0o711); err != nil { // of the next peer
		t.Fatal(err)
	}
	write(t, filepath.Join(aside, "work/go"), "")
	eventually(t, "the shim ends", func() bool { return !alive(strconv.Itoa(shim)) })
	exit, err := process.ReadExit(aside)
	if err != nil || exit.ExitCode != 7 || len(exit.Files) != 2 || exit.Files[0].Size != int64(len("begun\ndone\n")) {
		t.Errorf("in the directory under its new name: %+v, %v", exit, err)
	}
	if log := readFile(t, filepath.Join(aside, "shim.log")); !strings.Contains(log, "no peer looks at this directory any more, which was "+filepath.Dir(s.dir(tag, "x"))) {
		t.Errorf("the shim says %q", log)
	}
}

// TestExitThatCannotBeWritten: a shim does not try for ever where nobody looks.
func TestExitThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(dir string) error{
		"renamed": func(dir string) error { return os.Rename(dir, dir+".set-aside") },
		"removed": os.RemoveAll,
	} {
		dir := filepath.Join(newDir(t), "job")
		if err := os.MkdirAll(filepath.Join(dir, "exit/in-its-place"), 0o700); err != nil {
			t.Fatal(err)
		}
		directory, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer directory.Close()
		if err = lose(dir); err != nil {
			t.Fatal(err)
		}
		if code := process.WriteExit(directory, 0); code == 0 {
			t.Error(name, "is taken for written")
		}
	}
}

func TestShimKilled(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		s := openSite(t, func(c *process.Config) { c.OnStop = process.LeaveJobs })
		tag := s.submit(t, guest(t, "sleep 1000 & echo $!; echo $$; exec sleep 1000"))
		s.awaitRunning(t, tag)
		eventually(t, "the job is under way", func() bool {
			return strings.Count(s.read(t, tag, protocol.Stdout), "\n") == 2
		})
		shim := s.shimOf(t, tag)
		if away {
			s.Close()
		}
		if err := syscall.Kill(shim, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if away {
			s.open(t)
		}
		first := s.awaitEnd(t, tag)
		if first.State != protocol.NodeFail {
			t.Errorf("got %+v", first)
		}
		for pid := range strings.FieldsSeq(s.read(t, tag, protocol.Stdout)) {
			eventually(t, "the job's processes are gone", func() bool { return !alive(pid) })
		}
		s.reopen(t)
		if again := s.awaitEnd(t, tag); again.State != first.State || again.Ran != first.Ran || again.Reason != first.Reason {
			t.Errorf("after a restart %+v, before %+v", again, first)
		}
	}
}

func TestEndJobsAtStop(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Capacity.CPUs = 1 })
	runs, waits := s.submit(t, guest(t, "sleep 1000")), s.submit(t, guest(t, "true"))
	s.awaitRunning(t, runs)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Watch(t.Context(), s.cursor); err != nil {
		t.Error("what happened at the stop is not reported:", err)
	}
	if _, err := s.Submit(t.Context(), guest(t, "true")); !errors.Is(err, localsched.ErrClosed) {
		t.Error("a closed scheduler says", err)
	}
	if _, err := os.Stat(s.dir(waits, "started")); err == nil {
		t.Error("a queued job was started at the stop")
	}
	s.open(t)
	if got := s.awaitEnd(t, runs); got.State != protocol.Cancelled {
		t.Errorf("got %+v", got)
	}
	if got := s.awaitEnd(t, waits); got.State != protocol.Completed {
		t.Errorf("got %+v", got)
	}
}

func TestDamagedSpool(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	first := s.submit(t, guest(t, "sleep 1000"))
	s.awaitRunning(t, first)
	damaged, whole, misplaced := s.submit(t, guest(t, "true")), s.submit(t, guest(t, "true")), s.submit(t, guest(t, "true"))
	jobs := filepath.Join(s.config.Dir, "jobs")
	moved := protocol.Tag{Job: misplaced.Job, Epoch: misplaced.Epoch + 1}
	half := filepath.Join(jobs, ".new-1234")
	s.Close()
	for _, err := range []error{
		os.WriteFile(s.dir(damaged, "job.json"), []byte(`{"format": 3, "seq"`), 0o600),
		os.Rename(s.dir(misplaced, ""), s.dir(moved, "")),
		os.MkdirAll(filepath.Join(half, "work"), 0o700),
		os.Mkdir(filepath.Join(jobs, "lost+found"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.open(t)
	for _, tag := range []protocol.Tag{damaged, moved} {
		if got := s.awaitEnd(t, tag); got.State != protocol.NodeFail || !strings.Contains(got.Reason, "job.json") {
			t.Errorf("the damaged job: %+v", got)
		}
		if err := s.Forget(t.Context(), tag); err != nil {
			t.Error(err)
		}
	}
	if got := s.awaitEnd(t, whole); got.State != protocol.Completed {
		t.Errorf("the whole job: %+v", got)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the half-made directory is left: %v", err)
	}
}

// victimDir names the environment variable that makes the test binary a peer
// which submits jobs until it is killed, printing the tag of each it has
// submitted.
const victimDir = "PROCESS_TEST_VICTIM_DIR"

// victimJobs is how many jobs one victim submits.
const victimJobs = 20

func victim(dir string) {
	if os.Getenv(reserveWord) != "" {
		reserves(dir)
	}
	config := configOf(dir)
	config.Capacity.CPUs = 1000
	withGPUs := os.Getenv(gpuWord) != ""
	if withGPUs {
		withDevices(threeGPUs()...)(&config)
	}
	config.Shim = strings.Fields(os.Getenv("PROCESS_TEST_SHIM"))
	s, err := process.Open(config)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var t testing.T
	for i := range victimJobs {
		job := home(&t, filepath.Join(dir, "home"), fmt.Sprintf("echo ran >> %d-%d", os.Getpid(), i))
		job.Payload.Stdout, job.Payload.Stderr = "", ""
		if withGPUs {
			job.Payload.Script = []byte("#!/bin/sh\n" + usesGPU(filepath.Join(dir, "home"), fmt.Sprintf("%d-%d", os.Getpid(), i)) + "\n")
			job.Spec.Resources = []protocol.Resource{gpus("", 1)}
		}
		job.Tag.Job = protocol.NewJobID(8, uint64(os.Getpid()*1000+i))
		if _, err = s.Submit(context.Background(), job); err != nil { // a T that is no test has no context
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("%d-%d %v\n", os.Getpid(), i, job.Tag)
	}
	select {}
}

// TestPeerKilled kills peers between the submission of jobs and their start. Each
// job that was submitted runs once.
func TestPeerKilled(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	if err := os.Rename(homeDir(t), filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}
	submitted := map[string]protocol.Tag{}
	for round := range 4 {
		killVictim(t, dir, 1+round*6, submitted)
	}
	s := &site{config: configOf(dir)}
	s.open(t)
	defer s.Close()
	for name, tag := range submitted {
		if got := s.awaitEnd(t, tag); got.State != protocol.Completed {
			t.Errorf("job %s: %+v", name, got)
		}
		if got := readFile(t, filepath.Join(dir, "home", name)); got != "ran\n" {
			t.Errorf("job %s has written %q", name, got)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "home", "*-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if got := readFile(t, f); got != "ran\n" {
			t.Errorf("job %s, not acknowledged, has written %q", f, got)
		}
	}
	if len(submitted) == 0 {
		t.Error("no peer has acknowledged a job before it was killed")
	}
	t.Logf("%d jobs acknowledged", len(submitted))
}

// killVictim lets a peer acknowledge n jobs and kills it.
func killVictim(t *testing.T, dir string, n int, submitted map[string]protocol.Tag) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), victimDir+"="+dir, "PROCESS_TEST_SHIM="+strings.Join(shimCommand, " "))
	readVictim(t, child, n, func(name, text string) {
		tag, err := protocol.ParseTag(text)
		if err != nil {
			t.Fatal(name, text)
		}
		submitted[name] = tag
	})
}

// readVictim starts a victim, reads its lines of two words, and kills it after n.
func readVictim(t *testing.T, child *exec.Cmd, n int, line func(word, text string)) {
	t.Helper()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		word, text, _ := strings.Cut(lines.Text(), " ")
		line(word, text)
		if i+1 == n {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait()
}

// TestOrderAfterRestart has the machine become free while the peer is away: what waits starts in
// the order that the policy wants, and not in that in which it is found again.
func TestOrderAfterRestart(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { small(c); c.OnStop, c.Policy = process.LeaveJobs, engine.SJF() })
	first := s.submit(t, guest(t, waitsForGo))
	s.awaitRunning(t, first)
	long, short := guest(t, "true"), guest(t, "true")
	short.Spec.WallTime = long.Spec.WallTime / 2
	s.submit(t, long)
	s.submit(t, short)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.letGo(t, first)
	eventually(t, "the end is written", func() bool {
		_, err := os.Stat(s.dir(first, "exit"))
		return err == nil
	})
	s.open(t)
	s.awaitEnd(t, long.Tag)
	s.awaitEnd(t, short.Tag)
	if !inOrder(s.seen, short.Tag, long.Tag) {
		t.Errorf("the long job was first: %+v", s.seen)
	}
}

// TestPromisesAfterRestart: what waiting jobs are promised is written down when the peer stops,
// and kept when it comes back, in whatever order it came about.
func TestPromisesAfterRestart(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { small(c); c.OnStop, c.Policy = process.LeaveJobs, engine.Conservative() })
	first := s.submit(t, guest(t, waitsForGo))
	s.awaitRunning(t, first)
	one, two := guest(t, "true"), guest(t, "true")
	one.Spec.WallTime, two.Spec.WallTime = protocol.Hour, protocol.Hour
	s.submit(t, one)
	s.submit(t, two)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	record := s.promised(t)
	due := record.Zero.Add(s.started(t, first).Began + protocol.Minute) // the limit of the first
	want := []engine.ReservedStart{{Tag: one.Tag, Start: due}, {Tag: two.Tag, Start: due.Add(protocol.Hour)}}
	if !slices.Equal(record.Jobs, want) {
		t.Errorf("promised is %+v, want %+v", record, want)
	}
	// As if it had come about the other way.
	path := filepath.Join(s.config.Dir, "promised")
	text := strings.NewReplacer(one.Tag.Job.String(), two.Tag.Job.String(), two.Tag.Job.String(), one.Tag.Job.String()).Replace(readFile(t, path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	s.letGo(t, first)
	s.awaitEnd(t, one.Tag)
	s.awaitEnd(t, two.Tag)
	if !inOrder(s.seen, two.Tag, one.Tag) {
		t.Errorf("what was promised is not kept: %+v", s.seen)
	}
	eventually(t, "nothing is promised any more", func() bool { return len(s.promised(t).Jobs) == 0 })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t)
}

// promised is what the spool says that jobs were promised.
func (s *site) promised(t testing.TB) (record promised) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(s.config.Dir, "promised"))), &record); err != nil {
		t.Fatal(err)
	}
	return record
}

type promised struct {
	Zero protocol.Instant `json:"zero_ms"`
	Jobs []engine.ReservedStart
}

// waitsForGo is a script that waits for [site.letGo].
const waitsForGo = "while [ ! -e go ]; do sleep 0.02; done"

// letGo has a guest end.
func (s *site) letGo(t *testing.T, tag protocol.Tag) {
	t.Helper()
	write(t, s.dir(tag, "work/go"), "")
}
