package cost

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// WaitingCost is what waiting for results costs: k_w(t) of [IS 4.2], the sum of its parts.
type WaitingCost struct {
	Currency string
	Parts    []WaitingPart
}

// WaitingPart is a rate of waiting. The set is closed.
//
//sumtype:decl
type WaitingPart interface {
	// rates are those from now for so long, at least one, the first from 0.
	rates(submitted, now protocol.Instant, d protocol.Duration) []protocol.WaitingRate
}

// Salary is what people who wait for results cost, by the clock: their pay in working
// hours and nothing else ([IS Figure 2] left).
type Salary struct{ Curve *Curve }

// Steps is a rate that changes at certain times, as that of a product which must be on the
// market by a date ([IS Figure 2] right), or any other that a user draws.
type Steps struct {
	Before protocol.Micro // an hour, until the first step
	Steps  []Step         // in any order; of two at one time the later one counts
}

// Step is a change of a rate.
type Step struct {
	At      protocol.Instant  // 0: After counts
	After   protocol.Duration // the submission
	PerHour protocol.Micro    // from then on
}

// The limits of what [Waiting.Rates] tells one by one; what comes later costs the mean of
// what it is until [Horizon].
const (
	MaxRates = 1024
	Horizon  = 366 * protocol.Day
)

// Rates are what waiting costs from now until so much later, of an application that was
// submitted at an instant, and their currency. It implements rules.WaitingCost.
func (w *WaitingCost) Rates(submitted, now protocol.Instant, until protocol.Duration) ([]protocol.WaitingRate, string) {
	span := min(max(until, protocol.Millisecond), Horizon)
	sum := []protocol.WaitingRate{{}}
	for _, part := range w.Parts {
		sum = add(sum, part.rates(submitted, now, span))
	}
	if len(sum) > MaxRates-1 {
		from := sum[MaxRates-2].From
		sum[MaxRates-2].PerHour = mean(sum[MaxRates-2:], from, span)
		sum = sum[:MaxRates-1]
	}
	if until > Horizon {
		sum = appendRate(sum, Horizon, mean(sum, 0, Horizon))
	}
	return sum, w.Currency
}

func (s Salary) rates(_, now protocol.Instant, d protocol.Duration) (all []protocol.WaitingRate) {
	for piece := range s.Curve.Pieces(now, now.Add(d)) {
		all = appendRate(all, piece.From.Sub(now), piece.PerHour)
	}
	return all
}

func (s Steps) rates(submitted, now protocol.Instant, d protocol.Duration) []protocol.WaitingRate {
	steps := make([]Step, len(s.Steps))
	for i, step := range s.Steps {
		step.At = cmp.Or(step.At, submitted.Add(step.After))
		steps[i] = step
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	all := []protocol.WaitingRate{{PerHour: s.Before}}
	for _, step := range steps {
		from := max(0, step.At.Sub(now))
		if from >= d {
			break
		}
		if from == all[len(all)-1].From {
			all = all[:len(all)-1]
		}
		all = appendRate(all, from, step.PerHour)
	}
	return all
}

// appendRate adds a rate that is another one than the last.
func appendRate(all []protocol.WaitingRate, from protocol.Duration, perHour protocol.Micro) []protocol.WaitingRate {
	if n := len(all); n > 0 && all[n-1].PerHour == perHour {
		return all
	}
	return append(all, protocol.WaitingRate{From: from, PerHour: perHour})
}

// add is the sum of two lists of rates that begin at 0.
func add(a, b []protocol.WaitingRate) (sum []protocol.WaitingRate) {
	var nowA, nowB protocol.Micro
	for len(a) > 0 || len(b) > 0 {
		from := min(begin(a), begin(b))
		if begin(a) == from {
			nowA, a = a[0].PerHour, a[1:]
		}
		if begin(b) == from {
			nowB, b = b[0].PerHour, b[1:]
		}
		sum = appendRate(sum, from, nowA.Plus(nowB))
	}
	return sum
}

// begin is when the first rate does.
func begin(rates []protocol.WaitingRate) protocol.Duration {
	if len(rates) == 0 {
		return protocol.Never
	}
	return rates[0].From
}

// mean is that of rates between two times, rounded.
func mean(rates []protocol.WaitingRate, from, until protocol.Duration) protocol.Micro {
	var total int128.Number
	for i, rate := range rates {
		end := until
		if i+1 < len(rates) {
			end = min(end, rates[i+1].From)
		}
		total = total.Plus(int128.Product(int64(rate.PerHour), int64(max(0, end-max(rate.From, from)))))
	}
	return protocol.Micro(total.Nearest(int64(max(1, until-from))))
}
