package process

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// follower is a running job found in the spool, with a hold of its shim.
type follower struct {
	job    *job
	handle *handle // nil: the shim is gone, and the job's files are to be packed
}

// restore finds the jobs in the spool and plans for them.
func (s *Scheduler) restore() (found []follower, err error) {
	holds, err := s.spool.Reservations()
	if err != nil {
		return nil, err
	}
	found, err = s.scan()
	if err != nil {
		return nil, errors.Join(err, release(found))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.driver.Now()
	s.driver.Begin(s.config.Machine, driver.Rules{Policy: s.config.Policy, Budget: s.config.Budget}, s.changes)
	for _, j := range s.jobs {
		switch j.state {
		case running:
			j.Began = s.driver.Instant(j.began)
			s.driver.Add(&j.Job, true)
			s.changes.Report(&j.Reported, j.change(protocol.Running, ""))
		case queued:
			s.driver.Add(&j.Job, false)
		case making, starting, ended, withdrawn:
		}
	}
	for _, one := range holds {
		if j := s.jobs[one.Tag]; j != nil && (j.state == ended || j.state == withdrawn) {
			s.endedReservations = append(s.endedReservations, one.Tag)
			continue
		}
		h := &reservation{Reservation: one, made: make(chan struct{})}
		close(h.made)
		s.reservations[one.Tag] = h
		s.driver.AddReservation(one.Reserved())
	}
	s.driver.Rebuilt(s.driver.Rebuild(now, s.readReservedStarts()))
	return found, nil
}

func release(running []follower) (err error) {
	for _, r := range running {
		if r.handle != nil {
			err = errors.Join(err, r.handle.Close())
		}
	}
	return err
}

// scan reads the spool, and returns the jobs that run.
func (s *Scheduler) scan() (found []follower, err error) {
	tags, err := s.spool.Tags()
	if err != nil {
		return nil, err
	}
	for _, tag := range tags {
		j, shim, err := s.load(tag)
		if err != nil {
			return found, err
		}
		close(j.made)
		s.jobs[tag] = j
		s.seq = max(s.seq, j.Seq)
		if j.state == running {
			found = append(found, follower{j, shim})
		}
	}
	return found, nil
}

// load reads a job's directory. The handle is of the shim of a job that runs.
func (s *Scheduler) load(tag protocol.Tag) (*job, *handle, error) {
	j := newJob(tag, s.spool.JobDir(tag))
	record, err := spool.ReadJob[jobRecord](j.dir, tag)
	if err != nil {
		s.loadDamaged(j, err)
		return j, nil, nil
	}
	j.describe(record)
	if exit, unread := readExit(j.dir); unread == nil {
		s.setEnded(j, exit.End)
		return j, nil, nil
	}
	shim, err := s.adopt(j)
	if errors.Is(err, fs.ErrNotExist) {
		if err = withdrawClaim(j.dir); err != nil {
			return nil, nil, fmt.Errorf("job %v: %w", tag, err)
		}
		shim, err = s.adopt(j) // its shim may just have claimed it
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		j.state = queued
	case err == nil && shim == nil:
		j.state = withdrawn
		close(j.over)
	case err == nil:
		j.state = running
		return j, shim, nil
	case isGone(err) && s.settled(j): // its files are to be packed
		j.state = running
	case isGone(err): // since when? it may have had its last word meanwhile
		s.setEnded(j, s.lost(j).End)
	case j.shim.PID == 0: // started is damaged
		s.setEnded(j, spool.End{State: protocol.NodeFail, Reason: err.Error()})
	default:
		return nil, nil, fmt.Errorf("job %v: %w", tag, err)
	}
	return j, nil, nil
}

// loadDamaged is load for a directory without a readable job.json: a tombstone, or a
// job that can no longer be run.
func (s *Scheduler) loadDamaged(j *job, err error) {
	record, started := spool.ReadRecord[startedRecord](j.dir, startedFile)
	if errors.Is(err, fs.ErrNotExist) && started == nil && record.Withdrawn {
		j.state = withdrawn
		close(j.over)
		return
	}
	s.config.Log.Error("job_damaged", "job", j.Tag.String(), "error", err, "advice", "check the disk of the spool; the job has ended")
	exit, unread := readExit(j.dir)
	if unread != nil {
		exit.End = spool.End{State: protocol.NodeFail, Reason: err.Error()}
	}
	s.setEnded(j, exit.End)
}

// setEnded enters a job found ended.
func (s *Scheduler) setEnded(j *job, end spool.End) {
	j.state, j.started = ended, end.Started
	close(j.over)
	s.freeDevices(j)
	s.changes.Report(&j.Reported, end.Change(j.Tag, j.Since))
}
