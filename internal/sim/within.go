package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// policy is that of the site's batch system, within its budget if there is one.
func (s *Site) policy(begin protocol.Instant) engine.Policy {
	if !s.budgeted() {
		return s.Local
	}
	within := s.Budget
	within.Signal = s.signal(begin)
	return engine.Within(within, s.Local)
}

func (s *Site) budgeted() bool { return s.Budget.Rates != power.Rates{} }

// signal is the site's budget over time, on the peers' clock, which begins then.
func (s *Site) signal(begin protocol.Instant) power.Signal {
	return Later(s.Budget.Signal, protocol.Duration(begin))
}

// checkMachine says what its partitions do not fit, if it has any.
func (s *Site) checkMachine() error {
	if s.Partitions == nil {
		return nil
	}
	_, err := s.Model()
	return err
}

// checkBudget says what is wrong with the site's budget, if it has one.
func (s *Site) checkBudget() error {
	switch {
	case !s.budgeted():
		return nil
	case s.Engine != nil:
		return errors.New("an engine of its own keeps no power budget; give the site a local policy")
	}
	if err := s.Budget.Check(); err != nil {
		return fmt.Errorf("its power budget: %w", err)
	}
	return nil
}

// Later is a budget with all its steps so much later; earlier, if by is negative.
func Later(signal power.Signal, by protocol.Duration) power.Signal {
	steps := slices.Clone(signal.Steps())
	for i := range steps {
		if by < 0 && int64(steps[i].At) < math.MinInt64-int64(by) {
			steps[i].At = math.MinInt64 // a budget that holds always began with time itself
			continue
		}
		steps[i].At = steps[i].At.Add(by)
	}
	moved, _ := power.NewSignal(steps) // their order stays
	return moved
}

// turns asks for the next time at which the site's budget is another. The peer must hear
// of it though no job comes or goes: its digest and what it volunteers for depend on it.
func (b *batchSystem) turns(now protocol.Instant) {
	if _, until := b.budget.At(now); until != power.End {
		b.site.grid.heap.push(until, budgetTurns, b.site.index, 0)
	}
}

// turn is such a time.
func (b *batchSystem) turn(now protocol.Instant) {
	actions, err := b.engine.Tick(now)
	if err != nil {
		_ = b.fails(err)
		return
	}
	b.carryOut(now, actions)
	b.news = true
	b.site.grid.check.last = now
	b.site.grid.touch(b.site)
	b.turns(now)
}

// budgetEnds says whether a power budget holds anywhere at an instant that will end later:
// then jobs wait for that, however long.
func (g *grid) budgetEnds(at protocol.Instant) bool {
	return slices.ContainsFunc(g.sites, func(s *site) bool {
		if s.batch == nil {
			return false
		}
		limit, until := s.batch.budget.At(at)
		return limit != power.Unlimited && until != power.End
	})
}
