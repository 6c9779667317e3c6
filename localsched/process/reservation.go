package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var _ localsched.Reserver = (*Scheduler)(nil)

// reservation is room that the engine holds for a job.
type reservation struct {
	spool.Reservation

	made   chan struct{} // closed when it is written down, or could not be
	failed error
}

// Reserve implements [localsched.Reserver]. The hold is in the spool before it answers, and
// ends with its job, with Release, or when its time is over and no job has come.
func (s *Scheduler) Reserve(ctx context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	if _, err := s.accounts.Runnable(ctx, hold.Account); err != nil {
		return 0, err
	}
	h, mine, err := s.reserve(hold)
	switch {
	case err != nil:
		return 0, err
	case !mine:
		return h.wait(ctx)
	}
	err = s.spool.AddReservation(h.Reservation)
	if err != nil {
		err = errors.Join(err, s.spool.RemoveReservation(hold.Tag))
		s.dropReservation(hold.Tag)
	}
	h.failed = err
	close(h.made)
	return h.Start, err
}

// wait answers for a reservation that was asked for before.
func (h *reservation) wait(ctx context.Context) (protocol.Instant, error) {
	select {
	case <-h.made:
		return h.Start, h.failed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// reserve has the engine hold room, unless it does so already.
func (s *Scheduler) reserve(asked localsched.Reservation) (h *reservation, mine bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, localsched.ErrClosed
	}
	if h = s.reservations[asked.Tag]; h != nil {
		return h, false, nil
	}
	if s.jobs[asked.Tag] != nil {
		return nil, false, &localsched.RefusedError{Reason: fmt.Sprintf("job %v has come already, or was withdrawn", asked.Tag)}
	}
	now := s.driver.Now()
	start, err := s.driver.Reserve(now, asked)
	if err != nil {
		return nil, false, err
	}
	h = &reservation{
		Reservation: spool.Reservation{Tag: asked.Tag, Request: asked.Request, Start: start, Account: asked.Account},
		made:        make(chan struct{}),
	}
	s.reservations[asked.Tag] = h
	s.driver.Done(nil)
	return h, true, nil
}

// dropReservation has the engine give up a hold that no job has taken, and forgets it.
func (s *Scheduler) dropReservation(tag protocol.Tag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.driver.Now()
	delete(s.reservations, tag)
	s.driver.Done(s.driver.CancelReservation(now, tag))
}

// CancelReservation implements [localsched.Reserver]. The room of a job that has come is given up by
// Withdraw.
func (s *Scheduler) CancelReservation(ctx context.Context, tag protocol.Tag) error {
	s.mu.Lock()
	h, taken, closed := s.reservations[tag], s.jobs[tag] != nil, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return localsched.ErrClosed
	case h == nil || taken:
		return nil
	}
	if _, err := h.wait(ctx); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err := s.spool.RemoveReservation(tag); err != nil {
		return err
	}
	s.dropReservation(tag)
	return nil
}

// removeReservationRecords removes records of holds.
func (s *Scheduler) removeReservationRecords(tags []protocol.Tag) {
	for _, tag := range tags {
		if err := s.spool.RemoveReservation(tag); err != nil {
			s.config.Log.Warn("hold_not_removed", "error", err, "advice", "none: it is over, and is removed at the next start")
		}
	}
}

// capabilities are those of the rules that are in force.
func (s *Scheduler) capabilities() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	able := []string{localsched.Delays}
	if s.driver.CanReserve() {
		able = append(able, localsched.Reserve)
	}
	return able
}
