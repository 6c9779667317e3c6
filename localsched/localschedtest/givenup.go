package localschedtest

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// impatient is how many submissions are given up.
const impatient = 8

// givenUp gives submissions up, each a little later than the one before it, and immediately asks
// what became of them. A peer places a job elsewhere if the answer is that it is absent.
func givenUp(ctx context.Context, s *session) error {
	jobs := make([]localsched.Submission, impatient)
	became := make([]localsched.Presence, len(jobs))
	for i := range jobs {
		jobs[i] = s.logging(s.one())
		s.jobs = append(s.jobs, jobs[i].Tag)
		// From microseconds on each span is four times the last: some calls are quick.
		span := s.pace() / 20 >> (2 * (len(jobs) - i))
		var err error
		if became[i], err = s.giveUp(ctx, jobs[i], span); err != nil {
			return err
		}
	}
	if err := pause(ctx, s.pace()/10); err != nil {
		return err
	}
	if err := s.after(ctx); err != nil {
		return err
	}
	for i, job := range jobs {
		if err := s.staysAs(ctx, job, became[i]); err != nil {
			return fmt.Errorf("its submission was given up, and then it was %v: %w", became[i], err)
		}
	}
	return nil
}

// giveUp submits a job, waits for at most the span, and asks what became of it until
// that is clear.
func (s *session) giveUp(ctx context.Context, job localsched.Submission, span time.Duration) (became localsched.Presence, err error) {
	short, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	_, submitErr := s.Submit(short, job)
	var unclear error // why it cannot be said yet
	err = s.eventually(ctx, func() (bool, error) {
		var failed error
		if became, _, failed = s.FindByTag(ctx, job.Tag); became == localsched.PresenceUnknown {
			unclear = failed
			return false, nil
		}
		return true, failed
	}, func() string { return fmt.Sprint("it stays unclear whether it came: ", unclear) })
	if err == nil && submitErr == nil && became == localsched.Absent {
		err = fmt.Errorf("it is %v, though submit took it", became)
	}
	if err != nil {
		return became, fmt.Errorf("find job %v, whose submission was given up: %w", job.Tag, err)
	}
	return became, nil
}

// staysAs reports whether a job that was present has run once, and one that was absent is so
// still.
func (s *session) staysAs(ctx context.Context, job localsched.Submission, became localsched.Presence) error {
	if became == localsched.Present {
		if _, err := s.completed(ctx, job.Tag); err != nil {
			return err
		}
		return s.ranOnce(job.Tag)
	}
	if err := s.present(ctx, job.Tag, localsched.Absent); err != nil {
		return err
	}
	return s.neverRan(job.Tag)
}
