package process

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched/changes"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// rules are what rules the queue: a policy, and a budget that binds it.
type rules struct {
	base   engine.Policy
	budget engine.Budget
}

// budgeted says whether there is a budget at all.
func budgeted(b engine.Budget) bool { return b.Rates != power.Rates{} || len(b.Signal.Steps()) > 0 }

func checkBudget(b engine.Budget) error {
	if !budgeted(b) {
		return nil
	}
	if err := b.Check(); err != nil {
		return fmt.Errorf("the power budget: %w", err)
	}
	return nil
}

func (r rules) policy() engine.Policy {
	if !budgeted(r.budget) {
		return r.base
	}
	return engine.Within(r.budget, r.base)
}

// SetPolicy has another policy rule the queue from here on, within the same budget. Jobs
// that run go on.
func (s *Scheduler) SetPolicy(policy engine.Policy) error {
	return s.rule(func(r *rules) { r.base = policy })
}

// SetBudget has another power budget bind the policy from here on: another signal too.
// Jobs that run go on. The error says what is wrong with it.
func (s *Scheduler) SetBudget(budget engine.Budget) error {
	if err := checkBudget(budget); err != nil {
		return err
	}
	return s.rule(func(r *rules) { r.budget = budget })
}

func (s *Scheduler) rule(change func(*rules)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	now := s.now()
	change(&s.rules)
	s.note(now, s.engine.SetPolicy(now, s.rules.policy()))
	s.requeueAll(now, nil)
	s.attend(now)
	s.changes.Pulse()
	return nil
}

// attend notes what the budget does now: which jobs it holds, and when it will be
// another. Watchers are told when it is another than before, though no job waits for it.
// The lock is held.
func (s *Scheduler) attend(now protocol.Instant) {
	was := s.held
	s.held = nil
	s.looks++
	for _, tag := range s.engine.Held(now) {
		j := s.jobs[tag]
		j.look = s.looks
		s.held = append(s.held, j)
		s.waits(j, changes.PowerBudget)
	}
	for _, j := range was {
		if j.look != s.looks && j.state == queued {
			s.waits(j, "")
		}
	}
	_, s.turn = s.rules.budget.Signal.At(now)
	if budget := s.engine.Load().Budget; budget != s.told {
		s.told = budget
		s.changes.Pulse()
	}
}

// waits reports why a job waits, unless that was said. The lock is held.
func (s *Scheduler) waits(j *job, reason string) {
	if j.reason == reason {
		return
	}
	j.reason = reason
	s.changes.Report(&j.reported, j.change(protocol.Pending, reason))
}
