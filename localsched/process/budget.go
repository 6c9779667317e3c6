package process

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
)

// SetPolicy has another policy rule the queue from here on, within the same budget. Jobs
// that run go on.
func (s *Scheduler) SetPolicy(policy engine.Policy) error {
	return s.setRules(func(r *driver.Rules) { r.Policy = policy })
}

// SetBudget has another power budget bind the policy from here on: another signal too.
// Jobs that run go on. The error says what is wrong with it.
func (s *Scheduler) SetBudget(budget engine.Budget) error {
	if err := (driver.Rules{Budget: budget}).Check(); err != nil {
		return err
	}
	return s.setRules(func(r *driver.Rules) { r.Budget = budget })
}

func (s *Scheduler) setRules(change func(*driver.Rules)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return localsched.ErrClosed
	}
	s.driver.ChangeRules(change)
	return nil
}
