package powerbudget

import (
	"context"
	"errors"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
)

// CheckFeeds says what is wrong with the built-in feeds that the power budget of a configuration
// goes by. What a plugin knows, only the plugin can tell.
func CheckFeeds(ctx context.Context, cfg *config.Config) error {
	var errs []error
	for _, table := range builtInFeeds(cfg) {
		errs = append(errs, checkFeed(ctx, table))
	}
	return errors.Join(errs...)
}

// builtInFeeds are those that the power budget of a configuration goes by.
func builtInFeeds(cfg *config.Config) (all []pricefeed.Table) {
	if cfg.Power.Price != 0 && cfg.Prices.Config != "" {
		all = append(all, pricefeed.Prices(cfg))
	}
	if cfg.Power.Series.Config != "" {
		all = append(all, pricefeed.Series(cfg))
	}
	return all
}

// checkFeed says why a built-in feed would tell nothing, or not all.
func checkFeed(ctx context.Context, table pricefeed.Table) error {
	return table.Check(ctx, "the power budget goes by ")
}

// checkFirst says what is wrong with built-in feeds that have never answered. One that once did
// keeps no peer from starting.
func (a feedAnswers) checkFirst(ctx context.Context, cfg *config.Config) error {
	var errs []error
	for _, table := range builtInFeeds(cfg) {
		answer := a.Series
		if table.Name == "prices" {
			answer = a.Prices
		}
		if answer == nil {
			errs = append(errs, checkFeed(ctx, table))
		}
	}
	return errors.Join(errs...)
}
