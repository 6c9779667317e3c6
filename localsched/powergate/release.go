package powergate

import (
	"context"
	"errors"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The pauses between attempts to give a job to the batch system.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// errPresenceUnknown says that the batch system cannot tell whether it has a job.
var errPresenceUnknown = errors.New("the batch system cannot tell whether it has the job")

// submit gives a job to the batch system that the engine has started.
func (g *Gate) submit(ctx context.Context, j *job) {
	if err := g.submitOnce(ctx, j); err != nil && ctx.Err() == nil {
		g.postpone(j, err)
	}
}

// postpone has a job be given to the batch system later, and reports why. What went wrong
// may yet have taken effect.
func (g *Gate) postpone(j *job, err error) {
	g.config.Log.Error("job_release_failed", "job", j.Tag.String(), "error", err, "advice", "the peer retries; see whether the batch system works")
	g.mu.Lock()
	defer g.mu.Unlock()
	if j.state != stateReleasing {
		return
	}
	g.driver.ReportPending(&j.Job, "not given to the batch system yet: "+err.Error())
	j.pause = min(max(firstPause, 2*j.pause), lastPause)
	g.starts = append(g.starts, start{j, j.pause})
	g.driver.Wake()
}

// sleep waits. It returns false when the context ends.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// submitOnce is one attempt. After an error there must be another.
func (g *Gate) submitOnce(ctx context.Context, j *job) error {
	select {
	case g.submitSlots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.submitSlots }()
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	if g.stateOf(j) != stateReleasing || !g.isCurrent(j) {
		return nil // withdrawn meanwhile, or the batch system reported it
	}
	err := g.resolve(ctx, j)
	if refused := new(localsched.RefusedError); errors.As(err, &refused) {
		return g.refuse(j, refused.Reason)
	}
	return err
}

// resolve gives a job to the batch system that does not have it. Where it may have it, it is
// looked for; if it is not there, it waits again, because there may be another budget now.
// So does one that never got that far while the budget that let it go held.
func (g *Gate) resolve(ctx context.Context, j *job) error {
	if j.damaged != "" {
		return g.lookUp(ctx, j, func() error { return &localsched.RefusedError{Reason: j.damaged} })
	}
	one, err := g.records.read(j.Tag)
	switch {
	case err != nil:
		return err
	case j.tried:
		return g.lookUp(ctx, j, func() error { return g.forgetAndHold(ctx, j, one) })
	case g.outdated(j):
		return g.holdLast(j, one)
	case g.waitsPastBudget(ctx, j):
		g.postponePastBudget(j)
		return nil
	}
	return g.submitBehind(ctx, j, one)
}

// outdated reports whether a job was let go within a budget that holds no more, and that is now
// another one.
func (g *Gate) outdated(j *job) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.driver.Now()
	limit, _ := g.budget().Signal.At(at)
	return at >= j.until && limit != power.Unlimited
}

// submitBehind gives a job to the batch system, durably so.
func (g *Gate) submitBehind(ctx context.Context, j *job, one record) error {
	one.Status, one.Released = statusReleased, g.time()
	if err := g.records.save(one); err != nil {
		return err
	}
	j.tried = true
	local, err := g.Scheduler.Submit(ctx, *one.Submission)
	if err != nil {
		return err
	}
	g.config.Log.Info("job_released", "job", j.Tag.String(), "local", string(local))
	g.setSubmitted(j)
	return nil
}

// forgetAndHold is holdLast for a job that the batch system may remember as withdrawn.
func (g *Gate) forgetAndHold(ctx context.Context, j *job, one record) error {
	if err := g.Scheduler.Forget(ctx, j.Tag); err != nil {
		return err
	}
	return g.holdLast(j, one)
}

// holdLast puts a job that the batch system has not got into the queue again, as the last
// one.
func (g *Gate) holdLast(j *job, one record) error {
	one.Status, one.Released = statusHeld, 0
	if err := g.records.save(one); err != nil {
		return err
	}
	j.tried = false
	g.mu.Lock()
	defer g.mu.Unlock()
	if j.state != stateReleasing {
		return nil
	}
	at := g.driver.Now()
	j.state = stateHeld
	misfits, err := g.driver.Requeue(at, &j.Job)
	g.driver.Rebuilt(misfits)
	return err
}

// lookUp looks for a job in the batch system, and does something if it is not there.
func (g *Gate) lookUp(ctx context.Context, j *job, absent func() error) error {
	presence, _, err := g.Scheduler.FindByTag(ctx, j.Tag)
	switch {
	case err != nil:
		return err
	case presence == localsched.Present:
		g.setSubmitted(j)
		return nil
	case presence == localsched.Absent:
		return absent()
	}
	return errPresenceUnknown
}

// setSubmitted enters that the batch system has a job, if it has not reported more by now.
func (g *Gate) setSubmitted(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if j.state == stateReleasing {
		j.state, j.pause = stateSubmitted, 0
		g.driver.ReportPending(&j.Job, "")
	}
}

// refuse ends a job that the batch system will not have.
func (g *Gate) refuse(j *job, reason string) error {
	one := j.record(statusRefused)
	one.Reason = reason
	if err := g.records.save(one); err != nil {
		return err
	}
	g.config.Log.Warn("job_refused", "job", j.Tag.String(), "reason", reason)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(j)
	g.reportRefused(j, reason)
	return nil
}

// reportRefused reports that end. The lock is held.
func (g *Gate) reportRefused(j *job, reason string) {
	reason = "the local scheduler refused the job when the power budget let it go: " + reason
	j.state, j.refused = stateEnded, true
	g.changes.Report(&j.Reported, localsched.Change{
		Tag: j.Tag, State: protocol.Failed, Reason: reason,
		Outcome: protocol.Outcome{State: protocol.Failed, Reason: reason},
	})
}
