package step

import (
	"math/rand/v2"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Dice is a peer's own sequence of random numbers. The same seed gives the same sequence.
type Dice struct{ state rand.PCG }

// NewDice begins the sequence of a seed at a site.
func NewDice(seed uint64, site protocol.SiteNumber) Dice {
	return Dice{*rand.NewPCG(seed, uint64(site))}
}

// Rand draws from the sequence.
func (d *Dice) Rand() *rand.Rand { return rand.New(&d.state) }

// Jitter spreads a span over 75 to 125 % of itself, so that peers do not act in
// step.
func (d *Dice) Jitter(span protocol.Duration) protocol.Duration {
	if span < 4 {
		return span
	}
	return span*3/4 + protocol.Duration(d.Rand().Int64N(int64(span/2)))
}

// Backoff is the pause before the next repetition after a number of tries: the first one, doubled
// with each try up to the most, with [Dice.Jitter].
func (d *Dice) Backoff(tries int, first, most protocol.Duration) protocol.Duration {
	pause := first
	for range min(tries, 20) {
		if pause >= most {
			break
		}
		pause *= 2
	}
	return d.Jitter(min(pause, most))
}
