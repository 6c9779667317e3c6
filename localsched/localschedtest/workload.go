package localschedtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// workloads is how many random workloads are driven in a case: fewer by go test -short.
func workloads() uint64 {
	if testing.Testing() && testing.Short() {
		return 5
	}
	return 20
}

// workload is random input: the same for the same seed.
type workload struct {
	random  *rand.Rand
	machine machine
	jobs    int
	overrun bool                    // some jobs do not end by themselves
	between func(d *driver) error   // called before each job comes; nil: nothing is
	pause   protocol.Duration       // the longest time between two jobs
	request func() protocol.Request // the next job
}

// draw is a job that fits the machine: mostly narrow.
func (w *workload) draw() protocol.Request {
	c := w.machine.capacity
	request := protocol.Request{CPUs: 1 + w.random.IntN(c.CPUs), WallTime: 1 + protocol.Duration(w.random.Int64N(40))}
	if w.random.IntN(3) > 0 {
		request.CPUs = 1 + request.CPUs/4
	}
	if w.random.IntN(4) == 0 {
		request.Nodes = 1 + w.random.IntN(c.Nodes)
	}
	if c.MemoryMB > 0 && w.random.IntN(4) == 0 {
		request.MemoryMB = w.random.Int64N(c.MemoryMB + 1)
	}
	return request
}

// runTime is how long a job really runs.
func (w *workload) runTime(wall protocol.Duration) protocol.Duration {
	switch {
	case w.random.IntN(3) == 0:
		return wall
	case w.overrun && w.random.IntN(3) == 0:
		return protocol.Never
	}
	return 1 + protocol.Duration(w.random.Int64N(int64(wall)))
}

// feed submits the jobs over time, and withdraws some that wait.
func (w *workload) feed(d *driver) error {
	for n := range w.jobs {
		if err := d.advance(d.now.Add(protocol.Duration(w.random.Int64N(int64(w.pause))))); err != nil {
			return err
		}
		if w.between != nil {
			if err := w.between(d); err != nil {
				return err
			}
		}
		request := w.request()
		if err := d.submit(n, request, w.runTime(request.WallTime)); err != nil {
			return err
		}
		if tag := tagOf(n - w.random.IntN(5)); w.random.IntN(6) == 0 && d.jobs[tag] != nil && d.jobs[tag].phase == waits {
			if err := d.withdraw(tag); err != nil {
				return err
			}
		}
	}
	return nil
}

// whole feeds the workload to a new engine and lets it drain.
func (w *workload) whole(ctx context.Context) (log []string, err error) {
	err = w.machine.drive(ctx, func(d *driver) error {
		if err = w.feed(d); err == nil {
			err = d.drain()
		}
		log = d.log
		return err
	})
	return log, err
}

// sameLogs compares what happened in two runs.
func sameLogs(first, second []string) error {
	if slices.Equal(first, second) {
		return nil
	}
	for i := range min(len(first), len(second)) {
		if first[i] != second[i] {
			return fmt.Errorf("at first %q, then %q", first[i], second[i])
		}
	}
	return fmt.Errorf("%d starts and ends at first, then %d", len(first), len(second))
}

// compare runs a workload as it is, and once more after a change.
func (m machine) compare(ctx context.Context, change func(w *workload)) error {
	for seed := range workloads() {
		plain := m.workload(seed)
		plain.overrun = true
		first, err := plain.whole(ctx)
		if err != nil {
			return err
		}
		changed := m.workload(seed)
		changed.overrun = true
		change(changed)
		second, err := changed.whole(ctx)
		if err != nil {
			return err
		}
		if err = sameLogs(first, second); err != nil {
			return fmt.Errorf("workload %d: %w", seed, err)
		}
	}
	return nil
}
