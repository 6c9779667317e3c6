package cost

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Exchange has the exchange rate of each currency: the value of one unit of it in a common
// unit, in millionths; [IS 4.2] calls that unit the ECU. It is the same on the whole grid.
// All rates are above 0.
type Exchange map[string]protocol.Micro

// Convert is an amount of one currency in another one, rounded to a millionth, half away
// from zero. A currency needs no rate to be converted to itself.
func (e Exchange) Convert(amount protocol.Micro, from, to string) (protocol.Micro, error) {
	if from == to {
		return amount, nil
	}
	for _, currency := range []string{from, to} {
		if e[currency] <= 0 {
			return 0, fmt.Errorf("%q has no exchange rate; add it to [exchange_rates], with the same number at every site", currency)
		}
	}
	return protocol.Micro(int128.Product(int64(amount), int64(e[from])).Nearest(int64(e[to]))), nil
}
