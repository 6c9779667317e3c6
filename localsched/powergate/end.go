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
	j, err := g.grabOrMake(ctx, tag)
	if err != nil {
		return 0, err
	}
	defer j.release()
	var became localsched.Withdrawal
	switch g.stateOf(j) {
	case withdrawn:
		return localsched.Withdrawn, nil
	case ended:
		return localsched.Started, nil
	case making:
		if became, err = g.forestall(ctx, j); err != nil || became == localsched.Started {
			g.dropUnsubmitted(j)
		}
	case held, unwanted:
		became, err = localsched.Withdrawn, g.takenBack(j)
	case leaving, out:
		if became, err = localsched.Withdrawn, error(nil); j.tried {
			became, err = g.recall(ctx, j)
		}
		if err == nil && became == localsched.Withdrawn {
			err = g.takenBack(j)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("withdraw job %v: %w", tag, err)
	}
	return became, nil
}

// forestall withdraws a job that never came here.
func (g *Gate) forestall(ctx context.Context, j *job) (localsched.Withdrawal, error) {
	became, err := g.Scheduler.Withdraw(ctx, j.Tag)
	if err != nil || became == localsched.Started {
		return became, err
	}
	return became, g.takenBack(j)
}

// dropUnsubmitted drops a job that did not come to be. What is told of its tag is the batch
// system's.
func (g *Gate) dropUnsubmitted(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if j.state == making && g.jobs[j.Tag] == j {
		delete(g.jobs, j.Tag)
		if j.Reported.Reported() {
			g.strangers[j.Tag] = &j.Reported
		}
	}
}

// takenBack enters, durably, that a job never starts.
func (g *Gate) takenBack(j *job) error {
	if err := g.records.save(j.record(isWithdrawn)); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(j)
	j.state = withdrawn
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
		if err := g.records.save(j.record(isRecalled)); err != nil {
			return 0, err
		}
	}
	g.mu.Lock()
	if j.recalled = true; j.state == leaving {
		j.state = out
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
	defer j.release()
	g.mu.Lock()
	at, refused := j.state, j.refused
	g.mu.Unlock()
	switch {
	case at == withdrawn || refused:
		return nil
	case at == held || at == leaving && !j.tried:
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
		defer j.release()
		if at := g.stateOf(j); at != ended && at != withdrawn {
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
	delete(g.strangers, tag)
	return nil
}
