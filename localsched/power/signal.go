package power

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Unlimited is the budget when none holds: off-peak.
const Unlimited int64 = math.MaxInt64

// Step is a budget from one instant until the next step.
type Step struct {
	At    protocol.Instant
	Limit int64 // milliwatts that running jobs may draw, or [Unlimited]
}

// Signal is a budget over time. Before its first step there is none; the last one lasts
// for ever. A Signal does not change; the zero Signal is no budget at all.
type Signal struct {
	steps []Step
	ahead []ahead // of each step
}

// ahead is what is known of a step and those after it.
type ahead struct {
	most int64            // the largest budget
	free protocol.Instant // the first instant at which none holds, or [End]
}

// signalOf looks ahead once for all questions.
func signalOf(steps []Step) Signal {
	s := Signal{steps: steps, ahead: make([]ahead, len(steps))}
	last := ahead{free: End}
	for i := len(steps) - 1; i >= 0; i-- {
		if last.most = max(last.most, steps[i].Limit); steps[i].Limit == Unlimited {
			last.free = steps[i].At
		}
		s.ahead[i] = last
	}
	return s
}

// NewSignal makes a signal of steps in the order of time. Steps that change nothing are
// dropped. The error names the step.
func NewSignal(steps []Step) (Signal, error) {
	var kept []Step
	limit := Unlimited
	for i, step := range steps {
		if i > 0 && step.At <= steps[i-1].At {
			return Signal{}, fmt.Errorf("step %d at %v does not come after the one before", i, step.At.Time())
		}
		if step.Limit < 0 {
			return Signal{}, fmt.Errorf("step %d at %v: a budget of %d mW; it cannot be negative", i, step.At.Time(), step.Limit)
		}
		if step.Limit != limit {
			kept = append(kept, step)
		}
		limit = step.Limit
	}
	return signalOf(kept), nil
}

// Always is a budget that holds at all times.
func Always(limit int64) Signal { return signalOf([]Step{{At: math.MinInt64, Limit: max(0, limit)}}) }

// At is the budget at an instant, and the first one after it at which it is another;
// [End] when it stays.
func (s Signal) At(now protocol.Instant) (limit int64, until protocol.Instant) {
	next := s.next(now)
	limit, until = Unlimited, End
	if next > 0 {
		limit = s.steps[next-1].Limit
	}
	if next < len(s.steps) {
		until = s.steps[next].At
	}
	return limit, until
}

// next is the first step after an instant.
func (s Signal) next(now protocol.Instant) int {
	return sort.Search(len(s.steps), func(i int) bool { return s.steps[i].At > now })
}

// End is the end of time.
const End protocol.Instant = math.MaxInt64

// Allows is the first instant from now on whose budget is at least a draw: a job that
// draws more than the budget of the day must wait for the night. It is [End] when none is
// known.
func (s Signal) Allows(now protocol.Instant, draw int64) protocol.Instant {
	next := s.next(now)
	if next == 0 || s.steps[next-1].Limit >= draw {
		return now
	}
	for ; next < len(s.steps) && s.ahead[next].most >= draw; next++ {
		if s.steps[next].Limit >= draw {
			return s.steps[next].At
		}
	}
	return End
}

// Free is the first instant from now on at which no budget holds, [End] when none is
// known.
func (s Signal) Free(now protocol.Instant) protocol.Instant {
	next := s.next(now)
	if next == 0 || s.steps[next-1].Limit == Unlimited {
		return now
	}
	return s.ahead[next-1].free
}

// MaxBudget is the largest budget from now on.
func (s Signal) MaxBudget(now protocol.Instant) int64 {
	next := s.next(now)
	if next == 0 {
		return Unlimited
	}
	return s.ahead[next-1].most
}

// Steps are the steps of the signal. They must not be changed.
func (s Signal) Steps() []Step { return s.steps }

// Equal reports whether two signals are the same from an instant on.
func (s Signal) Equal(other Signal, from protocol.Instant) bool {
	a, _ := s.At(from)
	b, _ := other.At(from)
	return a == b && slices.Equal(s.steps[s.next(from):], other.steps[other.next(from):])
}

// Min is the lower of two budgets at every instant.
func Min(a, b Signal) Signal {
	var steps []Step
	limit := Unlimited
	for _, at := range instants(a, b) {
		one, _ := a.At(at)
		two, _ := b.At(at)
		if low := min(one, two); low != limit {
			steps = append(steps, Step{At: at, Limit: low})
			limit = low
		}
	}
	return signalOf(steps)
}

func instants(a, b Signal) []protocol.Instant {
	var all []protocol.Instant
	for _, s := range []Signal{a, b} {
		for _, step := range s.steps {
			all = append(all, step.At)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
