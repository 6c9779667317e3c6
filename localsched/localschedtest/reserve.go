package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ahead is how long before its start room is held in the suite: time for a job that must not
// come in between to do so.
const ahead = 2 * time.Second

// reserver is the scheduler as one that holds room. One that does not say that it does is not
// asked to.
func (s *session) reserver(ctx context.Context) (localsched.Reserver, error) {
	described, err := s.Describe(ctx)
	if err != nil {
		return nil, fmt.Errorf("describe: %w", err)
	}
	if !slices.Contains(described.Capabilities, localsched.Reserve) {
		return nil, conformance.Skip("the scheduler holds no room")
	}
	holds, ok := s.Scheduler.(localsched.Reserver)
	if !ok {
		return nil, errors.New("the scheduler says that it holds room, and has no calls for it")
	}
	return holds, nil
}

// reservation is a hold for a job from a time on.
func reservation(job localsched.Submission, from time.Time) localsched.Reservation {
	return localsched.Reservation{Tag: job.Tag, Request: job.Spec.Request, Start: protocol.InstantOf(from), Account: job.Account}
}

// reserve holds room, twice, as a peer does that has not heard the first answer.
func (s *session) reserve(ctx context.Context, asked localsched.Reservation) (at protocol.Instant, err error) {
	holds, err := s.reserver(ctx)
	if err != nil {
		return 0, err
	}
	s.jobs = append(s.jobs, asked.Tag)
	if at, err = holds.Reserve(ctx, asked); err != nil {
		return 0, fmt.Errorf("hold room for job %v: %w", asked.Tag, err)
	}
	again, err := holds.Reserve(ctx, asked)
	switch {
	case err != nil:
		return 0, fmt.Errorf("hold room for job %v again: %w", asked.Tag, err)
	case again != at:
		return 0, fmt.Errorf("room for job %v is held from %d on, and when asked again from %d on", asked.Tag, at, again)
	case at < asked.Start:
		return 0, fmt.Errorf("room for job %v is held from %d on, which is before %d", asked.Tag, at, asked.Start)
	}
	return at, nil
}

// reservationIsKept holds the whole machine. A small job that would run into the hold must not
// come before the one that has it.
func reservationIsKept(ctx context.Context, s *session) error {
	job := s.logging(s.all())
	at, err := s.reserve(ctx, reservation(job, time.Now().Add(ahead)))
	if err != nil {
		return err
	}
	return s.startsReserved(ctx, job, at)
}

// reservationSurvives does so over a restart.
func reservationSurvives(ctx context.Context, s *session) error {
	job := s.logging(s.all())
	asked := reservation(job, time.Now().Add(ahead))
	at, err := s.reserve(ctx, asked)
	if err != nil {
		return err
	}
	if err = s.restart(ctx, func() error { return nil }); err != nil {
		return err
	}
	again, err := s.reserve(ctx, asked)
	if err != nil {
		return err
	}
	if again != at {
		return fmt.Errorf("room for job %v is held from %d on, and after a restart from %d on", job.Tag, at, again)
	}
	return s.startsReserved(ctx, job, at)
}

// startsReserved submits a job for which the whole machine is held, after another one.
func (s *session) startsReserved(ctx context.Context, job localsched.Submission, at protocol.Instant) error {
	other := s.logging(s.one())
	for _, one := range []localsched.Submission{other, job} {
		if _, err := s.submit(ctx, one); err != nil {
			return err
		}
	}
	started, err := s.completed(ctx, job.Tag)
	if err != nil {
		return err
	}
	after, err := s.completed(ctx, other.Tag)
	if err != nil {
		return err
	}
	switch {
	case started.Started < at:
		return fmt.Errorf("job %v started at %d, room is held for it from %d on", job.Tag, started.Started, at)
	case after.Started < started.Started:
		return fmt.Errorf("job %v started at %d, though room for job %v is held from %d on", other.Tag, after.Started, job.Tag, at)
	}
	return errors.Join(s.ranOnce(job.Tag), s.ranOnce(other.Tag))
}

// reservationIsCancelled gives the whole machine up, before its job has come and after.
func reservationIsCancelled(ctx context.Context, s *session) error {
	holds, err := s.reserver(ctx)
	if err != nil {
		return err
	}
	released, withdrawn := s.logging(s.all()), s.logging(s.all())
	for _, job := range []localsched.Submission{released, withdrawn} {
		if _, err = s.reserve(ctx, reservation(job, time.Now().Add(ahead))); err != nil {
			return err
		}
	}
	if _, err = s.submit(ctx, withdrawn); err != nil {
		return err
	}
	if err = s.withdrawn(ctx, withdrawn.Tag); err != nil {
		return err
	}
	for range 2 {
		if err = holds.CancelReservation(ctx, released.Tag); err != nil {
			return fmt.Errorf("release what is held for job %v: %w", released.Tag, err)
		}
	}
	if err = s.after(ctx); err != nil {
		return fmt.Errorf("what was held is given up, and its room is not free: %w", err)
	}
	return errors.Join(s.neverRan(released.Tag), s.neverRan(withdrawn.Tag))
}

// oversizedReservationIsRefused asks for more than the machine has.
func oversizedReservationIsRefused(ctx context.Context, s *session) error {
	holds, err := s.reserver(ctx)
	if err != nil {
		return err
	}
	job := s.local(s.tooLarge(), "true")
	at, err := holds.Reserve(ctx, reservation(job, time.Now()))
	if _, refused := errors.AsType[*localsched.RefusedError](err); !refused {
		return fmt.Errorf("room for more than the machine: got %d and the error %w, want a *localsched.RefusedError", at, errOf(err))
	}
	return nil
}
