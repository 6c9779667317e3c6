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
type Signal struct{ steps []Step }

// NewSignal makes a signal of steps in the order of time. Steps that change nothing are
// dropped. The error names the step.
func NewSignal(steps []Step) (Signal, error) {
	var s Signal
	limit := Unlimited
	for i, step := range steps {
		if i > 0 && step.At <= steps[i-1].At {
			return Signal{}, fmt.Errorf("step %d at %v does not come after the one before", i, step.At.Time())
		}
		if step.Limit < 0 {
			return Signal{}, fmt.Errorf("step %d at %v: a budget of %d mW; it cannot be negative", i, step.At.Time(), step.Limit)
		}
		if step.Limit != limit {
			s.steps = append(s.steps, step)
		}
		limit = step.Limit
	}
	return s, nil
}

// Always is a budget that holds at all times.
func Always(limit int64) Signal {
	return Signal{steps: []Step{{At: math.MinInt64, Limit: max(0, limit)}}}
}

// At is the budget at an instant, and the first one after it at which it is another;
// [End] when it stays.
func (s Signal) At(now protocol.Instant) (limit int64, until protocol.Instant) {
	next := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].At > now })
	limit, until = Unlimited, End
	if next > 0 {
		limit = s.steps[next-1].Limit
	}
	if next < len(s.steps) {
		until = s.steps[next].At
	}
	return limit, until
}

// End is the end of time.
const End protocol.Instant = math.MaxInt64

// Allows is the first instant from now on whose budget is at least a draw: a job that
// draws more than the budget of the day must wait for the night. It is [End] when none is
// known.
func (s Signal) Allows(now protocol.Instant, draw int64) protocol.Instant {
	limit, until := s.At(now)
	for limit < draw {
		if until == End {
			return End
		}
		now = until
		limit, until = s.At(now)
	}
	return now
}

// Free is the first instant from now on at which no budget holds, [End] when none is
// known.
func (s Signal) Free(now protocol.Instant) protocol.Instant { return s.Allows(now, Unlimited) }

// Most is the largest budget from now on.
func (s Signal) Most(now protocol.Instant) int64 {
	most, until := s.At(now)
	for until != End {
		limit, next := s.At(until)
		most, until = max(most, limit), next
	}
	return most
}

// Steps are the steps of the signal. They must not be changed.
func (s Signal) Steps() []Step { return s.steps }

// Equal says whether two signals are the same from an instant on.
func (s Signal) Equal(other Signal, from protocol.Instant) bool {
	a, _ := s.At(from)
	b, _ := other.At(from)
	return a == b && slices.Equal(s.after(from), other.after(from))
}

func (s Signal) after(from protocol.Instant) []Step {
	next := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].At > from })
	return s.steps[next:]
}

// Min is the lower of two budgets at every instant.
func Min(a, b Signal) Signal {
	var s Signal
	limit := Unlimited
	for _, at := range instants(a, b) {
		one, _ := a.At(at)
		two, _ := b.At(at)
		if low := min(one, two); low != limit {
			s.steps = append(s.steps, Step{At: at, Limit: low})
			limit = low
		}
	}
	return s
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
