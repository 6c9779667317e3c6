package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/switchyard-hpc/switchyard/localsched"
)

func (m machine) workload(seed uint64) *workload {
	w := &workload{random: rand.New(rand.NewPCG(seed, 2)), machine: m, jobs: 60, pause: 8}
	w.request = w.draw
	return w
}

func everyJobStarts(ctx context.Context, m machine) error {
	for seed := range workloads() {
		if _, err := m.workload(seed).whole(ctx); err != nil {
			return fmt.Errorf("workload %d: %w", seed, err)
		}
	}
	return nil
}

func endedAtLimits(ctx context.Context, m machine) error {
	for seed := range workloads() {
		w := m.workload(seed)
		w.overrun = true
		if _, err := w.whole(ctx); err != nil {
			return fmt.Errorf("workload %d: %w", seed, err)
		}
	}
	return nil
}

func equalInput(ctx context.Context, m machine) error {
	return m.compare(ctx, func(*workload) {})
}

func neverFits(ctx context.Context, m machine) error {
	return m.drive(ctx, func(d *driver) error {
		large := m.full(1)
		large.CPUs++
		_, err := d.engine.Submit(d.now, localsched.Queued{Request: large, Tag: tagOf(1)})
		if refused := new(localsched.RefusedError); !errors.As(err, &refused) || refused.Reason == "" {
			return fmt.Errorf("submit a job of %d CPUs: got the error %w, want a *localsched.RefusedError with a reason", large.CPUs, errOf(err))
		}
		if err = d.check(); err != nil {
			return fmt.Errorf("after a refusal: %w", err)
		}
		if err = d.submit(1, m.full(1), 1); err != nil { // the tag is free
			return err
		}
		return d.drain()
	})
}
