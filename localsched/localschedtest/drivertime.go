package localschedtest

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxIdle is how often an engine may ask to be woken at one instant.
const maxIdle = 1000

// next is the running job that ends first, of several the one started first. Jobs
// that are being killed end immediately.
func (d *driver) next() (first *driven, at protocol.Instant) {
	for _, job := range d.running {
		end := job.end()
		if job.killed {
			end = d.now
		}
		if first == nil || end < at {
			first, at = job, end
		}
	}
	return first, at
}

// step does the next thing that is due by a time: ends come before wakes.
func (d *driver) step(until protocol.Instant) (more bool, err error) {
	if d.ctx.Err() != nil {
		return false, context.Cause(d.ctx)
	}
	job, end := d.next()
	if d.wake != 0 && d.wake <= until && (job == nil || d.wake < end) {
		return true, d.tick()
	}
	if job == nil || end > until {
		return false, nil
	}
	d.to(end)
	return true, d.finish(job)
}

func (d *driver) tick() error {
	d.to(d.wake)
	if d.idle++; d.idle > maxIdle {
		return fmt.Errorf("at %d the engine wants to be woken at once, again and again", d.now)
	}
	actions, err := d.engine.Tick(d.now)
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	return d.apply(actions)
}

// to goes to a time that is not before now.
func (d *driver) to(at protocol.Instant) {
	if at > d.now {
		d.now, d.idle = at, 0
	}
}

// steps lets happen what is due by a time.
func (d *driver) steps(until protocol.Instant) error {
	for {
		if more, err := d.step(until); !more || err != nil {
			return err
		}
	}
}

// advance goes to a later time.
func (d *driver) advance(until protocol.Instant) error {
	if err := d.steps(until); err != nil {
		return err
	}
	d.to(until)
	return nil
}

// drain goes on until nothing happens any more. Then no job waits.
func (d *driver) drain() error {
	if err := d.steps(protocol.Instant(protocol.Never) - 1); err != nil {
		return err
	}
	if d.queued > 0 {
		return fmt.Errorf("%d jobs wait on an idle machine and are never started", d.queued)
	}
	return nil
}

// settle makes every job end at its limit from now on, as plans assume.
func (d *driver) settle() {
	for _, job := range d.jobs {
		job.run = job.WallTime
	}
}
