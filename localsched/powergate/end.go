package powergate

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Withdraw implements [localsched.Runner]. The batch system does not hear of a job that
// is held here. A tag that never came is withdrawn as the batch system does it.
func (g *Gate) Withdraw(ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	j, err := g.lockOrCreateJob(ctx, tag)
	if err != nil {
		return 0, err
	}
	defer j.unlock()
	var became localsched.Withdrawal
	switch g.stateOf(j) {
	case stateWithdrawn:
		return localsched.Withdrawn, nil
	case stateEnded:
		return localsched.Started, nil
	case stateNew:
		if became, err = g.withdrawUnknown(ctx, j); err != nil || became == localsched.Started {
			g.dropUnsubmitted(j)
		}
	case stateHeld, stateDiscarding:
		became, err = localsched.Withdrawn, g.setWithdrawn(j)
	case stateReleasing, stateSubmitted:
		if became, err = localsched.Withdrawn, error(nil); j.tried {
			became, err = g.recall(ctx, j)
		}
		if err == nil && became == localsched.Withdrawn {
			err = g.setWithdrawn(j)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("withdraw job %v: %w", tag, err)
	}
	return became, nil
}

// withdrawUnknown withdraws a job that never came here.
func (g *Gate) withdrawUnknown(ctx context.Context, j *job) (localsched.Withdrawal, error) {
	became, err := g.Scheduler.Withdraw(ctx, j.Tag)
	if err != nil || became == localsched.Started {
		return became, err
	}
	return became, g.setWithdrawn(j)
}

// dropUnsubmitted drops a job that did not come to be. What is reported of its tag is the batch
// system's.
func (g *Gate) dropUnsubmitted(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if j.state == stateNew && g.jobs[j.Tag] == j {
		delete(g.jobs, j.Tag)
		if j.Reported.Reported() {
			g.unmanaged[j.Tag] = &j.Reported
		}
	}
}

// setWithdrawn enters, durably, that a job never starts.
func (g *Gate) setWithdrawn(j *job) error {
	if err := g.records.save(j.record(statusWithdrawn)); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(j)
	j.state = stateWithdrawn
	g.changes.Forget(&j.Reported)
	return nil
}

// recall takes a job back from the batch system. Before that asks, it is durable that the
// batch system must not get the job again.
func (g *Gate) recall(ctx context.Context, j *job) (localsched.Withdrawal, error) {
	g.mu.Lock()
	known := j.recalled
	g.mu.Unlock()
	if !known {
		if err := g.records.save(j.record(statusRecalled)); err != nil {
			return 0, err
		}
	}
	g.mu.Lock()
	if j.recalled = true; j.state == stateReleasing {
		j.state = stateSubmitted
	}
	g.mu.Unlock()
	return g.withdrawBehind(ctx, j.Tag)
}

// Kill implements [localsched.Runner]. The error wraps [localsched.ErrNotStarted] for a job that
// waits here.
func (g *Gate) Kill(ctx context.Context, tag protocol.Tag) error {
	j, err := g.lockJob(ctx, tag)
	if err != nil {
		return err
	}
	if j == nil {
		return g.Scheduler.Kill(ctx, tag)
	}
	defer j.unlock()
	g.mu.Lock()
	at, refused := j.state, j.refused
	g.mu.Unlock()
	switch {
	case at == stateWithdrawn || refused:
		return nil
	case at == stateHeld || at == stateReleasing && !j.tried:
		return fmt.Errorf("kill job %v: %w", tag, localsched.ErrNotStarted)
	}
	return g.Scheduler.Kill(ctx, tag)
}

// Forget implements [localsched.Runner]. Repeating it is no error; one that wraps
// [localsched.ErrNotEnded] is about a job that waits or runs. The gate forgets first: of what the
// batch system still knows it tells again after a crash, and so the peer has it forgotten.
func (g *Gate) Forget(ctx context.Context, tag protocol.Tag) error {
	j, err := g.lockJob(ctx, tag)
	if err != nil {
		return err
	}
	if j != nil {
		defer j.unlock()
		if at := g.stateOf(j); at != stateEnded && at != stateWithdrawn {
			return fmt.Errorf("job %v: %w", tag, localsched.ErrNotEnded)
		}
		if err = g.records.remove(tag); err != nil {
			return fmt.Errorf("forget job %v: %w", tag, err)
		}
		g.drop(j)
	}
	if err = g.Scheduler.Forget(ctx, tag); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changes.Forget(g.reported(tag))
	delete(g.unmanaged, tag)
	return nil
}
