package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Withdraw implements [localsched.Runner]. A tag that never came is withdrawn
// too, durably: should it come later, it is refused.
func (s *Scheduler) Withdraw(ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	j, mine, err := s.claimTag(tag)
	if err != nil {
		return 0, err
	}
	if mine {
		return s.withdrawUnknown(j)
	}
	if err = j.wait(ctx); err != nil {
		return 0, err
	}
	if j.failed != nil { // the submission that was under way came to nothing
		return s.Withdraw(ctx, tag)
	}
	s.mu.Lock()
	at := j.state
	s.mu.Unlock()
	switch at {
	case withdrawn:
		return localsched.Withdrawn, nil
	case running, ended:
		return localsched.Started, nil
	case making, queued, starting:
	}
	return s.withdraw(j)
}

// withdrawUnknown withdraws a job that never came.
func (s *Scheduler) withdrawUnknown(j *job) (localsched.Withdrawal, error) {
	if err := s.addTombstone(j.Tag); err != nil {
		err = fmt.Errorf("withdraw job %v: %w", j.Tag, err)
		s.failSubmission(j, err)
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.driver.Now()
	j.state = withdrawn
	close(j.over)
	close(j.made)
	delete(s.reservations, j.Tag)
	s.endedReservations = append(s.endedReservations, j.Tag)
	s.driver.Done(s.driver.CancelReservation(now, j.Tag))
	return localsched.Withdrawn, nil
}

// withdraw races with the job's shim, if there is one yet.
func (s *Scheduler) withdraw(j *job) (localsched.Withdrawal, error) {
	won, err := createStarted(j.dir, startedRecord{Withdrawn: true})
	if err == nil && !won {
		var first startedRecord
		first, err = spool.ReadRecord[startedRecord](j.dir, startedFile)
		won = first.Withdrawn
	}
	if err != nil {
		return 0, fmt.Errorf("withdraw job %v: %w", j.Tag, spool.ExplainFull(err))
	}
	if !won {
		return localsched.Started, nil
	}
	s.nowWithdrawn(j)
	return localsched.Withdrawn, nil
}

// nowWithdrawn enters that the job never starts.
func (s *Scheduler) nowWithdrawn(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.state != withdrawn {
		s.leave(j, withdrawn)
		s.changes.Forget(&j.Reported)
	}
}

// Kill implements [localsched.Runner]. The error wraps [localsched.ErrNotStarted] for a job
// that waits, and [localsched.ErrUnknownJob].
func (s *Scheduler) Kill(ctx context.Context, tag protocol.Tag) error {
	j, err := s.find(ctx, tag)
	if err != nil {
		return err
	}
	if j == nil {
		return localsched.UnknownJob(tag)
	}
	s.mu.Lock()
	at, stopPacking := j.state, j.stopPacking
	s.mu.Unlock()
	if at == ended || at == withdrawn {
		return nil
	}
	if stopPacking != nil {
		stopPacking()
	}
	record, err := spool.ReadRecord[startedRecord](j.dir, startedFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = localsched.ErrNotStarted
	case err == nil && !record.Withdrawn:
		err = terminate(record.processID)
	}
	if err != nil {
		return fmt.Errorf("kill job %v: %w", tag, err)
	}
	return nil
}

// Forget implements [localsched.Runner]. Repeating it is no error; one that wraps
// [localsched.ErrNotEnded] is about a job that waits or runs.
func (s *Scheduler) Forget(ctx context.Context, tag protocol.Tag) error {
	j, err := s.find(ctx, tag)
	if err != nil || j == nil {
		return err
	}
	s.mu.Lock()
	over := j.state == ended || j.state == withdrawn
	s.mu.Unlock()
	if !over {
		return fmt.Errorf("job %v: %w", tag, localsched.ErrNotEnded)
	}
	if err = s.spool.Remove(tag); err != nil {
		return fmt.Errorf("forget job %v: %w", tag, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[tag] == j {
		delete(s.jobs, tag)
		s.changes.Forget(&j.Reported)
	}
	return nil
}
