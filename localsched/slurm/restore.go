package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// restore finds the jobs in the spool. What Slurm has to say about them comes with
// the first look at the queue.
func (s *Scheduler) restore() error {
	tags, err := s.spool.Tags()
	if err != nil {
		return err
	}
	var found []*job
	for _, tag := range tags {
		j := newJob(tag, nameOf(s.config.Site, tag), s.spool.JobDir(tag))
		if err = s.loadJob(j); err != nil {
			return fmt.Errorf("job %v: %w", tag, err)
		}
		s.jobs[tag] = j
		found = append(found, j)
	}
	slices.SortFunc(found, func(a, b *job) int { return cmp.Compare(a.submitted, b.submitted) })
	for _, j := range found {
		switch j.state {
		case queued:
			s.changes.Report(&j.reported, j.change(protocol.Pending, ""))
		case running:
			s.changes.Report(&j.reported, j.change(protocol.Running, ""))
		case making, unsettled, ended, withdrawn:
		}
	}
	return nil
}

// loadJob reads a job's directory.
func (s *Scheduler) loadJob(j *job) error {
	record, err := spool.ReadJob[spool.Job](j.dir, j.tag)
	if err != nil {
		return s.loadDamaged(j, err)
	}
	j.describe(record)
	if end, unread := readEnd(j.dir); unread == nil {
		s.loadEnd(j, end)
		return nil
	}
	j.native, err = spool.ReadRecord[nativeRecord](j.dir, nativeFile)
	j.state = queued
	if errors.Is(err, fs.ErrNotExist) {
		j.state, err = unsettled, nil
	}
	if err != nil {
		return err
	}
	j.since = time.Unix(0, 0)
	c, err := readClaim(j.dir, j.owner())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case c.by == withdrawnBy:
		j.state = withdrawn
		s.watchOrphan(j) // the withdrawal may not have reached Slurm
	case c.wrapper():
		// Slurm had it, whatever was noted.
		j.claim, j.state = c, running
	}
	return nil
}

// loadEnd enters a job found ended where it was reported before.
func (s *Scheduler) loadEnd(j *job, end endRecord) {
	j.state, j.claim.started = ended, end.Started
	if end.Place == (changefeed.Place{}) {
		s.changes.Report(&j.reported, end.Change(j.tag, j.submitted))
		return
	}
	s.changes.Restore(&j.reported, end.Place, end.Change(j.tag, j.submitted))
}

// loadDamaged is loadJob for a directory without a readable job.json: a tombstone, or a
// job of which nothing more is known.
func (s *Scheduler) loadDamaged(j *job, err error) error {
	c, unread := readClaim(j.dir, spool.Account{})
	if errors.Is(err, fs.ErrNotExist) && unread == nil && c.by == withdrawnBy {
		j.tomb, j.state = true, withdrawn
		return nil
	}
	s.config.Log.Error("job_damaged", "job", j.tag.String(), "error", err, "advice", "check the disk of the spool; the job ends as NODE_FAIL")
	s.loadEnd(j, endRecord{End: spool.End{State: protocol.NodeFail, Reason: err.Error()}})
	return nil
}
