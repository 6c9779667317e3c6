package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// follow watches until something holds of the changes seen of a job.
func (s *session) follow(ctx context.Context, tag protocol.Tag, what string, is func(localsched.Change) bool) (localsched.Change, error) {
	patience := s.bench.target.Timeout
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		for _, change := range slices.Concat(s.earlier[tag], s.seen[tag]) {
			if is(change) {
				return change, nil
			}
		}
		if err := s.look(ctx); err != nil {
			return localsched.Change{}, fmt.Errorf("wait up to %v until job %v %s, reported so far %v: %w", patience, tag, what, statesOf(s.seen[tag]), err)
		}
	}
}

// look watches once from where the session is, and notes what it gets.
func (s *session) look(ctx context.Context) error {
	watched, err := s.Watch(ctx, s.cursor)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	if err = saneLoad(watched.Load); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	if len(watched.Changes) == 0 && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, change := range watched.Changes {
		if err = follows(s.seen[change.Tag], change); err != nil {
			return err
		}
		s.seen[change.Tag] = append(s.seen[change.Tag], change)
	}
	s.cursor = watched.Cursor
	return nil
}

// follows says what is wrong with a change after those before it, if anything.
func follows(before []localsched.Change, next localsched.Change) error {
	if err := soundChange(next); err != nil {
		return fmt.Errorf("job %v is reported to be %v: %w", next.Tag, next.State, err)
	}
	if len(before) == 0 {
		return nil
	}
	last := before[len(before)-1]
	switch {
	case last.State.Terminal():
		return fmt.Errorf("job %v is reported to be %v after it was %v", next.Tag, next.State, last.State)
	case next.State < last.State:
		return fmt.Errorf("job %v is reported to be %v after it was %v", next.Tag, next.State, last.State)
	case reflect.DeepEqual(last, next):
		return fmt.Errorf("job %v is reported twice to be %v", next.Tag, next.State)
	}
	return nil
}

// soundChange says what is wrong with a change alone, if anything.
func soundChange(c localsched.Change) error {
	switch {
	case c.State < protocol.Pending || c.State > protocol.NodeFail:
		return errors.New("there is no such state")
	case c.State == protocol.Pending && c.Started != 0:
		return fmt.Errorf("it started at %d", c.Started)
	case (c.State == protocol.Running || c.State == protocol.Completed) && c.Started <= 0:
		return errors.New("the start time is missing")
	case c.State.Terminal():
		return soundOutcome(c.State, c.Outcome)
	case !reflect.DeepEqual(c.Outcome, protocol.Outcome{}):
		return fmt.Errorf("it has the outcome %+v", c.Outcome)
	}
	return nil
}

// soundOutcome says what is wrong with the outcome of a job, if anything.
func soundOutcome(state protocol.State, o protocol.Outcome) error {
	switch {
	case o.State != state:
		return fmt.Errorf("its outcome says %v", o.State)
	case min(o.ExitCode, o.Signal) < 0 || o.ExitCode > 255 || min(o.Waited, o.Ran) < 0 || o.ExitCode != 0 && o.Signal != 0:
		return fmt.Errorf("its outcome is %+v", o)
	}
	for i, file := range o.Files {
		known := file.Stream == protocol.Stdout || file.Stream == protocol.Stderr
		if !known || file.Size < 0 || i > 0 && file.Stream <= o.Files[i-1].Stream {
			return fmt.Errorf("its files are %+v", o.Files)
		}
	}
	return nil
}

func statesOf(changes []localsched.Change) []protocol.State {
	states := make([]protocol.State, 0, len(changes))
	for _, c := range changes {
		states = append(states, c.State)
	}
	return states
}

// waiting watches until a job waits in the queue.
func (s *session) waiting(ctx context.Context, tag protocol.Tag) error {
	_, err := s.follow(ctx, tag, "waits", func(c localsched.Change) bool { return c.State == protocol.Pending })
	return err
}

// running watches until a job runs.
func (s *session) running(ctx context.Context, tag protocol.Tag) (localsched.Change, error) {
	return s.follow(ctx, tag, "runs", func(c localsched.Change) bool { return c.State == protocol.Running })
}

// ended watches until a job has ended.
func (s *session) ended(ctx context.Context, tag protocol.Tag) (localsched.Change, error) {
	return s.follow(ctx, tag, "ends", func(c localsched.Change) bool { return c.State.Terminal() })
}

// completed watches until a job has ended, well.
func (s *session) completed(ctx context.Context, tag protocol.Tag) (localsched.Change, error) {
	return s.endedAs(ctx, tag, protocol.Outcome{State: protocol.Completed})
}

// endedAs watches until a job has ended, in that state and with that exit code and
// signal.
func (s *session) endedAs(ctx context.Context, tag protocol.Tag, want protocol.Outcome) (localsched.Change, error) {
	change, err := s.ended(ctx, tag)
	if got := change.Outcome; err == nil && (got.State != want.State || got.ExitCode != want.ExitCode || got.Signal != want.Signal) {
		err = fmt.Errorf("job %v ended %v with exit code %d and signal %d (%s), want %v, %d and %d", tag,
			got.State, got.ExitCode, got.Signal, got.Reason, want.State, want.ExitCode, want.Signal)
	}
	return change, err
}
