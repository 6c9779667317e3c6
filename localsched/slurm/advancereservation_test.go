package slurm_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// stamp is how scontrol reads a time.
const stamp = "2006-01-02T15:04:05"

func reserving(c *slurm.Config) { c.Reservations = true }

// holdOf is a hold for a job, some time from now.
func holdOf(job localsched.Submission, in time.Duration) localsched.Reservation {
	return localsched.Reservation{
		Tag: job.Tag, Request: job.Spec.Request, Start: protocol.InstantOf(time.Now().Add(in)), Account: jobAccount,
	}
}

// everything is a job for the whole machine.
func everything(script string) localsched.Submission {
	job := guest(script)
	job.Spec.CPUs = allCPUs
	return job
}

func (s *site) reserve(t testing.TB, hold localsched.Reservation) protocol.Instant {
	t.Helper()
	start, err := s.Reserve(t.Context(), hold)
	if err != nil || start < hold.Start {
		t.Fatalf("held from %v on, %v; asked for %v", start, err, hold.Start)
	}
	return start
}

func (s *site) reserved(t testing.TB, name string) bool {
	t.Helper()
	out, err := s.cluster.run("scontrol", "show", "reservation", "-o")
	if err != nil && !strings.Contains(out, "No reservations") {
		t.Fatal(out)
	}
	return strings.Contains(out, "ReservationName="+name+" ")
}

// TestReservations has a machine for itself, one case after another.
func TestReservations(t *testing.T) { //nolint:tparallel // the cases share one machine
	t.Parallel()
	t.Run("kept over a restart, until the job ends", keptReservation)
	t.Run("from the first limit on at which there is room", reservationWaits)
	t.Run("after maintenance", reservationAfterMaintenance)
	t.Run("given up", reservationReleased)
	t.Run("half made", reservationHalfMade)
	t.Run("made without an answer", reservationUnanswered)
	t.Run("given up while Slurm does not hear", reservationUnreleased)
	t.Run("given up over a restart", reservationGivenUpLater)
	t.Run("deleted by somebody else", reservationDeleted)
	t.Run("lost by the controller", reservationLost)
	t.Run("over before a node was up", reservationOver)
	t.Run("refused", reservationRefused)
	t.Run("too late to start", tooLateToStart)
	t.Run("too late to begin", tooLateToBegin)
}

// tooLateToStart: what Slurm launches later than the job may start is withdrawn.
func tooLateToStart(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	late, punctual := guest("true"), guest("true")
	now := protocol.InstantOf(time.Now())
	late.StartBy, punctual.StartBy = now-1, now.Add(protocol.Hour)
	s.submit(t, late)
	s.submit(t, punctual)
	if got := s.awaitEnd(t, punctual.Tag); got.State != protocol.Completed {
		t.Errorf("the one in time ended as %+v", got)
	}
	eventually(t, "it is withdrawn", func() bool {
		got, _, err := s.FindByTag(t.Context(), late.Tag)
		return err == nil && got == localsched.Absent
	})
	if got, err := s.Withdraw(t.Context(), late.Tag); err != nil || got != localsched.Withdrawn {
		t.Errorf("%v, %v", got, err)
	}
}

// tooLateToBegin: what Slurm launches in time and what begins too late never does. Here the wrapper waits
// for a reader of the output.
func tooLateToBegin(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	dir := homeDir(t)
	pipe := filepath.Join(dir, "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o666), os.Chmod(pipe, 0o666)); err != nil {
		t.Fatal(err)
	}
	claimed := false
	var job localsched.Submission
	for patience := 4 * protocol.Second; !claimed; patience *= 2 { // on a slow machine its wrapper withdraws it
		job = home(dir, "touch began")
		job.Payload.Stdout, job.Payload.Stderr = pipe, pipe
		job.StartBy = protocol.InstantOf(time.Now()).Add(patience)
		s.submit(t, job)
		eventually(t, "its wrapper has looked at the time", func() bool {
			text, err := os.ReadFile(s.dir(job.Tag, "claim/started"))
			claimed = err == nil && !strings.Contains(string(text), "withdrawn")
			return err == nil
		})
	}
	s.awaitRunning(t, job.Tag)
	eventually(t, "its time is over", func() bool { return protocol.InstantOf(time.Now()) > job.StartBy })
	reader, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	got := s.await(t, job.Tag, func(c localsched.Change) bool { return c.State.Terminal() })
	if got.State != protocol.Cancelled || got.Started != 0 || got.Outcome.Ran != 0 || !strings.Contains(got.Reason, "later than it may") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "began")); err == nil {
		t.Error("it has begun")
	}
}

// keptReservation: a job starts in its reservation, also after a restart, and none that would
// run into it does before.
func keptReservation(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	if d, err := s.Describe(t.Context()); err != nil || !slices.Contains(d.Capabilities, localsched.Reserve) {
		t.Errorf("it describes itself as %+v, %v", d, err)
	}
	job := everything("true")
	hold := holdOf(job, 6*time.Second)
	start := s.reserve(t, hold)
	long := guest("true")
	long.Spec.WallTime = protocol.Hour
	s.submit(t, long)
	s.reopen(t)
	if again := s.reserve(t, hold); again != start {
		t.Errorf("held from %v on, and when asked again from %v on", start, again)
	}
	s.submit(t, job)
	if c := s.awaitRunning(t, job.Tag); c.Started < start {
		t.Errorf("it started at %v, before %v", c.Started, start)
	}
	if c := s.awaitRunning(t, long.Tag); c.Started < start {
		t.Errorf("a job that would run into the hold started at %v", c.Started)
	}
	s.awaitEnd(t, job.Tag)
	eventually(t, "the reservation is deleted", func() bool { return !s.reserved(t, s.name(job.Tag)) })
}

// reservationWaits: beside a running job and another reservation there is room when both are over.
func reservationWaits(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	running := everything("sleep 1000")
	s.submit(t, running)
	began := s.awaitRunning(t, running.Tag).Started
	first, second := everything("true"), everything("true")
	start := s.reserve(t, holdOf(first, 0))
	if earliest := began.Add(50 * protocol.Second); start < earliest {
		t.Errorf("held from %v on, though a job may run until %v", start, began.Add(protocol.Minute))
	}
	if next := s.reserve(t, holdOf(second, 0)); next < start.Add(protocol.Minute) {
		t.Errorf("the next is held from %v on, though one begins at %v", next, start)
	}
	for _, job := range []localsched.Submission{first, second} {
		if err := s.CancelReservation(t.Context(), job.Tag); err != nil || s.reserved(t, s.name(job.Tag)) {
			t.Error("not given up:", err)
		}
	}
	if err := s.Kill(t.Context(), running.Tag); err != nil {
		t.Fatal(err)
	}
	s.awaitEnd(t, running.Tag)
}

// reservationAfterMaintenance: no reservation is made on nodes that are in maintenance then.
func reservationAfterMaintenance(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	begin, over := time.Now().Add(time.Hour).Truncate(time.Second), time.Now().Add(2*time.Hour).Truncate(time.Second)
	s.cluster.must(t, "scontrol", "create", "reservation", "ReservationName=maint", "StartTime="+begin.UTC().Format(stamp),
		"EndTime="+over.UTC().Format(stamp), "Flags=MAINT", "Nodes=ALL", "Users=root")
	defer s.cluster.must(t, "scontrol", "delete", "ReservationName=maint")
	job := everything("true")
	hold := holdOf(job, time.Until(begin)+time.Minute)
	if start := s.reserve(t, hold); start < protocol.InstantOf(over) {
		t.Errorf("held from %v on, in maintenance that ends at %v", start.Time(), over)
	}
	if err := s.CancelReservation(t.Context(), job.Tag); err != nil {
		t.Error(err)
	}
}

// reservationReleased: a hold is given up once, one of a withdrawn job by itself, and one of a
// job that is there not at all.
func reservationReleased(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	job := everything("true")
	s.reserve(t, holdOf(job, time.Hour))
	s.submit(t, job)
	if err := s.CancelReservation(t.Context(), job.Tag); err != nil || !s.reserved(t, s.name(job.Tag)) {
		t.Errorf("the hold of a job that has come is given up: %v", err)
	}
	if _, err := s.Withdraw(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the reservation is deleted", func() bool { return !s.reserved(t, s.name(job.Tag)) })
	for range 2 {
		if err := s.CancelReservation(t.Context(), job.Tag); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Reserve(t.Context(), holdOf(job, 0)); !isRefused(err) {
		t.Errorf("room for a withdrawn job: %v", err)
	}
}

// reservationHalfMade: a reservation that the peer made and did not note is deleted, and is in
// nobody's way when the peer asks again.
func reservationHalfMade(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	job := everything("true")
	name := s.name(job.Tag)
	halfMake := func() {
		s.cluster.must(t, "scontrol", "create", "reservation", "ReservationName="+name, "StartTime=now+1hour", "Duration=10",
			"Users="+jobAccount, "PartitionName=batch", "CoreCnt=1")
	}
	eventually(t, "the site has looked for such ones", s.Swept)
	halfMake()
	s.reserve(t, holdOf(job, time.Hour))
	if err := s.CancelReservation(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	halfMake()
	s.reopen(t)
	eventually(t, "the reservation is deleted", func() bool { return !s.reserved(t, name) })
}

// reservationUnanswered: a reservation that Slurm made while its answer was lost is deleted though
// nobody asks for it again.
func reservationUnanswered(t *testing.T) {
	s := openSite(t, "siteF", func(c *slurm.Config) {
		c.Reservations = true
		c.Bin = commandsWith(t, `/usr/bin/scontrol "$@" || exit; [ "$1" != create ] || kill -9 $$`)
	})
	eventually(t, "the site has looked for such ones", s.Swept)
	job := everything("true")
	if _, err := s.Reserve(t.Context(), holdOf(job, time.Hour)); err == nil || isRefused(err) {
		t.Errorf("without an answer: %v", err)
	}
	if err := s.CancelReservation(t.Context(), job.Tag); err != nil {
		t.Error(err)
	}
	eventually(t, "the reservation is deleted", func() bool { return s.Swept() && !s.reserved(t, s.name(job.Tag)) })
}

// reservationUnreleased: what was given up in vain is given up again, though nobody asks for it.
func reservationUnreleased(t *testing.T) {
	deaf := filepath.Join(newDir(t), "deaf")
	s := openSite(t, "siteF", func(c *slurm.Config) {
		c.Reservations = true
		c.Bin = commandsWith(t, `[ "$1" != delete ] || [ ! -e `+deaf+` ] || exit 1; exec /usr/bin/scontrol "$@"`)
	})
	job := everything("true")
	s.reserve(t, holdOf(job, time.Hour))
	if err := os.WriteFile(deaf, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.CancelReservation(t.Context(), job.Tag); err == nil || !s.reserved(t, s.name(job.Tag)) {
		t.Errorf("given up though Slurm has not heard of it: %v", err)
	}
	if err := os.Remove(deaf); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the reservation is deleted", func() bool { return !s.reserved(t, s.name(job.Tag)) })
}

// reservationGivenUpLater: while Slurm does not hear, one hold's job ends and is forgotten, and
// another hold is given up. Both reservations are deleted after a restart of the peer, and not
// when their time is over.
func reservationGivenUpLater(t *testing.T) {
	deaf := filepath.Join(newDir(t), "deaf")
	s := openSite(t, "siteF", func(c *slurm.Config) {
		c.Reservations = true
		c.Bin = commandsWith(t, `[ "$1" != delete ] || [ ! -e `+deaf+` ] || exit 1; exec /usr/bin/scontrol "$@"`)
	})
	job, other := guest("true"), guest("true")
	job.Spec.WallTime, other.Spec.WallTime = protocol.Hour, protocol.Hour
	s.reserve(t, holdOf(job, time.Second))
	s.reserve(t, holdOf(other, time.Hour))
	if err := os.WriteFile(deaf, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.submit(t, job)
	s.awaitEnd(t, job.Tag)
	if err := s.Forget(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	if err := s.CancelReservation(t.Context(), other.Tag); err == nil {
		t.Error("given up though Slurm has not heard of it")
	}
	s.reopen(t)
	if err := os.Remove(deaf); err != nil {
		t.Fatal(err)
	}
	for _, one := range []localsched.Submission{job, other} {
		eventually(t, "the reservation is deleted", func() bool { return !s.reserved(t, s.name(one.Tag)) })
	}
}

// reservationDeleted: a job whose reservation an operator has deleted waits as others do, and
// starts no sooner than the jobs that it was to start with.
func reservationDeleted(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	job := everything("true")
	start := s.reserve(t, holdOf(job, 5*time.Second))
	s.cluster.must(t, "scontrol", "delete", "ReservationName="+s.name(job.Tag))
	s.submit(t, job)
	if c := s.awaitRunning(t, job.Tag); c.Started < start {
		t.Errorf("it started at %v, before %v", c.Started, start)
	}
	if got := s.awaitEnd(t, job.Tag); got.State != protocol.Completed {
		t.Errorf("got %+v", got)
	}
}

// reservationLost: a job that waits in a reservation which the controller has lost, as with its
// state, waits as others do.
func reservationLost(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	job := everything("true")
	start := s.reserve(t, holdOf(job, 10*time.Second))
	s.submit(t, job)
	s.cluster.stop(t)
	for _, name := range []string{"state/resv_state", "state/resv_state.old"} {
		if err := os.Remove(s.cluster.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := s.cluster.start(); err != nil {
		t.Fatal(err)
	}
	if s.reserved(t, s.name(job.Tag)) {
		t.Fatal("the reservation was not lost")
	}
	if c := s.awaitRunning(t, job.Tag); c.Started < start {
		t.Errorf("it started at %v, before %v", c.Started, start)
	}
	s.awaitEnd(t, job.Tag)
}

// reservationOver: Slurm holds a job when its reservation ends before it could start. It runs
// when the nodes are back.
func reservationOver(t *testing.T) {
	s := openSite(t, "siteF", reserving)
	job := everything("true")
	s.reserve(t, holdOf(job, 2*time.Second))
	down := s.cluster.must(t, "sinfo", "-h", "-p", "batch", "-o", "%N")
	s.cluster.must(t, "scontrol", "update", "NodeName="+down, "State=DRAIN", "Reason=test")
	t.Cleanup(func() { s.cluster.run("scontrol", "update", "NodeName="+down, "State=RESUME") })
	s.submit(t, job)
	s.cluster.must(t, "scontrol", "update", "ReservationName="+s.name(job.Tag), "EndTime=now+4")
	eventually(t, "Slurm deletes the reservation", func() bool { return !s.reserved(t, s.name(job.Tag)) })
	s.cluster.must(t, "scontrol", "update", "NodeName="+down, "State=RESUME")
	if got := s.awaitEnd(t, job.Tag); got.State != protocol.Completed {
		t.Errorf("got %+v", got)
	}
}

// stop has the controller save its state and end.
func (c cluster) stop(t *testing.T) {
	t.Helper()
	pid, err := c.controller()
	if err != nil {
		t.Fatal(err)
	}
	c.signal(t, syscall.SIGTERM)
	eventually(t, "slurmctld ends", func() bool {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return len(status) == 0 || strings.Contains(string(status), "State:\tZ")
	})
}

// reservationRefused: what Slurm or the site does not allow is refused, in their words.
func reservationRefused(t *testing.T) {
	s := openSite(t, "siteF", nil)
	if _, err := s.Reserve(t.Context(), holdOf(guest(""), 0)); !isRefused(err) {
		t.Errorf("where reservations are off: %v", err)
	}
	tooLarge := guest("")
	tooLarge.Spec.CPUs = allCPUs + 1
	s = openSite(t, "siteF", reserving)
	if _, err := s.Reserve(t.Context(), holdOf(tooLarge, 0)); !isRefused(err) {
		t.Errorf("more than the machine: %v", err)
	}
	s = openSite(t, "siteF", func(c *slurm.Config) {
		c.Reservations = true
		c.Bin = commandsWith(t, `exec setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/scontrol "$@"`)
	})
	if _, err := s.Reserve(t.Context(), holdOf(guest(""), 0)); !isRefused(err) || !strings.Contains(err.Error(), "Slurm makes no reservation") {
		t.Errorf("by who is no operator: %v", err)
	}
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*localsched.RefusedError](err)
	return ok
}

// commandsWith is a directory of Slurm's commands with another scontrol.
func commandsWith(t *testing.T, scontrol string) string {
	t.Helper()
	dir := newDir(t)
	for _, name := range []string{"sbatch", "squeue", "sinfo", "scancel"} {
		if err := os.Symlink("/usr/bin/"+name, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	testprogram.Write(t, filepath.Join(dir, "scontrol"), "#!/bin/sh\n"+scontrol+"\n")
	return dir
}
