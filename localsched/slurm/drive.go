package slurm

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// drive looks at the queue again and again.
func (s *Scheduler) drive() {
	tick := time.NewTicker(s.config.Poll)
	defer tick.Stop()
	silent := s.history == nil
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		err := s.lookNow(s.ctx)
		switch {
		case s.ctx.Err() != nil:
			return
		case err != nil && !silent:
			s.config.Log.Error("slurm_unreachable", "error", err)
		case err == nil && silent:
			s.config.Log.Info("slurm_reachable")
		}
		if silent = err != nil; silent {
			s.trouble()
		}
	}
}

// lookNow looks at the queue, and at each job in its light.
func (s *Scheduler) lookNow(ctx context.Context) error {
	if err := s.meet(ctx); err != nil {
		return err
	}
	seen, err := s.lookSince(ctx, time.Time{})
	if err != nil {
		return err
	}
	s.history.read(s.knows)
	s.noteFullDisk()
	for _, j := range s.live() {
		if !j.tryLock() {
			continue // somebody works at it
		}
		work := s.examine(seen, j)
		if work == nil {
			j.unlock()
			continue
		}
		s.driver.Go(func() {
			defer j.unlock()
			select {
			case s.workSlots <- struct{}{}:
				defer func() { <-s.workSlots }()
				work(s.ctx)
			case <-s.ctx.Done():
			}
		})
	}
	s.sweepOrphans(seen)
	if s.reservationsToSweep() {
		s.driver.Go(func() { s.sweepEndedReservations(s.ctx) })
	}
	return s.saveObserved()
}

// noteFullDisk notes which jobs run while the spool's disk is full.
func (s *Scheduler) noteFullDisk() {
	free, err := localdisk.Free(s.config.Dir)
	if err != nil || free > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		j.full = j.full || j.state == running
	}
}

// lostOutput reports whether the spool's disk was full while a job ran, as was seen from here or
// by its wrapper, whose last words had no room.
func (s *Scheduler) lostOutput(j *job) bool {
	s.mu.Lock()
	full := j.full
	s.mu.Unlock()
	_, err := os.Lstat(filepath.Join(j.dir, claimDir, fullFile))
	return full || err == nil
}

// meet asks Slurm for its configuration, once. Only the driver calls it, and Open
// before there is one.
func (s *Scheduler) meet(ctx context.Context) error {
	if s.history != nil {
		return nil
	}
	facts, err := s.commands.facts(ctx, s.config)
	if err != nil {
		return err
	}
	facts.advise(s.config.Log)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = newHistory(s.commands, facts, s.config.Log)
	s.linear = facts.config["SelectType"] == "select/linear"
	s.memory = memoryOf(facts.config)
	return nil
}

// knows reports whether a name of a job of Slurm's is one of this scheduler's.
func (s *Scheduler) knows(name string) bool {
	tag, ok := parseName(s.config.Site, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	return ok && s.jobs[tag] != nil
}

// live lists the jobs that are or may be in Slurm.
func (s *Scheduler) live() (jobs []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		switch j.state {
		case unsettled, queued, running:
			jobs = append(jobs, j)
		case making, ended, withdrawn:
		}
	}
	return jobs
}

// examine looks at a job in the light of a look at the queue. What takes longer is
// returned, to be done by somebody else.
func (s *Scheduler) examine(seen *snapshot, j *job) (work func(context.Context)) {
	s.mu.Lock()
	at, killed := j.state, j.killed
	e := seen.of(j.name, j.record.Account.UID, j.native, j.claim)
	fresh := !j.since.Before(seen.at)
	s.mu.Unlock()
	switch {
	case at == unsettled && e != nil && !e.over():
		return func(context.Context) { s.adopt(j, e.native) }
	case at == unsettled, at != queued && at != running:
		return nil
	case e == nil && fresh:
		return nil
	case e == nil:
		return s.unseen(j)
	}
	s.recognize(j, e)
	switch {
	case e.over():
		return func(ctx context.Context) { s.conclude(ctx, j, *e) }
	case killed:
		s.end(j)
	case e.waits():
		s.setPending(j, e.reason)
	case at == queued:
		s.launching(j)
	default:
		s.setSuspended(j, e.state == "SUSPENDED")
	}
	return nil
}

// setSuspended reports that Slurm has suspended a job that runs, has it go on, or has changed its time limit,
// if that is new.
func (s *Scheduler) setSuspended(j *job, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.state != running {
		return
	}
	reason := ""
	if is {
		reason = "SUSPENDED in Slurm, by an administrator or for another job; it goes on when Slurm resumes it"
	}
	j.suspended = is
	s.changes.Report(&j.reported, j.change(protocol.Running, reason))
}

// recognize notes that a job was seen.
func (s *Scheduler) recognize(j *job, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.missing, j.absent = 0, time.Time{}
	if j.native.ID == e.ID {
		j.native.Submitted = e.Submitted
	}
	if e.placed {
		j.nodes = e.nodes
	}
	if e.placed && e.limit > 0 && e.limit != protocol.Never {
		j.limit = e.limit
	}
}

func (s *Scheduler) adopt(j *job, is native) {
	if err := s.acknowledge(j, is, estimates{}); err != nil {
		s.config.Log.Error("job_adopt_failed", "job", j.tag.String(), "error", err)
	}
}

// setPending reports why a job waits, if that is new.
func (s *Scheduler) setPending(j *job, reason string) {
	if reason == "None" {
		reason = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.launched = time.Time{}
	reason = withReason(s.launchFailure(j), reason)
	if j.state == queued && j.reason != reason {
		j.reason = reason
		s.changes.Report(&j.reported, j.change(protocol.Pending, reason))
	}
}

// withReason adds why Slurm has a job wait to why it was submitted again. Both may be empty.
func withReason(failed, reason string) string {
	if failed == "" || reason == "" {
		return failed + reason
	}
	return failed + "; it waits: " + reason
}

// launching looks whether the wrapper of a job that has CPUs has claimed it. One
// that does not for long is taken back: Slurm has been seen to show a job as
// running that it never launched.
func (s *Scheduler) launching(j *job) {
	c, err := readClaim(j.dir, j.owner())
	switch {
	case err == nil && c.wrapper():
		s.nowRuns(j, c)
		return
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		s.config.Log.Error("claim_read_failed", "job", j.tag.String(), "error", err, "advice", adviceSpool)
		return
	}
	s.mu.Lock()
	if j.launched.IsZero() {
		j.launched = time.Now()
	}
	since, id := j.launched, j.native.ID
	s.mu.Unlock()
	if time.Since(since) < s.config.timeouts.launch {
		return
	}
	s.config.Log.Warn("job_launch_failed", "job", j.tag.String(), "slurm_job", id, "since", since,
		"advice", "it is cancelled in Slurm; see the log of slurmd on its nodes")
	s.end(j)
}
