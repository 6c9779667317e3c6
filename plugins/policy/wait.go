package policy

import (
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// WaitCost is K_w from now until d from now, rounded to a millionth, half up: the integral
// of WaitingCost ([IS 4.2]). What it has cost before is in WaitedCost. What would overflow is the largest amount.
func (a *Application) WaitCost(d protocol.Duration) protocol.Micro {
	var total int128.Number
	for i, rate := range a.WaitingCost {
		until := d
		if i+1 < len(a.WaitingCost) {
			until = min(d, a.WaitingCost[i+1].From)
		}
		if until > rate.From && rate.PerHour > 0 {
			total = total.Plus(int128.Product(int64(until-rate.From), int64(rate.PerHour)))
		}
	}
	return protocol.Micro(total.Nearest(int64(protocol.Hour)))
}
