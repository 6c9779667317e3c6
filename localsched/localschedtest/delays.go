package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// delaysReported has one job wait for the whole machine behind another one that fills it. A
// newcomer then goes before it or after it, whatever the policy: its own quote says
// which, and it delays the job that waits by no more than its time limit, or not at all.
func delaysReported(ctx context.Context, s *session) error {
	described, err := s.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	if !slices.Contains(described.Capabilities, localsched.Delays) {
		return conformance.Skip("the scheduler does not say whom jobs would delay")
	}
	newcomers := s.shapes(s.one(), s.tooLarge(), s.all())
	if err = s.delaysNone(ctx, "no job waits", localsched.Query{Jobs: newcomers, ProtectSite: new(site)}); err != nil {
		return err
	}
	if _, err = s.full(ctx); err != nil {
		return err
	}
	waits := s.logging(s.all())
	if _, err = s.submit(ctx, waits); err != nil {
		return err
	}
	if err = s.waiting(ctx, waits.Tag); err != nil {
		return err
	}
	if err = s.delaysNone(ctx, "no site is protected", localsched.Query{Jobs: newcomers}); err != nil {
		return err
	}
	if err = s.delaysNone(ctx, "no job of that site waits", localsched.Query{Jobs: newcomers, ProtectSite: new(site - 1)}); err != nil {
		return err
	}
	quotes, err := s.quote(ctx, localsched.Query{Jobs: newcomers, ProtectSite: new(site)})
	if err != nil {
		return err
	}
	for i, q := range quotes {
		if err = soundDelay(q, newcomers[i], waits.Spec.Request); err != nil {
			return fmt.Errorf("a job of %d CPUs for %v, quoted %+v: %w", newcomers[i].CPUs, newcomers[i].WallTime, q, err)
		}
	}
	return nil
}

// delaysNone returns which quote has a delay that it must not have.
func (s *session) delaysNone(ctx context.Context, why string, query localsched.Query) error {
	quotes, err := s.quote(ctx, query)
	if err != nil {
		return err
	}
	for _, q := range quotes {
		if q.Delay != 0 {
			return fmt.Errorf("a delay of %v is reported, though %s", q.Delay, why)
		}
	}
	return nil
}

// soundDelay compares what a quote says of the newcomer and of the job that waits. Both
// would fill the machine one after the other, or the newcomer is small.
func soundDelay(q protocol.Quote, newcomer, waits protocol.Request) error {
	after := q.Declined != "" || q.AWT > waits.WallTime+waits.WallTime/2 // of the job that runs and the one that waits
	switch {
	case q.Delay < 0 || q.Delay > newcomer.WallTime:
		return fmt.Errorf("it would delay the job that waits by %v", q.Delay)
	case after && q.Delay != 0:
		return fmt.Errorf("it would start after the job that waits, and delay it by %v", q.Delay)
	case !after && q.Delay == 0:
		return errors.New("it would start before the job that waits for the whole machine, and not delay it")
	}
	return nil
}
