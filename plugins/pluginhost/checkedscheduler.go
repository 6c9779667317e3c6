package pluginhost

import (
	"cmp"
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// CheckedScheduler is a built-in local scheduler whose every answer is checked as a
// plugin's is: it must be able to travel. It is a [localsched.Reserver] if that one is.
func CheckedScheduler(s localsched.Scheduler) localsched.Scheduler {
	if reserver, ok := s.(localsched.Reserver); ok {
		return checkedReserver{checkedScheduler{s}, reserver}
	}
	return checkedScheduler{s}
}

type checkedScheduler struct{ scheduler localsched.Scheduler }

const scheduler = "local scheduler"

// travels checks an answer by converting it there and back.
func travels[T, M any](encode func(T) M, decode func(M) (T, error)) func(T) error {
	return func(answer T) error {
		_, err := decode(encode(answer))
		return err
	}
}

func anything[T any](T) error { return nil }

// Describe implements [localsched.Planner].
func (c checkedScheduler) Describe(ctx context.Context) (localsched.Description, error) {
	call := func() (localsched.Description, error) { return c.scheduler.Describe(ctx) }
	return guarded(scheduler, "Describe", call, travels(localschedv1.EncodeDescription, localschedv1.DecodeDescription))
}

// Load implements [localsched.Planner].
func (c checkedScheduler) Load(ctx context.Context) (protocol.Load, error) {
	call := func() (protocol.Load, error) { return c.scheduler.Load(ctx) }
	return guarded(scheduler, "Load", call, func(load protocol.Load) error {
		if err := travels(localschedv1.EncodeLoad, localschedv1.DecodeLoad)(load); err != nil {
			return err
		}
		return checkLoad(load)
	})
}

// Quote implements [localsched.Planner].
func (c checkedScheduler) Quote(ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
	call := func() ([]protocol.Quote, error) { return c.scheduler.Quote(ctx, query) }
	return guarded(scheduler, "Quote", call, func(quotes []protocol.Quote) error {
		_, err := localschedv1.EncodeQuotes(query.Jobs, quotes)
		return err
	})
}

// PlannedStarts implements [localsched.StartPlanner].
func (c checkedScheduler) PlannedStarts(ctx context.Context, tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	call := func() ([]localsched.PlannedStart, error) { return localsched.PlannedStarts(ctx, c.scheduler, tags) }
	return guarded(scheduler, "PlannedStarts", call, func(starts []localsched.PlannedStart) error { return checkPlannedStarts(tags, starts) })
}

// checkPlannedStarts checks that starts are of jobs that were asked about, each once.
func checkPlannedStarts(tags []protocol.Tag, starts []localsched.PlannedStart) error {
	open := make(map[protocol.Tag]bool, len(tags))
	for _, tag := range tags {
		open[tag] = true
	}
	for _, one := range starts {
		if !open[one.Tag] {
			return fmt.Errorf("job %v was not asked about, or has two planned starts", one.Tag)
		}
		if one.Start <= 0 {
			return fmt.Errorf("the planned start of job %v is %d", one.Tag, int64(one.Start))
		}
		delete(open, one.Tag)
	}
	return nil
}

// SetPriorities implements [localsched.Prioritizer].
func (c checkedScheduler) SetPriorities(ctx context.Context, priorities []localsched.Priority) error {
	call := func() (struct{}, error) { return struct{}{}, localsched.SetPriorities(ctx, c.scheduler, priorities) }
	_, err := guarded(scheduler, "SetPriorities", call, anything)
	return err
}

// Submit implements [localsched.Runner].
func (c checkedScheduler) Submit(ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
	call := func() (localsched.LocalID, error) { return c.scheduler.Submit(ctx, job) }
	return guarded(scheduler, "Submit", call, travels(localschedv1.EncodeSubmitted, localschedv1.DecodeSubmitted))
}

// FindByTag implements [localsched.Runner].
func (c checkedScheduler) FindByTag(ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	call := func() (f found, err error) {
		f.presence, f.id, err = c.scheduler.FindByTag(ctx, tag)
		return f, err
	}
	f, err := guarded(scheduler, "FindByTag", call, func(f found) error {
		if f.presence > localsched.Absent {
			return fmt.Errorf("presence %d does not exist", f.presence)
		}
		return nil
	})
	return f.presence, f.id, err
}

// Withdraw implements [localsched.Runner].
func (c checkedScheduler) Withdraw(ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	call := func() (localsched.Withdrawal, error) { return c.scheduler.Withdraw(ctx, tag) }
	return guarded(scheduler, "Withdraw", call, travels(localschedv1.EncodeWithdrawal, localschedv1.DecodeWithdrawal))
}

// Kill implements [localsched.Runner].
func (c checkedScheduler) Kill(ctx context.Context, tag protocol.Tag) error {
	call := func() (struct{}, error) { return struct{}{}, c.scheduler.Kill(ctx, tag) }
	_, err := guarded(scheduler, "Kill", call, anything)
	return err
}

// Watch implements [localsched.Runner].
func (c checkedScheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	call := func() (localsched.Watched, error) {
		watched, err := c.scheduler.Watch(ctx, after)
		watched.Cursor = cmp.Or(watched.Cursor, after)
		return watched, err
	}
	return guarded(scheduler, "Watch", call, func(w localsched.Watched) error {
		if err := travels(localschedv1.EncodeWatched, localschedv1.DecodeWatched)(w); err != nil {
			return err
		}
		return checkWatched(after, &w)
	})
}

// Forget implements [localsched.Runner].
func (c checkedScheduler) Forget(ctx context.Context, tag protocol.Tag) error {
	call := func() (struct{}, error) { return struct{}{}, c.scheduler.Forget(ctx, tag) }
	_, err := guarded(scheduler, "Forget", call, anything)
	return err
}

// Fetch implements [localsched.Scheduler].
func (c checkedScheduler) Fetch(ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	call := func() ([]byte, error) { return c.scheduler.Fetch(ctx, tag, stream, offset, size) }
	return guarded(scheduler, "Fetch", call, func(data []byte) error { return checkFetched(data, size) })
}
