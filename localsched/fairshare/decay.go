package fairshare

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// One is the fixed-point number 1: shares, parts of all use and factors are between 0 and One.
const One = 1 << 32

// Period is how often use decays.
const Period = protocol.Hour

// PeriodOf numbers the period in which an instant is.
func PeriodOf(at protocol.Instant) int64 {
	period := int64(at) / int64(Period)
	if int64(at)%int64(Period) < 0 {
		period--
	}
	return period
}

// roots are 2^-(2^-i) for i from 1 on, in units of 2⁻⁶⁴, rounded down.
var roots = [32]uint64{ //nolint:gochecknoglobals // a table
	0xb504f333f9de6484, 0xd744fccad69d6af4, 0xeac0c6e7dd24392e, 0xf5257d152486cc2c,
	0xfa83b2db722a033a, 0xfd3e0c0cf486c174, 0xfe9e115c7b8f884b, 0xff4ecb59511ec8a5,
	0xffa756521c8daed1, 0xffd3a751c0f7e10b, 0xffe9d2b2f7db2755, 0xfff4e91bff1b8c3d,
	0xfffa747ea0040664, 0xfffd3a3b7814eb53, 0xfffe9d1cc60ddab1, 0xffff4e8e25879bfa,
	0xffffa7470363f451, 0xffffd3a37dda0313, 0xffffe9d1bdf703ae, 0xfffff4e8debe025e,
	0xfffffa746f4fa150, 0xfffffd3a37a3f8b0, 0xfffffe9d1bd1065a, 0xffffff4e8de845ad,
	0xffffffa746f41376, 0xffffffd3a37a05e3, 0xffffffe9d1bd01fb, 0xfffffff4e8de80c0,
	0xfffffffa746f4050, 0xfffffffd3a37a024, 0xfffffffe9d1bd011, 0xffffffff4e8de808,
}

// exp2 is 2^-x in units of 2⁻⁶⁴, for x in units of 2⁻³²; 1 is rounded down to 1-2⁻⁶⁴. It falls strictly
// as x rises, until it is 0.
func exp2(x uint64) uint64 {
	whole := x >> 32
	if whole >= 64 {
		return 0
	}
	result := uint64(math.MaxUint64)
	for i, root := range roots {
		if x>>(31-i)&1 == 1 {
			result, _ = bits.Mul64(result, root)
		}
	}
	return result >> whole
}

// Decay is how use is forgotten.
type Decay struct {
	perPeriod uint64 // what is left of use after a period, in units of 2⁻⁶⁴
}

// NewDecay is the decay that leaves half of the use after a half-life of a period or more.
func NewDecay(halfLife protocol.Duration) Decay {
	high, low := bits.Mul64(uint64(Period), One)
	exponent, _ := bits.Div64(high, low, uint64(max(halfLife, Period)))
	return Decay{exp2(exponent)}
}

// after is what is left of an amount after a number of periods.
func (d Decay) after(amount, periods int64) int64 {
	for ; periods > 0 && amount > 0; periods-- {
		left, _ := bits.Mul64(uint64(amount), d.perPeriod)
		amount = int64(left) //nolint:gosec // less than amount
	}
	return amount
}

// Use is an amount that somebody has used.
type Use struct {
	Period int64 `json:"period"` // as which it has decayed so far
	Amount int64 `json:"cpu_ms"` // CPU·ms, at most [math.MaxInt64]
}

// In is what is left of the use in a period, which is not before its own.
func (d Decay) In(u Use, period int64) Use {
	if period <= u.Period {
		return u
	}
	return Use{Period: period, Amount: d.after(u.Amount, period-u.Period)}
}

// Of is the use of CPUs from an instant to another one, as it has decayed in the period of the latter.
func (d Decay) Of(cpus int, from, to protocol.Instant) Use {
	u := Use{Period: PeriodOf(from)}
	for last := PeriodOf(to); ; u = d.In(u, u.Period+1) {
		end := min(to, protocol.Instant((u.Period+1)*int64(Period)))
		u.Amount = Plus(u.Amount, CPUTime(cpus, end.Sub(from)))
		from = end
		if u.Period >= last {
			return u
		}
	}
}

// Sum is the use of both, in the later one's period.
func (d Decay) Sum(a, b Use) Use {
	period := max(a.Period, b.Period)
	return Use{Period: period, Amount: Plus(d.In(a, period).Amount, d.In(b, period).Amount)}
}

// Compare orders what one site says at different times of the use of one user. Use that only it adds to is less at every
// earlier time: it has decayed for fewer periods, or in the same one it was a smaller amount.
func (u Use) Compare(other Use) int {
	return cmp.Or(cmp.Compare(u.Period, other.Period), cmp.Compare(u.Amount, other.Amount))
}

// Most is the use of a machine of which all CPUs have always run jobs: the most that all its users can have together, in
// CPU·ms.
func (d Decay) Most(cpus int) int64 {
	full, gone := uint64(CPUTime(cpus, Period)), -d.perPeriod //nolint:gosec // not negative; what goes is of 2⁶⁴
	if full >= gone {
		return math.MaxInt64
	}
	most, _ := bits.Div64(full, 0, gone)
	return int64(min(most, math.MaxInt64))
}

// Scaled is an amount of a total, in proportion, if the total is to be no more than most.
func Scaled(amount, total, most int64) int64 {
	if total <= most {
		return amount
	}
	return int64(fraction(uint64(max(0, amount)), most, total)) //nolint:gosec // at most amount
}

// Plus is a sum of numbers that are not negative, at most the largest int64.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// CPUTime is a number of CPUs times a time, in CPU·ms, at most the largest int64; 0 for a time that is not positive.
func CPUTime(cpus int, time protocol.Duration) int64 {
	high, low := bits.Mul64(uint64(max(0, cpus)), uint64(max(0, time)))
	if high == 0 && low <= math.MaxInt64 {
		return int64(low)
	}
	return math.MaxInt64
}
