package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// rules are those of the site's batch system, on the peers' clock, which begins then.
func (s *Site) rules(begin protocol.Instant) driver.Rules {
	rules := driver.Rules{Policy: s.Local}
	if s.budgeted() {
		rules.Budget = s.Budget
		rules.Budget.Signal = s.signal(begin)
	}
	return rules
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
