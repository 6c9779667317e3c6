package powergate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// callTime bounds each call to the batch system by which a job is taken back or looked ahead for.
const callTime = 30 * time.Second

// waitsBehind reports whether the batch system has a job, or is about to get it, that it has not
// started as far as is known. The lock is held.
func (j *job) waitsBehind() bool {
	return j.Planned() && !j.running && (j.state == stateReleasing || j.state == stateSubmitted)
}

// draw is what a job draws. The lock is held.
func (g *Gate) draw(j *job) int64 { return g.budget().Draw(g.config.Machine, j.Request) }

// pending is what the jobs would draw that the batch system has and has not started. The lock
// is held.
func (g *Gate) pending() (draw int64) {
	for one := range g.driver.Jobs() {
		if j := g.jobs[one.Tag]; j.waitsBehind() {
			draw += g.draw(j)
		}
	}
	return min(draw, g.load().Draw)
}

// Pending is what the jobs would draw, in milliwatts, that the batch system has and has not
// started: the budget keeps as much for them.
func (g *Gate) Pending() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unrated {
		return 0
	}
	return g.pending()
}

// excess are the jobs to be taken back from the batch system, which has not started them: the
// budget has become less than what all draw that it was given. It is those that it was given last.
// The lock is held.
func (g *Gate) excess(at protocol.Instant) (last []*job) {
	limit, _ := g.budget().Signal.At(at)
	drawn := g.load().Draw
	if drawn <= limit {
		return nil
	}
	for one := range g.driver.Jobs() {
		if j := g.jobs[one.Tag]; j.waitsBehind() && !j.recalled {
			last = append(last, j)
		}
	}
	slices.SortFunc(last, func(a, b *job) int { return cmp.Or(cmp.Compare(b.Began, a.Began), cmp.Compare(b.Seq, a.Seq)) })
	for i, j := range last {
		if drawn <= limit {
			return last[:i]
		}
		drawn -= g.draw(j)
	}
	return last
}

// withdrawExcess takes jobs back from the batch system until what it has is within the budget, or
// runs.
func (g *Gate) withdrawExcess(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil; {
		g.mu.Lock()
		excess := g.excess(g.driver.Now())
		g.withdrawing = len(excess) > 0
		g.mu.Unlock()
		if len(excess) == 0 {
			return
		}
		err := g.withdrawAll(ctx, excess)
		if err == nil {
			pause = firstPause
			continue
		}
		if ctx.Err() == nil {
			g.config.Log.Error("job_withdraw_failed", "error", err, "advice", "the peer retries; see whether the batch system works")
		}
		sleep(ctx, pause)
		pause = min(2*pause, lastPause)
	}
}

// withdrawAll takes jobs back, and has those that have not started wait here again, in their old
// places. It ends at the first error.
func (g *Gate) withdrawAll(ctx context.Context, excess []*job) (err error) {
	var back []*job
	for _, j := range excess {
		var came bool
		if came, err = g.withdrawOne(ctx, j); err != nil {
			err = fmt.Errorf("job %v: %w", j.Tag, err)
			break
		}
		if came {
			defer j.unlock()
			back = append(back, j)
		}
	}
	if len(back) == 0 {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.driver.Now()
	jobs := make([]*driver.Job, len(back))
	for i, j := range back {
		j.state, j.tried = stateHeld, false
		jobs[i] = &j.Job
	}
	g.driver.Rebuilt(g.driver.UndoStarts(at, jobs))
	limit, _ := g.budget().Signal.At(at)
	g.config.Log.Info("jobs_withdrawn", "jobs", len(back), "why", "they had not started when the power budget became "+power.Text(limit))
	return err
}

// withdrawOne takes a job back. When it has come it is held by the caller, and its record says
// that it waits here.
func (g *Gate) withdrawOne(ctx context.Context, j *job) (came bool, err error) {
	limited, stop := context.WithTimeout(ctx, callTime)
	defer stop()
	if err = j.lock(limited); err != nil {
		return false, err
	}
	defer func() {
		if !came {
			j.unlock()
		}
	}()
	g.mu.Lock()
	still := g.jobs[j.Tag] == j && j.waitsBehind() && !j.recalled
	g.mu.Unlock()
	if !still {
		return false, nil
	}
	one, err := g.records.read(j.Tag)
	if err != nil {
		return false, err
	}
	if j.tried {
		became, err := g.withdrawBehind(limited, j.Tag)
		if err != nil {
			return false, err
		}
		if became == localsched.Started {
			g.setStarted(j)
			return false, nil
		}
		// Else it would refuse the job when it gets it again.
		if err = g.Scheduler.Forget(limited, j.Tag); err != nil {
			return false, err
		}
	}
	one.Status, one.Released = statusHeld, 0
	return true, g.records.save(one)
}

// withdrawBehind withdraws a job from the batch system, which may never have got it.
func (g *Gate) withdrawBehind(ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	became, err := g.Scheduler.Withdraw(ctx, tag)
	if !errors.Is(err, localsched.ErrUnknownJob) {
		return became, err
	}
	presence, _, unclear := g.Scheduler.FindByTag(ctx, tag)
	if unclear == nil && presence == localsched.Absent {
		return localsched.Withdrawn, nil
	}
	return 0, errors.Join(err, unclear)
}

// setStarted enters that the batch system has started a job.
func (g *Gate) setStarted(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	j.running = true
	if j.state == stateReleasing {
		j.state = stateSubmitted
	}
}

// waitsPastBudget reports whether the batch system would let a job wait until the budget has become less
// than what all draw that it has. That is no time to give it the job. Where it does not say how
// long a job would wait, it gets it: it can be taken back.
func (g *Gate) waitsPastBudget(ctx context.Context, j *job) bool {
	g.mu.Lock()
	at := g.driver.Now()
	falls := g.budgetFallsAt(at, g.load().Draw)
	var query localsched.Query
	query.Add(j.Request, j.association)
	g.mu.Unlock()
	if falls <= at || falls == power.End {
		return false
	}
	limited, stop := context.WithTimeout(ctx, callTime)
	defer stop()
	quotes, err := g.Scheduler.Quote(limited, query)
	return err == nil && len(quotes) == 1 && quotes[0].Declined == "" && at.Add(quotes[0].AWT) >= falls
}

// budgetFallsAt is the first time from an instant on at which the budget is less than a draw. The lock
// is held.
func (g *Gate) budgetFallsAt(at protocol.Instant, draw int64) protocol.Instant {
	for at != power.End {
		limit, until := g.budget().Signal.At(at)
		if limit < draw {
			return at
		}
		at = until
	}
	return power.End
}

// postponePastBudget has a job be given to the batch system later, because that would start it only under
// another budget.
func (g *Gate) postponePastBudget(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if j.state != stateReleasing {
		return
	}
	g.driver.ReportPending(&j.Job, changefeed.PowerBudget)
	g.starts = append(g.starts, start{j, lastPause})
	g.driver.Wake()
}
