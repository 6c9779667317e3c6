// Package live runs a [driver.Driver] in real time: it adds the wall clock, the loop that calls
// [driver.Driver.Tick] when it is due, and the log of what no plan has a place for.
// localsched/process and localsched/powergate are built on it; localsched/virtual is its
// counterpart under a virtual clock.
package live

import (
	"context"
	"log/slog"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// clockCheckInterval is the longest time between two comparisons with the wall clock.
const clockCheckInterval = 5 * time.Second

// Driver is a driver under the wall clock. The runner's lock guards all of its methods except
// Wake and Run.
type Driver struct {
	*driver.Driver // nil until Begin

	clock  *wallclock.Clock
	log    *slog.Logger
	runner Runner
	wake   chan struct{} // holds one element while the loop has been asked to make a step
}

// Runner is what the runner of a driver provides.
type Runner struct {
	CarryOut func(driver.Work) // stores what the loop will do; called with the runner's lock held
	Advice   Advice
}

// Advice is what an operator should do about a job that no plan has a place for.
type Advice struct {
	Running string // the engine has started the job
	Pending string
}

// New returns a driver that does not have an engine yet. A nil source is the clock of this machine.
func New(source wallclock.Source, log *slog.Logger, runner Runner) *Driver {
	return &Driver{clock: wallclock.New(source), log: log, runner: runner, wake: make(chan struct{}, 1)}
}

// Begin makes the engine. The runner then adds the jobs that it has found, and calls
// [driver.Driver.Rebuild].
func (d *Driver) Begin(machine engine.Machine, rules driver.Rules, feed *changefeed.Feed) {
	d.Driver = driver.New(machine, rules, feed)
}

// Now returns the present instant of the engine, which is that of the wall clock. If the wall
// clock was set, the engine is rebuilt first (see [driver.Driver.ClockSet]), so a caller must not
// be in the middle of a change.
func (d *Driver) Now() protocol.Instant {
	now, stepped := d.clock.Now()
	if stepped != 0 && d.Driver != nil {
		d.log.Info("planned_again", "why", "the clock was set", "by", stepped.String())
		d.Rebuilt(d.ClockSet(now, stepped))
	}
	return now
}

// Steady returns the reading of the steady clock at an instant, and Instant the reverse: see
// [wallclock.Clock].
func (d *Driver) Steady(at protocol.Instant) protocol.Duration { return d.clock.Steady(at) }

// Instant returns the instant at a reading of the steady clock.
func (d *Driver) Instant(steady protocol.Duration) protocol.Instant { return d.clock.Instant(steady) }

// ChangeRules replaces the rules. Running jobs are not affected.
func (d *Driver) ChangeRules(change func(*driver.Rules)) {
	now, rules := d.Now(), d.Rules()
	change(&rules)
	d.Rebuilt(d.SetRules(now, rules))
}

// Done passes the work of a driver's call to the runner, and logs the error of that call: only an
// engine that contradicts the driver gives one.
func (d *Driver) Done(err error) {
	if err != nil {
		d.log.Error("engine_state_mismatch", "error", err, "advice", "report this error: it is a defect of Switchyard")
	}
	d.runner.CarryOut(d.TakeWork())
	d.Wake()
}

// Rebuilt logs what has no place in a new plan, and passes the work to the runner.
func (d *Driver) Rebuilt(misfits []driver.Misfit) {
	for _, m := range misfits {
		logMisfit(d.log, m, d.runner.Advice)
	}
	d.Done(nil)
}

func logMisfit(log *slog.Logger, m driver.Misfit, advice Advice) {
	log = log.With("job", m.Tag.String(), "error", m.Err)
	switch {
	case m.Reserved:
		log.Error("reservation_restore_failed",
			"advice", "the job may not start together with the other components of its group")
	case m.Running:
		log.Warn("running_job_not_planned", "advice", advice.Running)
	default:
		log.Warn("queued_job_not_planned", "advice", advice.Pending)
	}
}

// Wake has the loop make a step. It needs no lock.
func (d *Driver) Wake() {
	select {
	case d.wake <- struct{}{}:
	default: // the loop has not made the step that it was asked for before
	}
}

// Step ticks the engine if that is due, and returns the time until the next step.
func (d *Driver) Step() time.Duration {
	now := d.Now()
	if d.Next() <= now {
		d.Done(d.Tick(now))
	}
	return min(clockCheckInterval, max(0, d.Next().Sub(now)).Std())
}

// Run calls step now, after each time that step returns, and after each Wake, until the context
// ends. Step takes the runner's lock, calls [Driver.Step] and starts what is to be done.
func (d *Driver) Run(ctx context.Context, step func() time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-d.wake:
		}
		timer.Reset(step())
	}
}
