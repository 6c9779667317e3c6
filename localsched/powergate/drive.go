package powergate

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// start is a job that is to be given to the batch system, after a pause.
type start struct {
	job   *job
	pause time.Duration
}

// carryOut enters what the driver wants, for the loop. Time limits are the batch system's own
// business. The lock is held.
func (g *Gate) carryOut() {
	for _, tag := range g.driver.TakeWork().Starts {
		j := g.jobs[tag]
		g.release(j)
		g.starts = append(g.starts, start{j, j.pause})
	}
	g.wakeLoop()
}

// carryOutAfter logs an error of the driver's, and carries out what that wants. The lock is held.
func (g *Gate) carryOutAfter(err error) {
	if err != nil {
		g.config.Log.Error("engine_disagrees", "error", err, "advice", "this is a mistake in the program: report it")
	}
	g.carryOut()
}

// replanned logs what has no place in a new plan, and carries out what the driver wants. The
// lock is held.
func (g *Gate) replanned(misfits []driver.Misfit) {
	for _, m := range misfits {
		if m.Running {
			g.config.Log.Warn("released_job_not_planned", "job", m.Tag.String(), "error", m.Err,
				"advice", "the batch system has it; see whether the machine that it describes is right")
			continue
		}
		g.config.Log.Warn("held_job_not_planned", "job", m.Tag.String(), "error", m.Err,
			"advice", "it waits until the machine can run it, or until it is cancelled")
	}
	g.carryOut()
}

// release enters that the engine has started a job. The lock is held.
func (g *Gate) release(j *job) {
	j.state, j.running = stateReleasing, false
	_, j.until = g.budget().Signal.At(j.Began)
}

func (g *Gate) wakeLoop() {
	select {
	case g.kick <- struct{}{}:
	default: // it is awake, or about to be
	}
}

// drive does what the engine wants until the context ends.
func (g *Gate) drive(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-g.kick:
		}
		starts, back, next := g.due()
		timer.Reset(next)
		if back {
			g.running.Go(func() { g.withdrawExcess(ctx) })
		}
		for _, one := range starts {
			g.running.Go(func() {
				if sleep(ctx, one.pause) {
					g.submit(ctx, one.job)
				}
			})
		}
	}
}

// due is what is to be given to the batch system, whether to begin to take jobs back, and how long
// the engine can then be left alone.
func (g *Gate) due() (starts []start, back bool, next time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.now()
	if g.driver.Next() <= at {
		g.carryOutAfter(g.driver.Tick(at))
	}
	starts, g.starts = g.starts, nil
	back = !g.withdrawing && len(g.excess(at)) > 0
	g.withdrawing = g.withdrawing || back
	next = lookAtClock
	if wake := g.driver.Next(); wake < at.Add(protocol.DurationOf(next)) {
		next = wake.Sub(at).Std()
	}
	return starts, back, next
}
