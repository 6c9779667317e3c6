// Command tariff is the built-in feed of prices by contract as a plugin of its own.
package main

import (
	_ "time/tzdata" // machines without a time zone database have prices too

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

func main() {
	sdk.Main(sdk.Feed[feeds.Tariff]{
		Name: "tariff", Version: "1.0.0", About: "electricity prices by contract: fixed, or by month, weekday and hour",
		Check: func(r *sdk.Reader, c *feeds.Tariff) { c.Check(r) },
		Make:  func(c feeds.Tariff, _ sdk.Host) (price.Feed, error) { return c.Open(), nil },
	})
}
