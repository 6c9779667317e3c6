package powergate

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Submit implements [localsched.Runner]. A job that the budget lets start now is with the
// batch system when it returns, unless that cannot tell; then it gets it later.
func (g *Gate) Submit(ctx context.Context, submission localsched.Submission) (localsched.LocalID, error) {
	j, err := g.lockOrCreateJob(ctx, submission.Tag)
	if err != nil {
		return "", err
	}
	defer j.unlock()
	switch g.stateOf(j) {
	case stateNew:
		err = g.admit(ctx, j, submission)
	case stateWithdrawn:
		err = &localsched.RefusedError{Reason: fmt.Sprintf("job %v was withdrawn before it came", j.Tag)}
	case stateDiscarding:
		if err = g.discard(j); err == nil {
			return g.Submit(ctx, submission) // as a new one
		}
	case stateHeld, stateReleasing, stateSubmitted, stateEnded:
	}
	if err != nil {
		return "", err
	}
	return j.id(), nil
}

// admit takes a new job in, or drops it.
func (g *Gate) admit(ctx context.Context, j *job, submission localsched.Submission) error {
	if _, reason := g.config.Machine.Units(submission.Spec.Request); reason != "" {
		g.drop(j)
		return &localsched.RefusedError{Reason: reason}
	}
	g.mu.Lock()
	g.seq++
	j.Seq = g.seq
	g.mu.Unlock()
	j.arrived(g.time(), submission.Spec.Request, submission.Spec.Association)
	one := j.record(statusHeld)
	one.Submission = &submission
	if err := g.records.save(one); err != nil {
		return g.discardRefused(j, fmt.Errorf("hold job %v: %w", j.Tag, err))
	}
	starts, err := g.enqueue(j)
	if err == nil && starts {
		err = g.submitNow(ctx, j, one)
	}
	if err != nil {
		return g.discardRefused(j, err)
	}
	return nil
}

// discardRefused discards a job that Submit does not take, and returns why. As long as its record
// could bring it back after a restart, that is not a refusal: the peer, which would place the
// job elsewhere, asks by FindByTag instead.
func (g *Gate) discardRefused(j *job, why error) error {
	if err := g.discard(j); err != nil {
		return fmt.Errorf("%s; but it may come back: %w", why.Error(), err)
	}
	return why
}

// discard removes a job's record and drops the job, or has it be unwanted until that works.
func (g *Gate) discard(j *job) error {
	err := g.records.remove(j.Tag)
	if err == nil {
		g.drop(j)
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(j)
	j.state = stateDiscarding
	g.changes.Forget(&j.Reported)
	return fmt.Errorf("the record of job %v cannot be removed: %w", j.Tag, err)
}

// enqueue puts a job in the engine's queue. It returns whether it is to start at once; then
// that is the caller's.
func (g *Gate) enqueue(j *job) (starts bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.driver.Now()
	starts, err = g.driver.SubmitOver(at, &j.Job)
	if err != nil {
		return false, err
	}
	if j.state = stateHeld; starts {
		g.release(j)
	}
	g.driver.Done(nil)
	return starts, nil
}

// submitNow gives the batch system a job that has just come. Its refusal is an error; what is
// unclear is settled later.
func (g *Gate) submitNow(ctx context.Context, j *job, one record) error {
	if g.waitsPastBudget(ctx, j) {
		g.postponePastBudget(j)
		return nil
	}
	err := g.submitBehind(ctx, j, one)
	if err == nil {
		return nil
	}
	if refused := new(localsched.RefusedError); errors.As(err, &refused) {
		return err
	}
	g.postpone(j, err)
	return nil
}

// FindByTag implements [localsched.Runner]. A tag that was withdrawn before it came is
// absent, and so is one that was not taken, once nothing is left of it.
func (g *Gate) FindByTag(ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	j, err := g.lockJob(ctx, tag)
	if err != nil {
		return localsched.PresenceUnknown, "", err
	}
	if j == nil {
		return g.Scheduler.FindByTag(ctx, tag)
	}
	defer j.unlock()
	switch g.stateOf(j) {
	case stateWithdrawn:
		return localsched.Absent, "", nil
	case stateDiscarding:
		if err = g.discard(j); err != nil {
			return localsched.PresenceUnknown, "", err
		}
		return localsched.Absent, "", nil
	case stateSubmitted:
		presence, _, err := g.Scheduler.FindByTag(ctx, tag)
		if err == nil && presence == localsched.Absent {
			err = g.setLost(j)
		}
		if err != nil {
			return localsched.PresenceUnknown, "", err
		}
		if presence != localsched.Present {
			return presence, "", nil
		}
	case stateNew, stateHeld, stateReleasing, stateEnded:
	}
	return localsched.Present, j.id(), nil
}

// setLost enters that the batch system does not have a job any more that it had, or was to
// give back.
func (g *Gate) setLost(j *job) error {
	g.mu.Lock()
	recalled := j.recalled
	g.mu.Unlock()
	if recalled {
		return g.setWithdrawn(j)
	}
	return g.discard(j)
}
