package localschedtest

import (
	"cmp"
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// busy is a driver whose machine runs job 1 for a while; job 2 waits for it.
func (m machine) busy(ctx context.Context, use func(d *driver) error) error {
	return m.drive(ctx, func(d *driver) error {
		for n := 1; n <= 2; n++ {
			if err := d.submit(n, m.full(protocol.Minute), protocol.Minute); err != nil {
				return err
			}
		}
		if d.jobs[tagOf(1)].phase != runs || d.jobs[tagOf(2)].phase != waits {
			return fmt.Errorf("of two jobs as large as the machine, %d run and %d wait", len(d.running), d.queued)
		}
		if err := use(d); err != nil {
			return err
		}
		if err := d.check(); err != nil {
			return fmt.Errorf("an error has changed something: %w", err)
		}
		return d.drain()
	})
}

func duplicates(ctx context.Context, m machine) error {
	return m.busy(ctx, func(d *driver) error {
		for n := 1; n <= 2; n++ {
			_, err := d.engine.Submit(d.now, d.jobs[tagOf(n)].Queued)
			if err = wrongError(fmt.Sprintf("submit job %d again", n), localsched.ErrDuplicate, err); err != nil {
				return err
			}
		}
		return nil
	})
}

func withdrawStarted(ctx context.Context, m machine) error {
	return m.busy(ctx, func(d *driver) error {
		_, err := d.engine.Withdraw(d.now, tagOf(1))
		return wrongError("withdraw a job that runs", localsched.ErrStarted, err)
	})
}

// withdrawnNeverStarts withdraws the job that waits, and looks on until a later one
// has ended. The tag is free again after that.
func withdrawnNeverStarts(ctx context.Context, m machine) error {
	return m.busy(ctx, func(d *driver) error {
		if err := d.withdraw(tagOf(2)); err != nil {
			return err
		}
		_, err := d.engine.Withdraw(d.now, tagOf(2))
		if err = wrongError("withdraw a job again", localsched.ErrUnknownJob, err); err != nil {
			return err
		}
		if err = d.submit(3, m.full(1), 1); err != nil {
			return err
		}
		if err = d.drain(); err != nil {
			return err
		}
		return d.submit(2, m.full(1), 1)
	})
}

func unknownJobs(ctx context.Context, m machine) error {
	return m.busy(ctx, func(d *driver) error {
		_, withdrawn := d.engine.Withdraw(d.now, tagOf(9))
		_, finished := d.engine.Finished(d.now, tagOf(9))
		_, waiting := d.engine.Finished(d.now, tagOf(2))
		return cmp.Or(
			wrongError("withdraw a job that never came", localsched.ErrUnknownJob, withdrawn),
			wrongError("report the end of a job that never came", localsched.ErrUnknownJob, finished),
			wrongError("report the end of a job that waits", localsched.ErrUnknownJob, waiting),
			wrongError("report the end of a job a second time", localsched.ErrUnknownJob, d.finishTwice()),
		)
	})
}

// finishTwice reports the end of job 1 twice and returns the second error.
func (d *driver) finishTwice() error {
	if err := d.finish(d.jobs[tagOf(1)]); err != nil {
		return err
	}
	_, err := d.engine.Finished(d.now, tagOf(1))
	return err
}

// timeRunsBack submits with a time before the latest: the start is not earlier, and
// the limit counts from the latest.
func timeRunsBack(ctx context.Context, m machine) error {
	return m.drive(ctx, func(d *driver) error {
		if err := d.submit(1, m.full(10), 10); err != nil {
			return err
		}
		if err := d.drain(); err != nil {
			return err
		}
		late := d.now
		d.now = firstNow
		planned, err := d.engine.Plan(d.now, nil, []protocol.Request{m.full(1)})
		if err != nil || len(planned) != 1 || planned[0].Start < firstNow.Add(10) {
			return fmt.Errorf("with a time before the latest, %d, the plan is %+v: %w", late, planned, errOf(err))
		}
		_, err = d.engine.Submit(d.now, localsched.Queued{Request: m.full(10), Tag: tagOf(2)})
		if err != nil {
			return fmt.Errorf("submit with a time before the latest: %w", err)
		}
		return nil
	})
}
