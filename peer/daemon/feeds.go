package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/localqueue"
	"github.com/switchyard-hpc/switchyard/peer/daemon/powerbudget"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/peer/node"
)

// openSource makes the feed that a table of the configuration names, and gives it to those who
// ask it: of a built-in feed again after a reload, when its own configuration has changed.
func (d *Daemon) openSource(table pricefeed.Table, take func(pricefeed.Source)) error {
	if plugin := d.cfg.Plugin(config.PriceKind, table.Feed); plugin != nil {
		// One that is not up yet is waited for with the first question.
		started, err := d.plugin(plugin)
		if err == nil {
			take(pricefeed.Source{Feed: started.Feed(), Refresh: started.Wait})
		}
		return err
	}
	file, err := pricefeed.OpenFile(table, take, d.log)
	if err == nil {
		d.feedFiles = append(d.feedFiles, file)
	}
	return err
}

// checkFeeds says what is wrong with the configurations of the built-in feeds, with their sources,
// and with the areas that are asked of them.
func checkFeeds(ctx context.Context, cfg *config.Config) error {
	var errs []error
	if cfg.Prices.Config != "" && cfg.Power.Price == 0 {
		errs = append(errs, pricefeed.Prices(cfg).Check(ctx, "jobs are placed by "))
	}
	return errors.Join(append(errs, powerbudget.CheckFeeds(ctx, cfg))...)
}

// openPrices makes what answers the questions about the prices of electricity, if the
// site has any. What is wrong with the prices themselves is reported when they are asked
// for, and never keeps the peer from scheduling.
func (d *Daemon) openPrices(context.Context) error {
	if d.cfg.Prices.Area == "" {
		return nil
	}
	watch, err := pricefeed.NewWatch(d.cfg.Prices)
	if err != nil {
		return fmt.Errorf("[prices] %w", err)
	}
	if err = d.openSource(pricefeed.Prices(d.cfg), watch.SetSource); err != nil { //nolint:contextcheck // what it starts runs until it is closed
		return err
	}
	d.prices = watch
	d.meter.WatchPrices(watch.Known)
	return nil
}

// nodePrices is what the node asks about prices; nil: the site has none.
func (d *Daemon) nodePrices() node.Prices {
	if d.prices == nil {
		return nil
	}
	return d.prices
}

// openBudget makes the power budget that the batch system begins with.
func (d *Daemon) openBudget(ctx context.Context) error {
	d.budget = powerbudget.New(powerbudget.Config{Site: d.cfg, Prices: d.prices, CPUs: localqueue.KnownCPUs(d.cfg), Log: d.log})
	if table := pricefeed.Series(d.cfg); table.Feed != "" {
		if err := d.openSource(table, d.budget.SetSeries); err != nil { //nolint:contextcheck // what it starts runs until it is closed
			return err
		}
	}
	d.meter.WatchBudget(d.budget.StaleFor)
	return d.budget.Start(ctx)
}

// startBudget keeps the budget from now on.
func (d *Daemon) startBudget(ctx context.Context) error {
	d.launch(ctx, "the power budget", d.budget.Run)
	return nil
}
