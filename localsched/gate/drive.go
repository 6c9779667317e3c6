package gate

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changes"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// start is a job that is to be given to the batch system, after a pause.
type start struct {
	job   *job
	pause time.Duration
}

// take notes what the engine wants and what the budget does. The lock is held.
func (g *Gate) take(at protocol.Instant, actions localsched.Actions) {
	g.note(at, actions)
	g.attend(at)
}

// note notes what the engine wants, for the driver. Limits are the batch system's own
// business. Whoever has noted all attends, once: that takes a look at each held job. The
// lock is held.
func (g *Gate) note(at protocol.Instant, actions localsched.Actions) {
	g.wake = actions.Wake
	for _, tag := range actions.Starts {
		j := g.jobs[tag]
		g.letGo(at, j)
		g.starts = append(g.starts, start{j, j.pause})
	}
	g.wakeDriver()
}

// letGo enters that the engine has started a job. The lock is held.
func (g *Gate) letGo(at protocol.Instant, j *job) {
	j.state, j.began, j.running = leaving, g.clock.Steady(at), false
	g.given[j.tag] = j
	_, j.until = g.budget.Signal.At(at)
}

func (g *Gate) wakeDriver() {
	select {
	case g.kick <- struct{}{}:
	default: // it is awake, or about to be
	}
}

// attend notes which jobs the budget holds and which it wants back, and when it will be another. Watchers are told
// when it is another than before, though no job waits for it. The lock is held.
func (g *Gate) attend(at protocol.Instant) {
	was := g.held
	g.held = nil
	g.looks++
	for _, tag := range g.engine.Held(at) {
		j := g.jobs[tag]
		j.look = g.looks
		g.held = append(g.held, j)
		g.waits(j, changes.PowerBudget)
	}
	for _, j := range was {
		if j.look != g.looks && j.state == held {
			g.waits(j, "")
		}
	}
	_, g.turn = g.budget.Signal.At(at)
	if budget := g.engine.Load().Budget; budget != g.told {
		g.told = budget
		g.changes.Pulse()
	}
	if !g.takingBack && len(g.excess(at)) > 0 {
		g.wakeDriver()
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
			g.running.Go(func() { g.takeBack(ctx) })
		}
		for _, one := range starts {
			g.running.Go(func() {
				if sleep(ctx, one.pause) {
					g.give(ctx, one.job)
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
	if g.nextWake() <= at {
		g.take(at, g.engine.Tick(at))
	}
	starts, g.starts = g.starts, nil
	back = !g.takingBack && len(g.excess(at)) > 0
	g.takingBack = g.takingBack || back
	next = lookAtClock
	if wake := g.nextWake(); wake < at.Add(protocol.DurationOf(next)) {
		next = wake.Sub(at).Std()
	}
	return starts, back, next
}

// nextWake is when the engine must be asked again, or the budget becomes another. The lock
// is held.
func (g *Gate) nextWake() protocol.Instant {
	if g.wake == 0 {
		return g.turn
	}
	return min(g.wake, g.turn)
}
