package powergate

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watchTry is how long one Watch may take before the batch system is asked again, in case
// it has lost the request.
const watchTry = 5 * time.Minute

// reported is what is reported of a job, which need not be one of the gate's. The lock is held.
func (g *Gate) reported(tag protocol.Tag) *changefeed.Job {
	if j := g.jobs[tag]; j != nil {
		return &j.Reported
	}
	if g.unmanaged[tag] == nil {
		g.unmanaged[tag] = &changefeed.Job{}
	}
	return g.unmanaged[tag]
}

// follow hears all that the batch system tells, from its beginning, until the context
// ends. That this fails is logged once, and once that it works again.
func (g *Gate) follow(ctx context.Context) {
	var cursor localsched.Cursor
	failures := 0
	for pause := firstPause; ; {
		watched, err := g.watchBehind(ctx, cursor)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if failures++; failures == 1 {
				g.config.Log.Error("scheduler_watch_failed", "error", err, "advice", "the peer retries until it succeeds")
			}
			sleep(ctx, pause)
			pause = min(2*pause, lastPause)
			continue
		}
		if failures > 0 {
			g.config.Log.Info("scheduler_watch_resumed", "failures", failures)
		}
		failures, pause, cursor = 0, firstPause, watched.Cursor
		for _, change := range watched.Changes {
			g.applyChange(change)
		}
		g.mu.Lock()
		g.lastLoadBehind = watched.Load
		if len(watched.Changes) == 0 {
			g.changes.Pulse()
		}
		g.mu.Unlock()
	}
}

func (g *Gate) watchBehind(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	for {
		try, stop := context.WithTimeout(ctx, watchTry)
		watched, err := g.Scheduler.Watch(try, after)
		again := err != nil && try.Err() != nil && ctx.Err() == nil
		stop()
		if !again {
			return watched, err
		}
	}
}

// applyChange takes note of what the batch system tells of a job. That it has ended is durable
// before anything follows from it: else it would count again after a restart, beside those
// that took its place.
func (g *Gate) applyChange(c localsched.Change) {
	g.mu.Lock()
	j := g.jobs[c.Tag]
	ends := j != nil && c.State.Terminal() && (j.state == stateReleasing || j.state == stateSubmitted)
	g.mu.Unlock()
	if ends {
		if err := g.records.save(j.record(statusEnded)); err != nil {
			g.config.Log.Error("job_end_save_failed", "job", j.Tag.String(), "error", err, "advice", "free space in the gate's directory")
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if j == nil {
		g.changes.Report(g.reported(c.Tag), c)
		return
	}
	switch j.state {
	case stateHeld, stateWithdrawn:
		return
	case stateReleasing, stateSubmitted:
		j.state = stateSubmitted
		j.running = j.running || c.State == protocol.Running
		if ends {
			g.leave(j)
			j.state = stateEnded
		}
	case stateNew, stateEnded, stateDiscarding:
	}
	if c.State.Terminal() && c.Started > 0 && j.since > 0 {
		c.Outcome.Waited = max(0, c.Started.Sub(j.since)) // here too
	}
	g.changes.Report(&j.Reported, c)
}

// Watch implements [localsched.Runner]. A withdrawn job is not reported: the answer to its
// withdrawal was the report. After Open the state of each job is reported again, whatever
// the cursor. It returns without a change when the load has become another without one.
func (g *Gate) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	return g.changes.Watch(ctx, &g.mu, g.gone, after, func() (protocol.Load, error) { return g.lastLoad(ctx), nil })
}
