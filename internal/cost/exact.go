package cost

import (
	"math"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// exact is a signed number of 128 bits, in which integrals of money over time are kept until
// they are rounded. What would overflow stays at the largest or least number.
type exact struct {
	high int64
	low  uint64
}

// largest is the largest exact number; the least one is its negative.
func largest() exact { return exact{high: math.MaxInt64, low: math.MaxUint64} }

// product is a·b.
func product(a, b int64) exact {
	high, low := bits.Mul64(size(a), size(b))
	of := exact{high: int64(high), low: low} //nolint:gosec // at most 2⁶²
	if (a < 0) != (b < 0) {
		return of.negative()
	}
	return of
}

// size is the absolute value.
func size(a int64) uint64 {
	bits := uint64(a) //nolint:gosec // the sign is looked at next
	if a < 0 {
		return -bits
	}
	return bits
}

func (e exact) negative() exact {
	low, borrow := bits.Sub64(0, e.low, 0)
	return exact{high: -e.high - int64(borrow), low: low} //nolint:gosec // 0 or 1
}

func (e exact) plus(f exact) exact {
	low, carry := bits.Add64(e.low, f.low, 0)
	high := e.high + f.high + int64(carry) //nolint:gosec // 0 or 1
	if e.high < 0 == (f.high < 0) && high < 0 != (e.high < 0) {
		if e.high < 0 {
			return largest().negative()
		}
		return largest()
	}
	return exact{high: high, low: low}
}

// times is e·n for an n that is not negative; a negative one counts as 0.
func (e exact) times(n int64) exact {
	if e.high < 0 {
		return e.negative().times(n).negative()
	}
	by := uint64(max(0, n))
	carry, low := bits.Mul64(e.low, by)
	over, high := bits.Mul64(uint64(e.high), by)
	high, more := bits.Add64(high, carry, 0)
	if over+more > 0 || high > math.MaxInt64 {
		return largest()
	}
	return exact{high: int64(high), low: low}
}

// over divides by a·b, both above 0, and rounds to the nearest, halves away from 0.
func (e exact) over(a, b int64) protocol.Micro {
	if e.high < 0 {
		return -e.negative().over(a, b)
	}
	half := product(a, b).floor(2)
	quotient := e.plus(half).floor(size(a)).floor(size(b))
	if quotient.high > 0 || quotient.low > math.MaxInt64 {
		return math.MaxInt64
	}
	return protocol.Micro(quotient.low)
}

// floor divides a number that is not negative by n, rounding down.
func (e exact) floor(n uint64) exact {
	high := uint64(e.high) //nolint:gosec // not negative
	low, _ := bits.Div64(high%n, e.low, n)
	return exact{high: int64(high / n), low: low} //nolint:gosec // no more than before
}

// ratio is a·b/c for whole numbers that are not negative, rounded to the nearest; within
// what an int64 holds.
func ratio(a, b, c int64) int64 { return int64(product(a, b).over(c, 1)) }
