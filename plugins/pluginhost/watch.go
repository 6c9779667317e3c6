package pluginhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
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
		correctEnds(reply)
		watched, err := localschedv1.DecodeWatched(reply)
		if err == nil {
			err = checkWatched(after, &watched)
		}
		return watched, err
	}
	return ask(ctx, r.polls, "Watch", client.Watch, request, read)
}

// correctEnds has jobs end as failed that a plugin reports to have ended with an exit code or a signal with which no process
// ends, and adds that to their reasons: were the report refused, the origins of the jobs would never hear of their end.
func correctEnds(reply *localschedv1.WatchResponse) {
	const kept, mostSignal = 0xff, 127 // of the exit code, as a shell keeps it
	for _, change := range reply.GetChanges() {
		o := change.GetOutcome()
		if o == nil || commonv1.CheckEnd(wire.Narrow(o.GetExitCode()), wire.Narrow(o.GetSignal())) == nil {
			continue
		}
		said := fmt.Sprintf("the plugin of the batch system reports exit code %d and signal %d, with which no process ends", o.GetExitCode(), o.GetSignal())
		if o.GetSignal() > 0 && o.GetSignal() <= mostSignal {
			o.ExitCode = 0
		} else {
			o.ExitCode, o.Signal = cmp.Or(o.GetExitCode()&kept, 1), 0
		}
		if o.GetState() == commonv1.JobState_JOB_STATE_COMPLETED && change.GetState() == o.GetState() {
			o.State, change.State = commonv1.JobState_JOB_STATE_FAILED, commonv1.JobState_JOB_STATE_FAILED
		}
		if o.GetReason() != "" {
			said = wire.Clip(o.GetReason(), localschedv1.MaxReason-len(said)-len("; ")) + "; " + said
		}
		o.Reason = said
	}
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
