package contract

import (
	"context"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Percent is a share in millionths of a percent: 19 % is 19,000,000.
type Percent int64

// whole is a hundred percent.
const whole Percent = 100_000_000

// MaxTax is the highest tax that may be set.
const MaxTax = 10 * whole

// Adjustment is what is paid above the price of the energy.
type Adjustment struct {
	GridFee protocol.Micro // per MWh, added first
	Tax     Percent        // of price and fee together, 0 to [MaxTax]
}

// Apply is what a MWh costs at this price, rounded to a millionth, half away from zero.
// The tax of a negative price is negative. What would overflow is the largest amount, or its
// negative.
func (a Adjustment) Apply(amount protocol.Micro) protocol.Micro {
	sum := amount.Plus(a.GridFee)
	return protocol.Micro(int128.Product(int64(sum), int64(whole+a.Tax)).Nearest(int64(whole)))
}

// Adjusted is a feed whose prices are those of another one with fee and tax.
func Adjusted(of price.Feed, by Adjustment) price.Feed {
	if by == (Adjustment{}) {
		return of
	}
	return adjusted{of, by}
}

type adjusted struct {
	price.Feed

	by Adjustment
}

// Prices implements [price.Feed].
func (f adjusted) Prices(ctx context.Context, query price.Query) (price.Series, error) {
	s, err := f.Feed.Prices(ctx, query)
	if err != nil {
		return price.Series{}, err
	}
	s.Slots = slices.Clone(s.Slots) // they may be the other feed's own
	for i := range s.Slots {
		s.Slots[i].Price = f.by.Apply(s.Slots[i].Price)
	}
	return s, nil
}
