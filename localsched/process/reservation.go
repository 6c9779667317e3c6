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

// reservation is an advance reservation of a job.
type reservation struct {
	spool.Reservation

	made   chan struct{} // closed when it is saved, or saving has failed
	failed error
}

// Reserve implements [localsched.Reserver]. The reservation is in the spool before it returns. It ends
// with its job, by CancelReservation, or when it expires without a job.
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

// wait returns the result of the call that made the reservation.
func (h *reservation) wait(ctx context.Context) (protocol.Instant, error) {
	select {
	case <-h.made:
		return h.Start, h.failed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// reserve makes a reservation in the engine, unless there is one of this tag.
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

// dropReservation removes a reservation whose job has not come from the engine.
func (s *Scheduler) dropReservation(tag protocol.Tag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.driver.Now()
	delete(s.reservations, tag)
	s.driver.Done(s.driver.CancelReservation(now, tag))
}

// CancelReservation implements [localsched.Reserver]. Withdraw cancels the reservation of a job that has
// come.
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

// removeReservationRecords removes the records of ended reservations.
func (s *Scheduler) removeReservationRecords(tags []protocol.Tag) {
	for _, tag := range tags {
		if err := s.spool.RemoveReservation(tag); err != nil {
			s.config.Log.Warn("reservation_remove_failed", "error", err, "advice", "none: the reservation has ended; the peer removes the file at its next start")
		}
	}
}

// capabilities are those under the current rules.
func (s *Scheduler) capabilities() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	able := []string{localsched.Associations, localsched.Delays}
	if s.driver.CanReserve() {
		able = append(able, localsched.Reserve)
	}
	return able
}
