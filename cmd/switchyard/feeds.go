package main

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
func (p *peerProcess) openSource(table pricefeed.Table, take func(pricefeed.Source)) error {
	if plugin := p.cfg.Plugin(config.PriceKind, table.Feed); plugin != nil {
		// One that is not up yet is waited for with the first question.
		started, err := p.plugin(plugin)
		if err == nil {
			take(pricefeed.Source{Feed: started.Feed(), Refresh: started.Wait})
		}
		return err
	}
	file, err := pricefeed.OpenFile(table, take, p.log)
	if err == nil {
		p.feedFiles = append(p.feedFiles, file)
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
// site has any. Whatever is wrong with the prices themselves is told when they are asked
// for, and never keeps the peer from scheduling.
func (p *peerProcess) openPrices(context.Context) error {
	if p.cfg.Prices.Area == "" {
		return nil
	}
	watch, err := pricefeed.NewWatch(p.cfg.Prices)
	if err != nil {
		return fmt.Errorf("[prices] %w", err)
	}
	if err = p.openSource(pricefeed.Prices(p.cfg), watch.SetSource); err != nil { //nolint:contextcheck // what it starts runs until it is closed
		return err
	}
	p.prices = watch
	p.meter.WatchPrices(watch.Known)
	return nil
}

// nodePrices is what the node asks about prices; nil: the site has none.
func (p *peerProcess) nodePrices() node.Prices {
	if p.prices == nil {
		return nil
	}
	return p.prices
}

// openBudget makes the power budget that the batch system begins with.
func (p *peerProcess) openBudget(ctx context.Context) error {
	p.budget = powerbudget.New(powerbudget.Config{Site: p.cfg, Prices: p.prices, CPUs: localqueue.KnownCPUs(p.cfg), Log: p.log})
	if table := pricefeed.Series(p.cfg); table.Feed != "" {
		if err := p.openSource(table, p.budget.SetSeries); err != nil { //nolint:contextcheck // what it starts runs until it is closed
			return err
		}
	}
	p.meter.WatchBudget(p.budget.StaleFor)
	return p.budget.Start(ctx)
}

// startBudget keeps the budget from now on.
func (p *peerProcess) startBudget(ctx context.Context) error {
	p.launch(ctx, "the power budget", p.budget.Run)
	return nil
}

// openQueue opens the local queue.
func (p *peerProcess) openQueue(ctx context.Context) (err error) {
	if p.shim, err = shimLine(ctx, p.log); err != nil {
		return err
	}
	p.queue, err = localqueue.Open(ctx, localqueue.Config{
		Site: p.cfg, Budget: p.budget, Plugin: p.plugin, Shim: p.shim, Log: p.log,
	})
	if err == nil {
		p.closers = append(p.closers, p.queue.Close) // it names its parts
	}
	return err
}
