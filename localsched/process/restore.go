package process

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// follower is a running job found in the spool, with a hold of its shim.
type follower struct {
	job    *job
	handle *handle
}

// restore finds the jobs in the spool and rebuilds the engine: what runs, in the
// order of the starts, what is held, then the queue, in the order of submission.
func (s *Scheduler) restore() (running []follower, err error) {
	holds, err := s.spool.Holds()
	if err != nil {
		return nil, err
	}
	jobs, running, err := s.scan()
	if err != nil {
		return nil, errors.Join(err, release(running))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(running, func(a, b follower) int {
		return cmp.Or(cmp.Compare(a.job.started, b.job.started), cmp.Compare(a.job.seq, b.job.seq))
	})
	for _, r := range running {
		// Without room for it, after the machine was made smaller, it runs beside.
		err := s.engine.Restore(r.job.engineJob(), r.job.started)
		r.job.planned = err == nil
		if err != nil {
			s.config.Log.Warn("running_job_not_planned", "job", r.job.tag.String(), "error", err)
		}
		s.report(r.job, r.job.change(protocol.Running, ""))
	}
	s.restoreHolds(holds)
	for _, j := range jobs {
		if j.state == queued {
			s.requeue(j)
		}
	}
	s.take(s.engine.Tick(protocol.InstantOf(time.Now()))) // for the limits of what runs, and the budget
	return running, nil
}

func release(running []follower) (err error) {
	for _, r := range running {
		err = errors.Join(err, r.handle.Close())
	}
	return err
}

// requeueAll tries the jobs that did not fit again, under rules that are new. The caller
// attends. The lock is held.
func (s *Scheduler) requeueAll() {
	var unplanned []*job
	for _, j := range s.jobs {
		if j.state == queued && !j.planned {
			unplanned = append(unplanned, j)
		}
	}
	slices.SortFunc(unplanned, bySeq)
	for _, j := range unplanned {
		s.requeue(j)
	}
}

func bySeq(a, b *job) int { return cmp.Compare(a.seq, b.seq) }

// requeue puts a job found in the spool in the queue again. One that does not fit
// any more waits for other rules, or to be withdrawn. The caller attends. The lock is held.
func (s *Scheduler) requeue(j *job) {
	actions, err := s.engine.Submit(protocol.InstantOf(time.Now()), j.engineJob())
	if err != nil {
		s.config.Log.Warn("queued_job_not_planned", "job", j.tag.String(), "error", err)
		s.waits(j, err.Error())
		return
	}
	j.planned = true
	j.reason = ""
	s.report(j, j.change(protocol.Pending, ""))
	s.note(actions)
}

// scan reads the spool: all jobs in the order of submission, and those that run.
func (s *Scheduler) scan() (jobs []*job, running []follower, err error) {
	tags, err := s.spool.Tags()
	if err != nil {
		return nil, nil, err
	}
	for _, tag := range tags {
		j, found, err := s.load(tag)
		if err != nil {
			return nil, running, err
		}
		close(j.made)
		jobs = append(jobs, j)
		s.jobs[tag] = j
		s.seq = max(s.seq, j.seq)
		if found != nil {
			running = append(running, follower{j, found})
		}
	}
	slices.SortFunc(jobs, bySeq)
	return jobs, running, nil
}

// load reads a job's folder. The handle is of the shim of a job that runs.
func (s *Scheduler) load(tag protocol.Tag) (*job, *handle, error) {
	j := newJob(tag, s.spool.Folder(tag))
	record, err := spool.ReadJob[jobRecord](j.dir, tag)
	if err != nil {
		s.loadDamaged(j, err)
		return j, nil, nil
	}
	j.describe(record)
	if exit, unread := readExit(j.dir); unread == nil {
		s.over(j, exit.End)
		return j, nil, nil
	}
	shim, err := s.adopt(j)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		j.state = queued
	case err == nil && shim == nil:
		j.state = withdrawn
		close(j.over)
	case err == nil:
		j.state = running
		return j, shim, nil
	case isGone(err): // since when? it may have had its last word meanwhile
		s.over(j, s.lastWords(j).End)
	case j.shim.PID == 0: // started is damaged
		s.over(j, spool.End{State: protocol.NodeFail, Reason: err.Error()})
	default:
		return nil, nil, fmt.Errorf("job %v: %w", tag, err)
	}
	return j, nil, nil
}

// loadDamaged is load for a folder without a readable job.json: a tombstone, or a
// job that can no longer be run.
func (s *Scheduler) loadDamaged(j *job, err error) {
	record, started := spool.ReadRecord[startedRecord](j.dir, startedFile)
	if errors.Is(err, fs.ErrNotExist) && started == nil && record.Withdrawn {
		j.tomb, j.state = true, withdrawn
		close(j.over)
		return
	}
	s.config.Log.Error("job_damaged", "job", j.tag.String(), "error", err)
	exit, unread := readExit(j.dir)
	if unread != nil {
		exit.End = spool.End{State: protocol.NodeFail, Reason: err.Error()}
	}
	s.over(j, exit.End)
}

// over enters a job found ended.
func (s *Scheduler) over(j *job, end spool.End) {
	j.state, j.started = ended, end.Started
	close(j.over)
	s.report(j, end.Change(j.tag, j.submitted))
}
