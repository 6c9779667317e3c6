package main

import (
	"log/slog"
	"os"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

func pricesFromFiles() sdk.Plugin {
	return sdk.Feed[feeds.File]{
		Name: "pricefile", Version: version, About: "electricity prices from files, which are read again when they change",
		Check: func(r *sdk.Reader, c *feeds.File) { c.Check(r) },
		Make: func(c feeds.File, _ sdk.Host) (price.Feed, error) {
			return c.Open(slog.New(slog.NewJSONHandler(os.Stderr, nil))), nil
		},
	}
}

func pricesByContract() sdk.Plugin {
	return sdk.Feed[feeds.Tariff]{
		Name: "tariff", Version: version, About: "electricity prices by contract: fixed, or by month, weekday and hour",
		Check: func(r *sdk.Reader, c *feeds.Tariff) { c.Check(r) },
		Make:  func(c feeds.Tariff, _ sdk.Host) (price.Feed, error) { return c.Open(), nil },
	}
}
