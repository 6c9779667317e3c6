package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Moments are the first three non-central moments of a time: E[X], E[X²] and
// E[X³] in s, s² and s³.
type Moments [3]float64

// Variation is the squared coefficient of variation, Var[X] / E[X]².
func (m Moments) Variation() float64 { return m[1]/(m[0]*m[0]) - 1 }

// HyperErlang is a hyper-Erlang distribution of common order [SS 3.1], in
// seconds: with probability Rho the sum of N exponential stages of rate
// Lambda1, else of N stages of rate Lambda2.
type HyperErlang struct {
	N       int     `json:"n"       toml:"n"`       // stages of either branch, at least 1
	Lambda1 float64 `json:"lambda1" toml:"lambda1"` // per second; the slower branch in the paper's tables and in fits
	Lambda2 float64 `json:"lambda2" toml:"lambda2"` // per second
	Rho     float64 `json:"rho"     toml:"rho"`     // probability of the first branch
}

// maxStages bounds the order of a distribution from a file: a draw costs one
// exponential for each stage.
const maxStages = 1000

// Validate reports the first parameter that no distribution can have.
func (h HyperErlang) Validate() error {
	switch {
	case h.N < 1 || h.N > maxStages:
		return fmt.Errorf("n: %d is not an order from 1 to %d", h.N, maxStages)
	case !isPositive(h.Lambda1):
		return fmt.Errorf("lambda1: %v is not a positive rate per second", h.Lambda1)
	case !isPositive(h.Lambda2):
		return fmt.Errorf("lambda2: %v is not a positive rate per second", h.Lambda2)
	case !(h.Rho >= 0 && h.Rho <= 1):
		return fmt.Errorf("rho: %v is not a probability from 0 to 1", h.Rho)
	}
	if m := h.Moments(); !isPositive(m[0]) || !isPositive(m[1]) || !isPositive(m[2]) {
		return errors.New("lambda1, lambda2: rates so extreme that the moments cannot be computed")
	}
	return nil
}

// isPositive holds for finite numbers above zero, so not for NaN.
func isPositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// Moments returns E[X^k] = n(n+1)…(n+k−1) · (ρ/λ1^k + (1−ρ)/λ2^k), k = 1 to 3.
func (h HyperErlang) Moments() Moments {
	var m Moments
	rising, x, y := 1.0, 1.0, 1.0
	for k := range m {
		rising *= float64(h.N + k)
		x /= h.Lambda1
		y /= h.Lambda2
		m[k] = rising * (h.Rho*x + (1-h.Rho)*y)
	}
	return m
}

// Mean returns E[X] in seconds.
func (h HyperErlang) Mean() float64 { return h.Moments()[0] }

// Times returns the distribution of factor · X.
func (h HyperErlang) Times(factor float64) HyperErlang {
	h.Lambda1 /= factor
	h.Lambda2 /= factor
	return h
}

// longestDraw bounds what is drawn, in seconds: about 140,000 years, so that sums
// of draws stay far from the end of [protocol.Instant].
const longestDraw = float64(1<<52) / 1000

// Sample draws a time, rounded to the nearest millisecond.
func (h HyperErlang) Sample(rng *rand.Rand) protocol.Duration {
	return protocol.Duration(math.Round(h.draw(rng) * 1000))
}

// draw draws a time in seconds. It takes the branch's number first, so that the
// choice of branches of a stream does not depend on the rates.
func (h HyperErlang) draw(rng *rand.Rand) float64 {
	rate := h.Lambda2
	if rng.Float64() < h.Rho {
		rate = h.Lambda1
	}
	sum := 0.0
	for range h.N {
		sum += rng.ExpFloat64()
	}
	return min(sum/rate, longestDraw)
}

// Renewals returns how many events a stream of such inter-arrival times has in
// expectation within span seconds, the first of them one inter-arrival time
// after the start: t/µ + (c²−1)/2 · (1 − e^(−θt)) with the mean µ, the squared
// coefficient of variation c² and θ = (ρλ2 + (1−ρ)λ1)/n. That is the renewal
// function of the hyper-exponential (n = 1); for larger orders it has the same
// asymptote, and the approach to it is an approximation.
func (h HyperErlang) Renewals(span float64) float64 {
	m := h.Moments()
	theta := (h.Rho*h.Lambda2 + (1-h.Rho)*h.Lambda1) / float64(h.N)
	return max(0, span/m[0]-(m.Variation()-1)/2*math.Expm1(-theta*span))
}
