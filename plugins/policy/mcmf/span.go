package mcmf

import (
	"math"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// span is the least and the largest of some values.
type span struct{ least, most int64 }

func emptySpan() span { return span{math.MaxInt64, math.MinInt64} }

func (s *span) include(v int64) { s.least, s.most = min(s.least, v), max(s.most, v) }

// width is how far its ends are apart; 0 when it is empty.
func (s *span) width() int64 {
	if s.most <= s.least {
		return 0
	}
	return int64(min(uint64(s.most)-uint64(s.least), math.MaxInt64)) //nolint:gosec // exact, modulo 2⁶⁴
}

// scaled is where values are in the span, from 0 at the least to whole at the largest
// one (min-max normalisation). In a span without width all are at 0.
func (s *span) scaled(whole int) scaled {
	x := scaled{least: s.least, whole: uint64(whole)} //nolint:gosec // parameters are checked
	if s.most > s.least {
		x.width = uint64(s.most) - uint64(s.least) //nolint:gosec // exact, modulo 2⁶⁴
	}
	return x
}

// scaled is a span and what its width becomes.
type scaled struct {
	least        int64
	width, whole uint64
}

// of is the place of a value, rounded to the nearest, halves up; one outside of the span
// is at its end.
func (x *scaled) of(v int64) uint64 {
	if v <= x.least {
		return 0
	}
	return min(x.whole, x.times(uint64(v)-uint64(x.least))) //nolint:gosec // exact, modulo 2⁶⁴
}

// length is how far apart two values of that distance are.
func (x *scaled) length(d int64) uint64 { return x.times(uint64(max(0, d))) }

// times is d × whole / width. What does not fit is as much as fits.
func (x *scaled) times(d uint64) uint64 {
	if x.width == 0 {
		return 0
	}
	high, low := bits.Mul64(d, x.whole)
	low, carry := bits.Add64(low, x.width/2, 0)
	if high += carry; high >= x.width {
		return math.MaxUint64 - protocol.PPM // so that it can still be rounded
	}
	place, _ := bits.Div64(high, low, x.width)
	return min(place, math.MaxUint64-protocol.PPM)
}

// middle is the place halfway, rounded up.
func (x *scaled) middle() uint64 {
	if x.width == 0 {
		return 0
	}
	return (x.whole + 1) / 2
}
