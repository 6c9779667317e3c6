package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func descriptionStays(ctx context.Context, s *session) error {
	first, err := s.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	switch c := first.Capacity; {
	case first.Name == "":
		return errors.New("the batch system has no name")
	case c.CPUs < 1 || c.Nodes < 1 || c.Nodes > c.CPUs || c.MemoryMB < 0 || c.MaxWallTime < 0 || c.MHz < 0:
		return fmt.Errorf("the capacity is %+v", c)
	case !slices.IsSorted(first.Capabilities) || len(slices.Compact(slices.Clone(first.Capabilities))) < len(first.Capabilities):
		return fmt.Errorf("the capabilities %q are not sorted, each once", first.Capabilities)
	}
	for range 5 {
		again, err := s.Describe(ctx)
		if err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		if !reflect.DeepEqual(first, again) {
			return fmt.Errorf("the description is %+v at first, then %+v", first, again)
		}
	}
	return nil
}

// saneLoad says what is wrong with a load, if anything.
func saneLoad(load protocol.Load) error {
	if load.CPUs < 0 || load.Busy < 0 || load.Busy > load.CPUs || load.QueuedJobs < 0 || load.QueuedWork < 0 ||
		load.QueuedJobs == 0 && load.QueuedWork > 0 || load.PowerIdledCPUs < 0 || load.PowerIdledCPUs > load.CPUs-load.Busy ||
		load.Draw < 0 || load.Budget.Milliwatts < 0 || !load.Budget.Active && load.Budget.Milliwatts > 0 {
		return fmt.Errorf("the load is %+v", load)
	}
	return nil
}

// load is the load, checked.
func (s *session) load(ctx context.Context) (protocol.Load, error) {
	load, err := s.Load(ctx)
	if err == nil {
		err = saneLoad(load)
	}
	if err != nil {
		return load, fmt.Errorf("load: %w", err)
	}
	return load, nil
}

// loadAtRest is the load once the jobs of earlier cases have left: a batch system may count their
// CPUs for a moment after it has reported their ends.
func (s *session) loadAtRest(ctx context.Context) (load protocol.Load, err error) {
	atRest := func() (bool, error) {
		load, err = s.load(ctx)
		return load.Busy == 0 && load.QueuedJobs == 0, err
	}
	err = s.eventually(ctx, atRest, func() string { return fmt.Sprintf("nothing runs or waits, and the load stays %+v", load) })
	return load, err
}

func loadIsSane(ctx context.Context, s *session) error {
	load, err := s.load(ctx)
	if err == nil && (load.CPUs < 1 || load.CPUs > s.capacity.CPUs) {
		err = fmt.Errorf("the load is of %d CPUs, the capacity of %d", load.CPUs, s.capacity.CPUs)
	}
	return err
}

// loadCounts fills the machine and puts a job in the queue. A scheduler that polls
// takes its time to see them.
func loadCounts(ctx context.Context, s *session) error {
	if _, err := s.full(ctx); err != nil {
		return err
	}
	job := s.logging(s.one())
	if _, err := s.submit(ctx, job); err != nil {
		return err
	}
	var load protocol.Load
	return s.eventually(ctx, func() (done bool, err error) {
		load, err = s.load(ctx)
		return load.Busy > 0 && load.Free() == 0 && load.QueuedJobs == 1 && load.QueuedWork > 0, err
	}, func() string { return fmt.Sprintf("the machine is full and one job waits, but the load is %+v", load) })
}
