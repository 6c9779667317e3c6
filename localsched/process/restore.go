package process

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// follower is a running job found in the spool, with a hold of its shim.
type follower struct {
	job    *job
	handle *handle
}

// restore finds the jobs in the spool and plans for them.
func (s *Scheduler) restore() (running []follower, err error) {
	holds, err := s.spool.Holds()
	if err != nil {
		return nil, err
	}
	running, err = s.scan()
	if err != nil {
		return nil, errors.Join(err, release(running))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, j := range s.started() {
		s.changes.Report(&j.reported, j.change(protocol.Running, ""))
	}
	for _, one := range holds {
		h := &held{Hold: one, made: make(chan struct{})}
		close(h.made)
		s.holds[one.Tag] = h
	}
	s.plan(now, s.readPromised())
	return running, nil
}

// plan makes the engine for what there is: what runs, since the engine has started it, what is
// held, then the queue, in the order of submission, with what was promised; then it makes one
// pass. The lock is held.
func (s *Scheduler) plan(now protocol.Instant, promised []engine.Promised) {
	s.engine = engine.New(s.config.Machine, s.rules.policy())
	for _, j := range s.jobs {
		j.planned = false
	}
	for _, j := range s.started() {
		// Without room for it, after the machine was made smaller, it runs beside.
		err := s.engine.Restore(j.engineJob(), s.clock.Instant(j.began))
		if j.planned = err == nil; err != nil {
			s.config.Log.Warn("running_job_not_planned", "job", j.tag.String(), "error", err,
				"advice", "it runs on; see whether cpus, nodes and machine of [localsched] are those of the machine")
		}
	}
	s.planHolds(now)
	s.requeueAll(now, promised)
	s.take(now, s.engine.Tick(now)) // for the limits of what runs, and the budget
}

// started are the jobs that the engine has started and that have not ended, in the order of the
// starts. The lock is held.
func (s *Scheduler) started() (jobs []*job) {
	for _, j := range s.jobs {
		if j.state == starting || j.state == running {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *job) int { return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.seq, b.seq)) })
	return jobs
}

func release(running []follower) (err error) {
	for _, r := range running {
		err = errors.Join(err, r.handle.Close())
	}
	return err
}

// requeueAll puts the jobs in the queue that the engine does not have, in the order of their
// submission, with what they were promised: all that wait, after a restart, or those that did
// not fit, under rules that are new. The caller attends. The lock is held.
func (s *Scheduler) requeueAll(now protocol.Instant, promised []engine.Promised) {
	known := make(map[protocol.Tag]engine.Promised, len(promised))
	for _, one := range promised {
		known[one.Tag] = one
	}
	var unplanned []*job
	for _, j := range s.jobs {
		if j.state == queued && !j.planned {
			unplanned = append(unplanned, j)
		}
	}
	slices.SortFunc(unplanned, func(a, b *job) int { return cmp.Compare(a.seq, b.seq) })
	for _, j := range unplanned {
		s.requeue(now, j, known[j.tag])
	}
	s.note(now, s.engine.Pass(now))
}

// requeue puts a job in the queue again, without a pass. One that does not fit any more waits
// for other rules, or to be withdrawn. The lock is held.
func (s *Scheduler) requeue(now protocol.Instant, j *job, promised engine.Promised) {
	if err := s.engine.Requeue(now, j.engineJob(), promised); err != nil {
		s.config.Log.Warn("queued_job_not_planned", "job", j.tag.String(), "error", err,
			"advice", "it waits until the machine of [localsched] can run it, or until it is cancelled")
		s.waits(j, err.Error())
		return
	}
	j.planned = true
	if j.reason != "" || !j.reported.Reported() {
		j.reason = ""
		s.changes.Report(&j.reported, j.change(protocol.Pending, ""))
	}
}

// scan reads the spool, and returns the jobs that run.
func (s *Scheduler) scan() (running []follower, err error) {
	tags, err := s.spool.Tags()
	if err != nil {
		return nil, err
	}
	for _, tag := range tags {
		j, found, err := s.load(tag)
		if err != nil {
			return running, err
		}
		close(j.made)
		s.jobs[tag] = j
		s.seq = max(s.seq, j.seq)
		if found != nil {
			running = append(running, follower{j, found})
		}
	}
	return running, nil
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
		j.state = withdrawn
		close(j.over)
		return
	}
	s.config.Log.Error("job_damaged", "job", j.tag.String(), "error", err, "advice", "check the disk of the spool; the job has ended")
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
	s.changes.Report(&j.reported, end.Change(j.tag, j.submitted))
}
