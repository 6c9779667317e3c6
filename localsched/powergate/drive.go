package powergate

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/live"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// start is a job that is to be given to the batch system, after a pause.
type start struct {
	job   *job
	pause time.Duration
}

// carryOut stores the jobs that the engine has started for the loop. The batch system enforces
// time limits, so the engine's kills are ignored. The lock is held.
func (g *Gate) carryOut(work driver.Work) {
	for _, tag := range work.Starts {
		j := g.jobs[tag]
		g.release(j)
		g.starts = append(g.starts, start{j, j.pause})
	}
}

// misfitAdvice is for jobs that do not fit the machine that the batch system describes.
func misfitAdvice() live.Advice {
	return live.Advice{
		Running: "the batch system has the job; check whether the machine that it describes is right",
		Pending: "the job stays pending until the machine can run it, or until it is cancelled",
	}
}

// release enters that the engine has started a job. The lock is held.
func (g *Gate) release(j *job) {
	j.state, j.running = stateReleasing, false
	_, j.until = g.budget().Signal.At(j.Began)
}

// drive carries out the work of the engine until the context ends.
func (g *Gate) drive(ctx context.Context) {
	g.driver.Run(ctx, func() time.Duration {
		starts, back, next := g.due()
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
		return next
	})
}

// due returns the jobs to submit to the batch system, whether to begin to withdraw jobs from it,
// and the time until the engine needs its next step.
func (g *Gate) due() (starts []start, back bool, next time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	next = g.driver.Step()
	starts, g.starts = g.starts, nil
	back = !g.withdrawing && len(g.excess(g.driver.Now())) > 0
	g.withdrawing = g.withdrawing || back
	return starts, back, next
}

// time is the present instant, for callers that do not hold the lock.
func (g *Gate) time() protocol.Instant {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.driver.Now()
}
