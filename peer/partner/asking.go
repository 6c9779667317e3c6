package partner

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Volunteering is what a partner's last availability message is still good for.
type Volunteering struct {
	Number uint64           // of the message, among all that were heard
	Heard  protocol.Instant // when it came; 0: none has
	Until  protocol.Instant // it is not valid then any more
	Left   int              // jobs that it may still bring into rounds, unless that is AnyNumber

	AnyNumber bool // it may bring all jobs into rounds; Left is 0
}

// Live says whether the partner would take jobs now.
func (v *Volunteering) Live(now protocol.Instant) bool {
	return now < v.Until && (v.AnyNumber || v.Left > 0)
}

// Renew takes the next message of a partner. It says whether that is only the same again soon after,
// which must not make all jobs ask again.
func (v *Volunteering) Renew(now, until protocol.Instant, sigma protocol.Duration) (same bool) {
	if v.Heard == 0 || now.Sub(v.Heard) >= sigma/4 {
		return false
	}
	v.Until = until
	return true
}

// For says whether the partner would take a job now for which the volunteer of that number has lost.
func (v *Volunteering) For(lost uint64, now protocol.Instant) bool {
	return v.Live(now) && lost != v.Number
}

// Use takes one of the jobs that the message may bring into rounds.
func (v *Volunteering) Use() {
	if v.Left > 0 {
		v.Left--
	}
}

// Choose picks whom a round asks: the least utilised, equals in the order that the shuffle gives, and
// last those in doubt. What it returns is sorted by name, as the candidates are.
func Choose(candidates []*Partner, limit int, shuffle func(n int, swap func(i, j int))) []*Partner {
	if len(candidates) <= limit {
		return candidates
	}
	shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	slices.SortStableFunc(candidates, Order)
	chosen := candidates[:limit]
	slices.SortFunc(chosen, func(a, b *Partner) int { return cmp.Compare(a.Site, b.Site) })
	return chosen
}

// Order is how partners are asked: first those that keep their quotes, then the least utilised.
func Order(a, b *Partner) int {
	return cmp.Or(compareBools(a.Row.Quality.Doubtful, b.Row.Quality.Doubtful), cmp.Compare(a.Load.RUS(), b.Load.RUS()))
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
