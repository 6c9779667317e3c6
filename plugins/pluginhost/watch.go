package pluginhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// Watch implements [localsched.Runner]: it asks again until something has happened.
func (r remoteScheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	// A plugin that does not wait is not asked in a tight loop.
	const hasty, pause = 100 * time.Millisecond, 250 * time.Millisecond
	for {
		began := time.Now()
		watched, err := r.poll(ctx, after)
		if err != nil || len(watched.Changes) > 0 {
			return watched, err
		}
		after = cmp.Or(watched.Cursor, after)
		if time.Since(began) > hasty {
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// poll waits for at most Timing.Poll.
func (r remoteScheduler) poll(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	request := &localschedv1.WatchRequest{After: string(after), WaitMs: r.spec.Timing.Poll.Milliseconds()}
	read := func(reply *localschedv1.WatchResponse) (localsched.Watched, error) {
		watched, err := localschedv1.DecodeWatched(reply)
		if err == nil {
			err = checkWatched(after, &watched)
		}
		return watched, err
	}
	return ask(ctx, r.polls, "Watch", client.Watch, request, read)
}

// checkWatched says what is wrong with an answer beyond each part of it: a cursor that
// does not move would bring them again for ever, and a job that has ended does not
// change.
func checkWatched(after localsched.Cursor, w *localsched.Watched) error {
	if len(w.Changes) > 0 && (w.Cursor == "" || w.Cursor == after) {
		return errors.New("there are changes, but the cursor does not move")
	}
	if err := checkLoad(w.Load); err != nil {
		return err
	}
	ended := map[protocol.Tag]bool{}
	for _, change := range w.Changes {
		if ended[change.Tag] {
			return fmt.Errorf("job %v changes to %v after its end", change.Tag, change.State)
		}
		ended[change.Tag] = change.State.Terminal()
	}
	return nil
}
