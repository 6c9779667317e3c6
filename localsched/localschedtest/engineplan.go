package localschedtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// plansChangeNothing asks for plans all the time, and has nothing else change. The
// plans' own shapes come from elsewhere, so that the workload stays the same.
func plansChangeNothing(ctx context.Context, m machine) error {
	return m.compare(ctx, func(w *workload) {
		other := m.workload(1000)
		w.between = func(d *driver) error {
			_, err := d.plan([]protocol.Request{other.draw()}, []protocol.Request{other.draw(), other.draw()})
			return err
		}
	})
}

// plan asks for a plan, and checks it.
func (d *driver) plan(ahead, jobs []protocol.Request) ([]localsched.Planned, error) {
	planned, err := d.engine.Plan(d.now, ahead, jobs)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if len(planned) != len(jobs) {
		return nil, fmt.Errorf("%d jobs have %d plans", len(jobs), len(planned))
	}
	for i, request := range jobs {
		p, fits := planned[i], d.capacity.CanRun(request)
		switch {
		case fits && p.Declined != "":
			return nil, fmt.Errorf("a job of %d CPUs fits the machine, and is declined: %s", request.CPUs, p.Declined)
		case fits && p.Start < d.now:
			return nil, fmt.Errorf("at %d a start at %d is planned", d.now, p.Start)
		case !fits && p.Declined == "":
			return nil, fmt.Errorf("a job of %d CPUs is not declined, of %d", request.CPUs, d.capacity.CPUs)
		}
	}
	return planned, nil
}

// plansComeTrue asks when a job would start in the midst of a workload, lets it and
// those ahead of it in, and lets all jobs run up to their limits.
func plansComeTrue(ctx context.Context, m machine) error {
	for seed := range 4 * workloads() {
		w := m.workload(seed)
		w.jobs, w.pause = 5+int(seed%30), 5
		err := m.drive(ctx, func(d *driver) error {
			if err := w.feed(d); err != nil {
				return err
			}
			d.settle()
			return d.comesTrue(w)
		})
		if err != nil {
			return fmt.Errorf("workload %d: %w", seed, err)
		}
	}
	return nil
}

func (d *driver) comesTrue(w *workload) error {
	var ahead []protocol.Request
	for range w.random.IntN(3) {
		ahead = append(ahead, w.draw())
	}
	newcomer := w.draw()
	planned, err := d.plan(ahead, []protocol.Request{newcomer})
	if err != nil {
		return err
	}
	const first = 1000 // beyond the numbers of the workload
	for i, request := range slices.Concat(ahead, []protocol.Request{newcomer}) {
		if err = d.submit(first+i, request, request.WallTime); err != nil {
			return err
		}
	}
	if err = d.drain(); err != nil {
		return err
	}
	if started := d.jobs[tagOf(first+len(ahead))].started; started != planned[0].Start {
		return fmt.Errorf("the plan said that the job would start at %d; it started at %d", planned[0].Start, started)
	}
	return nil
}

func plansDecline(ctx context.Context, m machine) error {
	return m.drive(ctx, func(d *driver) error {
		none, err := d.plan(nil, nil)
		if err != nil || len(none) > 0 {
			return fmt.Errorf("no jobs have the plans %v: %w", none, errOf(err))
		}
		small, large := m.full(1), m.full(1)
		large.CPUs++
		_, err = d.plan(nil, []protocol.Request{small, large, small})
		return err
	})
}
