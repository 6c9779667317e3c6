package process_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// holdOf is a hold for a job, some time from now.
func holdOf(job localsched.Submission, in time.Duration) localsched.Reservation {
	return localsched.Reservation{
		Tag: job.Tag, Request: job.Spec.Request, Start: protocol.InstantOf(time.Now().Add(in)), Account: job.Account,
	}
}

func (s *site) reserve(t testing.TB, hold localsched.Reservation) protocol.Instant {
	t.Helper()
	at, err := s.Reserve(t.Context(), hold)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// noted reports whether a hold is in the spool.
func (s *site) noted(tag protocol.Tag) bool {
	_, err := os.Stat(filepath.Join(s.config.Dir, "reservations", spool.DirName(tag)))
	return err == nil
}

func (s *site) describesReserve(t testing.TB) bool {
	t.Helper()
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(d.Capabilities, localsched.Reserve)
}

// TestHoldGoesWithItsJob: the record of a hold is there until its job has ended or was withdrawn.
func TestHoldGoesWithItsJob(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	ends, gone, never := guest(t, "true"), guest(t, "true"), guest(t, "true")
	for _, job := range []localsched.Submission{ends, gone, never} {
		at := s.reserve(t, holdOf(job, 0))
		if !s.noted(job.Tag) {
			t.Fatalf("the hold from %v on is not in the spool", at)
		}
		if err := s.CancelReservation(t.Context(), protocol.Tag{Job: job.Tag.Job, Epoch: 99}); err != nil || !s.noted(job.Tag) {
			t.Errorf("released another: %v", err)
		}
	}
	s.submit(t, ends)
	s.submit(t, gone)
	for _, job := range []localsched.Submission{gone, never} {
		if got, err := s.Withdraw(t.Context(), job.Tag); err != nil || got != localsched.Withdrawn {
			t.Errorf("%v, %v", got, err)
		}
	}
	s.awaitEnd(t, ends.Tag)
	for _, job := range []localsched.Submission{ends, gone, never} {
		eventually(t, "the record is removed", func() bool { return !s.noted(job.Tag) })
		if _, err := s.Reserve(t.Context(), holdOf(job, 0)); !isRefused(err) {
			t.Errorf("room for a job that is over: %v", err)
		}
	}
}

// TestHoldIsOver: a hold whose job does not come ends with its time, and its room is free.
func TestHoldIsOver(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	never := guest(t, "true")
	never.Spec.WallTime = 300 * protocol.Millisecond
	at := s.reserve(t, holdOf(never, 0))
	job := guest(t, "true")
	s.submit(t, job)
	if c := s.awaitRunning(t, job.Tag); c.Started < at.Add(never.Spec.WallTime) {
		t.Errorf("it started at %v in what is held from %v on", c.Started, at)
	}
	eventually(t, "the record is removed", func() bool { return !s.noted(never.Tag) })
}

// TestHoldIsOverWhileAway: what was over before the start is not held.
func TestHoldIsOverWhileAway(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	over, damaged := guest(t, "true"), guest(t, "true")
	over.Spec.WallTime = protocol.Millisecond
	s.reserve(t, holdOf(over, 0))
	s.Close()
	if err := os.WriteFile(filepath.Join(s.config.Dir, "reservations", spool.DirName(damaged.Tag)), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	eventually(t, "the record is removed", func() bool { return !s.noted(over.Tag) })
	if got := s.awaitEnd(t, s.submit(t, guest(t, "true"))); got.State != protocol.Completed {
		t.Errorf("got %+v", got)
	}
}

// TestTooLateToStart: a job that must have started by now never does, whether it came too late or
// the peer was away.
func TestTooLateToStart(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	blocker := guest(t, "sleep 1000")
	blocker.Spec.CPUs = s.config.Capacity.CPUs
	s.submit(t, blocker)
	s.awaitRunning(t, blocker.Tag)
	away, late, punctual := guest(t, "true"), guest(t, "true"), guest(t, "true")
	now := protocol.InstantOf(time.Now())
	away.StartBy, late.StartBy, punctual.StartBy = now.Add(protocol.Second), now-1, now.Add(protocol.Hour)
	s.submit(t, away)
	s.Close()
	eventually(t, "its time is over", func() bool { return protocol.InstantOf(time.Now()) > away.StartBy })
	s.open(t)
	s.submit(t, late)
	s.submit(t, punctual)
	if err := s.Kill(t.Context(), blocker.Tag); err != nil {
		t.Fatal(err)
	}
	if got := s.awaitEnd(t, punctual.Tag); got.State != protocol.Completed {
		t.Errorf("the one in time ended as %+v", got)
	}
	for _, job := range []localsched.Submission{away, late} {
		eventually(t, "the shim has looked at the time", func() bool {
			_, err := os.Stat(filepath.Join(s.config.Dir, "jobs", spool.DirName(job.Tag), "started"))
			return err == nil
		})
		if got, err := s.Withdraw(t.Context(), job.Tag); err != nil || got != localsched.Withdrawn {
			t.Errorf("job %v, which was to start by %v: %v, %v", job.Tag, job.StartBy, got, err)
		}
	}
	s.reopen(t)
	for _, job := range []localsched.Submission{away, late} {
		if got, _, err := s.FindByTag(t.Context(), job.Tag); err != nil || got != localsched.Absent {
			t.Errorf("job %v is %v, %v", job.Tag, got, err)
		}
	}
	all := guest(t, "true")
	all.Spec.CPUs = s.config.Capacity.CPUs
	if got := s.awaitEnd(t, s.submit(t, all)); got.State != protocol.Completed {
		t.Errorf("a job that needs their room ended as %+v", got)
	}
}

// TestHoldsUnderOtherRules: within a power budget nothing is held but what was before, and on
// partitions nothing.
func TestHoldsUnderOtherRules(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	job := guest(t, "true")
	at := s.reserve(t, holdOf(job, time.Second))
	if !s.describesReserve(t) {
		t.Error("it does not say that it holds room")
	}
	if err := s.SetBudget(engine.Budget{Signal: power.Always(1000), Rates: power.Rates{Busy: 1000}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reserve(t.Context(), holdOf(guest(t, ""), 0)); !isRefused(err) || s.describesReserve(t) {
		t.Errorf("within a budget: %v", err)
	}
	s.reopen(t)
	s.submit(t, job)
	if c := s.awaitRunning(t, job.Tag); c.Started < at {
		t.Errorf("it started at %v, held from %v on", c.Started, at)
	}
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*localsched.RefusedError](err)
	return ok
}

// reserveWord has a victim hold room before each submission.
const reserveWord = "PROCESS_TEST_VICTIM_RESERVES"

// reserves has a victim hold a part of the machine for each job, for ever, and print since when.
func reserves(dir string) {
	config := configOf(dir)
	config.Shim = strings.Fields(os.Getenv("PROCESS_TEST_SHIM"))
	s, err := process.Open(config)
	var t testing.T
	for i := 0; err == nil && i < victimJobs; i++ {
		job := guest(&t, "true")
		job.Spec.CPUs = 1 + i%4
		job.Tag.Job = protocol.NewJobID(8, uint64(os.Getpid()*1000+i))
		var at protocol.Instant
		at, err = s.Reserve(t.Context(), holdOf(job, time.Hour))
		fmt.Printf("%d %v\n", at, job.Tag)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {}
}

// TestPeerKilledWhileItHolds kills peers that hold room. What they have answered is held from
// then on, and no hold overlaps another beyond the machine.
func TestPeerKilledWhileItHolds(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	answered := map[protocol.Tag]protocol.Instant{}
	for round := range 4 {
		killReserver(t, dir, 1+round*6, answered)
	}
	s := &site{config: configOf(dir)}
	s.open(t)
	defer s.Close()
	for tag, at := range answered {
		job := guest(t, "true")
		job.Tag = tag
		if again := s.reserve(t, holdOf(job, 0)); again != at {
			t.Errorf("room for %v was held from %v on, now from %v on", tag, at, again)
		}
	}
	holds, err := filepath.Glob(filepath.Join(dir, "spool", "reservations", "*"))
	if err != nil || len(holds) < len(answered) {
		t.Fatalf("%d holds were answered, %d are noted: %v", len(answered), len(holds), err)
	}
	var all []spool.Reservation
	for _, path := range holds {
		h, err := spool.ReadRecord[spool.Reservation](filepath.Split(path))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	for _, one := range all {
		used := 0
		for _, other := range all {
			if other.Start <= one.Start && one.Start < other.End() {
				used += other.Request.CPUs
			}
		}
		if used > s.config.Capacity.CPUs {
			t.Errorf("%d CPUs are held at %v", used, one.Start)
		}
	}
	t.Logf("%d holds answered, %d noted", len(answered), len(all))
}

// killReserver lets a peer answer n holds and kills it.
func killReserver(t *testing.T, dir string, n int, answered map[protocol.Tag]protocol.Instant) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), victimDir+"="+dir, reserveWord+"=yes", "PROCESS_TEST_SHIM="+strings.Join(shimCommand, " "))
	readVictim(t, child, n, func(word, text string) {
		tag, err := protocol.ParseTag(text)
		var at protocol.Instant
		if _, scan := fmt.Sscan(word, &at); err != nil || scan != nil {
			t.Fatal(word, text, err, scan)
		}
		answered[tag] = at
	})
}

// TestTooLateToBegin: a job that its shim has claimed in time does not begin when it takes too long until
// then. Here the second stage waits for a reader of the output.
func TestTooLateToBegin(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	dir := homeDir(t)
	pipe := filepath.Join(dir, "pipe")
	if err := errors.Join(unix.Mkfifo(pipe, 0o666), os.Chmod(pipe, 0o666)); err != nil {
		t.Fatal(err)
	}
	began := filepath.Join(dir, "began")
	claimed := false
	var job localsched.Submission
	for patience := protocol.Second; !claimed; patience *= 2 { // on a slow machine its shim withdraws it
		job = guest(t, "touch "+began)
		homeIn(dir, pipe)(&job)
		job.StartBy = protocol.InstantOf(time.Now()).Add(patience)
		s.submit(t, job)
		eventually(t, "the shim has looked at the time", func() bool {
			text, err := os.ReadFile(filepath.Join(s.config.Dir, "jobs", spool.DirName(job.Tag), "started"))
			claimed = err == nil && !strings.Contains(string(text), "withdrawn")
			return err == nil
		})
	}
	eventually(t, "its time is over", func() bool { return protocol.InstantOf(time.Now()) > job.StartBy })
	reader, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	got := s.await(t, job.Tag, protocol.State.Terminal)
	if got.State != protocol.Cancelled || got.Started != 0 || got.Outcome.Ran != 0 || !strings.Contains(got.Reason, "later than it may") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(began); err == nil {
		t.Error("it has begun")
	}
}
