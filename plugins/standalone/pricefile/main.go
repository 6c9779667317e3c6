// Command pricefile is the built-in feed of prices in files as a plugin of its own.
package main

import (
	"log/slog"
	"os"
	_ "time/tzdata" // machines without a time zone database have prices too

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

func main() {
	sdk.Main(sdk.Feed[feeds.File]{
		Name: "pricefile", Version: "1.0.0", About: "electricity prices from files, which are read again when they change",
		Check: func(r *sdk.Reader, c *feeds.File) { c.Check(r) },
		Make: func(c feeds.File, _ sdk.Host) (price.Feed, error) {
			return c.Open(slog.New(slog.NewJSONHandler(os.Stderr, nil))), nil
		},
	})
}
