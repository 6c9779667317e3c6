package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// bench is where the cases of one suite are run. It numbers the jobs, so that no
// tag comes twice, also not in the next run on the same state.
type bench struct {
	target Target
	next   uint64 // at first the time in ms: no suite submits a job each millisecond
}

// session is an open scheduler in a case, and the jobs of the case.
type session struct {
	localsched.Scheduler
	bench    *bench
	capacity protocol.Capacity
	jobs     []protocol.Tag
	last     atomic.Uint64 // the number of the latest job

	cursor  localsched.Cursor
	seen    map[protocol.Tag][]localsched.Change // since it was opened
	earlier map[protocol.Tag][]localsched.Change // before that, in the same case
}

// run runs a case on a scheduler opened for it.
func (b *bench) run(ctx context.Context, holds func(context.Context, *session) error) error {
	s := &session{bench: b, earlier: map[protocol.Tag][]localsched.Change{}}
	s.last.Store(b.next)
	if err := s.open(ctx); err != nil {
		return err
	}
	err := holds(ctx, s)
	cleared := s.clear(context.WithoutCancel(ctx))
	if err == nil {
		err = cleared
	}
	b.next = s.last.Load()
	return errors.Join(err, s.close())
}

func (s *session) open(ctx context.Context) (err error) {
	s.seen = map[protocol.Tag][]localsched.Change{}
	if s.Scheduler, err = s.bench.target.Open(ctx); err != nil {
		return fmt.Errorf("open the scheduler: %w", err)
	}
	described, err := s.Describe(ctx)
	if err != nil {
		return errors.Join(fmt.Errorf("describe: %w", err), s.close())
	}
	s.capacity = described.Capacity
	return nil
}

func (s *session) close() error {
	closer, ok := s.Scheduler.(io.Closer)
	if !ok {
		return nil
	}
	if err := closer.Close(); err != nil {
		return fmt.Errorf("close the scheduler: %w", err)
	}
	return nil
}

// restart closes the scheduler and opens it again, after what happens meanwhile. The
// cursor stays: changes reported before it may be reported again.
func (s *session) restart(ctx context.Context, meanwhile func() error) error {
	if !s.bench.target.Restart {
		return conformance.Skip("the target does not keep jobs while it is closed")
	}
	if err := s.close(); err != nil {
		return err
	}
	for tag, changes := range s.seen {
		s.earlier[tag] = append(s.earlier[tag], changes...)
	}
	if err := meanwhile(); err != nil {
		return err
	}
	return s.open(ctx)
}

// clear ends, forgets and removes what the case has left.
func (s *session) clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.bench.target.Timeout)
	defer cancel()
	var all error
	for _, tag := range s.jobs {
		all = errors.Join(all, s.release(tag))
	}
	for _, tag := range s.jobs {
		if err := s.clearJob(ctx, tag); err != nil {
			all = errors.Join(all, fmt.Errorf("clear job %v away: %w", tag, err))
		}
	}
	for _, tag := range s.jobs {
		all = errors.Join(all, s.removeFiles(tag))
	}
	return all
}

func (s *session) clearJob(ctx context.Context, tag protocol.Tag) error {
	presence, _, err := s.FindByTag(ctx, tag)
	if err == nil && presence != localsched.Absent {
		err = s.takeOut(ctx, tag)
	}
	if holds, ok := s.Scheduler.(localsched.Reserver); ok && err == nil {
		err = holds.CancelReservation(ctx, tag)
	}
	if err != nil {
		return err
	}
	return s.Forget(ctx, tag)
}

// takeOut withdraws a job, or waits for its end.
func (s *session) takeOut(ctx context.Context, tag protocol.Tag) error {
	withdrawal, err := s.Withdraw(ctx, tag)
	if err == nil && withdrawal == localsched.Started {
		_, err = s.ended(ctx, tag)
	}
	return err
}

// path is a file in the target's directory that belongs to a job.
func (s *session) path(tag protocol.Tag, what string) string {
	return filepath.Join(s.bench.target.Dir, fmt.Sprintf("%v-%d-%s", tag.Job, tag.Epoch, what))
}

// release lets a job go on that [session.gated] holds.
func (s *session) release(tag protocol.Tag) error {
	return os.WriteFile(s.path(tag, "go"), nil, 0o600)
}

func (s *session) removeFiles(tag protocol.Tag) error {
	files, err := filepath.Glob(s.path(tag, "*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// wrote is what a job has written to a file of its own, "" when there is none.
func (s *session) wrote(tag protocol.Tag, what string) (string, error) {
	data, err := os.ReadFile(s.path(tag, what))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}
