package policy

import (
	"math"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// WaitCost is K_w from now until d from now, rounded to a millionth, half up: the integral
// of Waiting ([IS 4.2]). What would overflow is the largest amount.
func (a *Application) WaitCost(d protocol.Duration) protocol.Micro {
	var high, low uint64
	for i, rate := range a.Waiting {
		until := d
		if i+1 < len(a.Waiting) {
			until = min(d, a.Waiting[i+1].From)
		}
		if until <= rate.From || rate.PerHour <= 0 {
			continue
		}
		h, l := bits.Mul64(uint64(until-rate.From), uint64(rate.PerHour)) //nolint:gosec // both are positive
		var carry uint64
		low, carry = bits.Add64(low, l, 0)
		high, carry = bits.Add64(high, h, carry)
		if carry > 0 {
			return math.MaxInt64
		}
	}
	low, carry := bits.Add64(low, uint64(protocol.Hour)/2, 0)
	if high += carry; high >= uint64(protocol.Hour) {
		return math.MaxInt64
	}
	cost, _ := bits.Div64(high, low, uint64(protocol.Hour))
	return protocol.Micro(min(cost, math.MaxInt64))
}
