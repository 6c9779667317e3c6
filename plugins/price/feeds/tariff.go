package feeds

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tariff is the configuration of the feed of that name.
type Tariff struct {
	Area     string           `toml:"area"`
	Currency string           `toml:"currency"`
	Zone     Zone             `toml:"zone"`
	Price    *settings.Amount `toml:"price"` // per MWh, when no period has one
	Periods  []Period         `toml:"period"`
	GridFee  settings.Amount  `toml:"grid_fee"`
	Tax      settings.Amount  `toml:"tax"`
}

// Period is a table [[period]]: a [contract.Period].
type Period struct {
	Months months           `toml:"months"`
	Days   days             `toml:"days"`
	Hours  hours            `toml:"hours"`
	Price  *settings.Amount `toml:"price"`
}

// Check finds what is wrong with the configuration.
func (c *Tariff) Check(r *settings.Reader) {
	checkSurcharge(r, c.GridFee, c.Tax)
	if err := priceformat.CheckArea(c.Area); err != nil {
		r.Problem("area", "%v; name the price area that the tariff is for", err)
	}
	if !priceformat.IsCurrency(c.Currency) {
		r.Problem("currency", "invalid currency %q; use three capital letters, such as \"EUR\"", c.Currency)
	}
	checkPrice(r, "price", c.Price)
	if c.Zone.Location == nil {
		r.Problem("zone", "is missing; set the time zone of the contract, such as \"Europe/Berlin\"")
	}
	for i := range c.Periods {
		checkPrice(r, fmt.Sprintf("period[%d].price", i), c.Periods[i].Price)
	}
}

// one is one unit of money.
const one = settings.Amount(1_000_000)

func checkPrice(r *settings.Reader, key string, amount *settings.Amount) {
	most := settings.Amount(priceformat.MaxPriceLimit)
	switch {
	case amount == nil:
		r.Problem(key, "is missing; set the price of a MWh")
	case *amount > most || *amount < -most:
		r.Problem(key, "is beyond ±%s per MWh", priceformat.MaxPriceLimit.Text())
	case *amount > -one && *amount < one && *amount != 0:
		r.Warn(key, "is less than 1 per MWh; is it per kWh?")
	}
}

// Open makes the feed of a configuration without mistakes.
func (c *Tariff) Open() Feed {
	t := contract.Tariff{
		Area: c.Area, Currency: c.Currency, Zone: c.Zone.Location, Price: protocol.Micro(*c.Price),
		Periods: make([]contract.Period, len(c.Periods)),
	}
	for i, p := range c.Periods {
		t.Periods[i] = contract.Period{Months: p.Months.set, Days: p.Days.set, Hours: p.Hours.spans, Price: protocol.Micro(*p.Price)}
	}
	return unchanging{contract.Adjusted(t.Feed(), adjustment(c.GridFee, c.Tax))}
}

// unchanging is a feed that goes by nothing that could change.
type unchanging struct{ price.Feed }

// Refresh implements [Feed].
func (unchanging) Refresh() error { return nil }
