package rounds

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// Outcomes are those of a policy's decisions that it has not been given, oldest first. The zero
// value has none.
type Outcomes struct {
	first   uint64 // how many were removed: the number of pending[0]
	pending []policy.Outcome
}

// Add appends an outcome. Beyond [policy.MaxOutcomes] the oldest one is dropped.
func (o *Outcomes) Add(one policy.Outcome) {
	o.pending = append(o.pending, one)
	if n := len(o.pending) - policy.MaxOutcomes; n > 0 {
		o.remove(n)
	}
}

// Pending returns the outcomes for a snapshot, and the number that [Outcomes.Delivered] takes
// once the policy has decided with them.
func (o *Outcomes) Pending() (outcomes []policy.Outcome, end uint64) {
	if len(o.pending) == 0 {
		return nil, o.first
	}
	return slices.Clone(o.pending), o.first + uint64(len(o.pending))
}

// Delivered removes what Pending returned with this number. What was added since stays, and what
// another round has removed meanwhile is not removed again.
func (o *Outcomes) Delivered(end uint64) {
	if end > o.first {
		o.remove(int(end - o.first)) //nolint:gosec // at most MaxOutcomes
	}
}

func (o *Outcomes) remove(n int) {
	o.pending = slices.Delete(o.pending, 0, n)
	o.first += uint64(n) //nolint:gosec // not negative
}
