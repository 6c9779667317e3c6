package peertest

import (
	"errors"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// HourlyPrices are prices in whole units per MWh, hour by hour from [Epoch] on. All of
// them are published; their two prices are their least and their highest, every hour in
// turn.
func HourlyPrices(currency string, units ...int64) Prices {
	var hourly, two price.Series
	least, highest := units[0], units[0]
	for _, one := range units {
		least, highest = min(least, one), max(highest, one)
	}
	add := func(s *price.Series, hour int, units int64) {
		start := Epoch.Add(protocol.Duration(hour) * protocol.Hour)
		s.Slots = append(s.Slots, price.Slot{Start: start, Length: protocol.Hour, Price: protocol.Micro(units) * protocol.Unit})
	}
	for hour, one := range units {
		add(&hourly, hour, one)
		add(&two, hour, []int64{least, highest}[hour%2])
	}
	known := hourly.Slots[len(hourly.Slots)-1].End()
	return func(price.Query) (price.Forecast, error) {
		return price.Forecast{Prices: hourly, TwoPrice: two, PublishedUntil: known, Currency: currency}, nil
	}
}

// errFeedDown answers while a script has a site's feed down.
var errFeedDown = errors.New("the feed is down")
