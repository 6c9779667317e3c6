// Package int128 is whole numbers of 128 bits, in which products and sums of money, power and
// time are kept until they are rounded, once.
package int128

import (
	"math"
	"math/bits"
)

// Number is a whole number between -(2¹²⁷-1) and 2¹²⁷-1. What would be beyond stays at the
// largest or the least. The zero value is 0.
type Number struct {
	high int64 // two's complement
	low  uint64
}

func largest() Number { return Number{high: math.MaxInt64, low: math.MaxUint64} }

// Whole is a itself.
func Whole(a int64) Number { return Product(a, 1) }

// Product is a·b.
func Product(a, b int64) Number {
	high, low := bits.Mul64(size(a), size(b))
	of := Number{high: int64(high), low: low} //nolint:gosec // at most 2⁶²
	if (a < 0) != (b < 0) {
		return of.Negative()
	}
	return of
}

// size is the absolute value.
func size(a int64) uint64 {
	if a < 0 {
		return -uint64(a) //nolint:gosec // two's complement
	}
	return uint64(a)
}

// Negative is -n.
func (n Number) Negative() Number {
	low, borrow := bits.Sub64(0, n.low, 0)
	return Number{high: -n.high - int64(borrow), low: low} //nolint:gosec // 0 or 1
}

// Plus is n+m.
func (n Number) Plus(m Number) Number {
	low, carry := bits.Add64(n.low, m.low, 0)
	high := n.high + m.high + int64(carry) //nolint:gosec // 0 or 1
	if n.high < 0 && m.high < 0 && (high >= 0 || high == math.MinInt64 && low == 0) {
		return largest().Negative()
	}
	if n.high >= 0 && m.high >= 0 && high < 0 {
		return largest()
	}
	return Number{high: high, low: low}
}

// Times is n·by.
func (n Number) Times(by int64) Number {
	if (n.high < 0) != (by < 0) {
		return n.magnitude().times(size(by)).Negative()
	}
	return n.magnitude().times(size(by))
}

func (n Number) magnitude() Number {
	if n.high < 0 {
		return n.Negative()
	}
	return n
}

// times is n·by for an n that is not negative.
func (n Number) times(by uint64) Number {
	carry, low := bits.Mul64(n.low, by)
	over, high := bits.Mul64(uint64(n.high), by) //nolint:gosec // not negative
	high, more := bits.Add64(high, carry, 0)
	if over+more > 0 || high > math.MaxInt64 {
		return largest()
	}
	return Number{high: int64(high), low: low}
}

// Down is n divided by numbers above 0, rounded towards -∞. Here and below, what an int64
// does not hold is ±[math.MaxInt64].
func (n Number) Down(by ...int64) int64 {
	if n.high < 0 {
		return -n.Negative().Up(by...)
	}
	return n.over(by).narrow()
}

// Up is n divided by numbers above 0, rounded towards +∞.
func (n Number) Up(by ...int64) int64 {
	if n.high < 0 {
		return -n.Negative().Down(by...)
	}
	return n.Plus(all(by).Plus(Whole(-1))).over(by).narrow()
}

// Nearest is n divided by numbers above 0, rounded to the nearest, halves away from 0.
func (n Number) Nearest(by ...int64) int64 {
	if n.high < 0 {
		return -n.Negative().Nearest(by...)
	}
	return n.Plus(all(by).over([]int64{2})).over(by).narrow()
}

// all is the product of all.
func all(by []int64) Number {
	product := Whole(1)
	for _, one := range by {
		product = product.Times(one)
	}
	return product
}

// over divides a number that is not negative, rounding down.
func (n Number) over(by []int64) Number {
	for _, one := range by {
		high, divisor := uint64(n.high), uint64(one) //nolint:gosec // neither is negative
		low, _ := bits.Div64(high%divisor, n.low, divisor)
		n = Number{high: int64(high / divisor), low: low} //nolint:gosec // no more than before
	}
	return n
}

// narrow is a number that is not negative, or the largest that an int64 holds.
func (n Number) narrow() int64 {
	if n.high > 0 || n.low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n.low)
}
