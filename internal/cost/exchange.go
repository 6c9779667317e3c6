package cost

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Exchange is what one of each currency is worth in a unit that all share, in millionths;
// [IS 4.2] calls that unit the ECU. It is the same on the whole grid. All worths are above
// 0.
type Exchange map[string]protocol.Micro

// Convert is an amount of one currency in another one, rounded to a millionth, half away
// from zero. A currency needs no worth to be converted to itself.
func (e Exchange) Convert(amount protocol.Micro, from, to string) (protocol.Micro, error) {
	if from == to {
		return amount, nil
	}
	for _, currency := range []string{from, to} {
		if e[currency] <= 0 {
			return 0, fmt.Errorf("%q has no worth in the exchange table; add it to [exchange] worth, with the same number at every site", currency)
		}
	}
	return protocol.Micro(int128.Product(int64(amount), int64(e[from])).Nearest(int64(e[to]))), nil
}
