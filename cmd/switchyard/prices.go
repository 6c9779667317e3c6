package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
	_ "time/tzdata" // machines without a time zone database have prices too

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// prices is one call of prices.
type prices struct {
	app *app

	config, feed string // the configuration of a feed, or
	file         priceFileFlags

	area, from, until string
	asCSV             bool
}

// priceFileFlags are the keys of a [[file]] of the feed of files, as flags.
type priceFileFlags struct {
	feeds.PriceFile

	zone, start string
	slot        time.Duration
	maxPrice    int64
}

func (a *app) pricesCommand() *cobra.Command {
	p := prices{app: a}
	cmd := &cobra.Command{
		Use:   "prices FILE --format FORMAT",
		Short: "Check a price file or feed, and print its prices",
		Long: "Read a file of electricity prices as a peer does, or with --config a built-in feed, and print\n" +
			"the prices. Errors are reported with their lines. Prices are per MWh; times are in --zone, or\n" +
			"UTC. docs/prices.md describes the formats and keys.",
		Example: "  switchyard prices elspot-2014.csv.gz --format nordpool --zone Europe/Oslo --currency EUR --area FI\n" +
			"  switchyard prices Indiana.csv --format hourly --zone America/Indiana/Indianapolis \\\n" +
			"      --start \"2014-06-01 00:00\" --currency USD --json\n" +
			"  switchyard prices day-ahead.xml --format entsoe --csv > day-ahead.csv\n" +
			"  switchyard prices --config tariff.toml --feed tariff --from 2026-03-29 --until 2026-03-30",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 == (p.config != "") {
				return usage("give one price file, or a configuration with --config")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			err := p.run(cmd.Context(), args)
			if errors.Is(err, fs.ErrNotExist) {
				return &exitError{code: exitNotFound, err: err}
			}
			return err
		},
	}
	p.file.addTo(cmd)
	cmd.Flags().StringVar(&p.config, "config", "", "TOML configuration of a feed, instead of FILE")
	choice(cmd, &p.feed, "feed", feeds.FileName, "feed that --config is for", feeds.Names()...)
	cmd.Flags().StringVar(&p.area, "area", "", "only this area")
	cmd.Flags().StringVar(&p.from, "from", "", "first time to print, for example \"2026-01-31 00:00\" (default: the first price; for a tariff, now)")
	cmd.Flags().StringVar(&p.until, "until", "", "last time to print (default: the last price; for a tariff, one day)")
	cmd.Flags().BoolVar(&p.asCSV, "csv", false, "print in the format csv")
	return a.listing(cmd)
}

func (f *priceFileFlags) addTo(cmd *cobra.Command) {
	choice(cmd, &f.Format, "format", "", "format of FILE", priceformat.Formats()...)
	cmd.Flags().StringVar(&f.zone, "zone", "", "time zone of the file, for example Europe/Oslo")
	cmd.Flags().StringVar(&f.start, "start", "", "start of the first price of an hourly file")
	choice(cmd, &f.Hours, "hours", feeds.HoursElapsed, "what the lines of an hourly file count", feeds.HoursElapsed, feeds.HoursClock)
	cmd.Flags().StringVar(&f.Currency, "currency", "", "currency of the prices, for example EUR, if the file has none")
	choice(cmd, &f.Unit, "unit", "", "unit of the prices, if the file has none", feeds.UnitMWh)
	cmd.Flags().DurationVar(&f.slot, "slot", 0, "length of a price interval, if the file has none (default: 1h)")
	cmd.Flags().BoolVar(&f.Gaps, "allow-gaps", false, "allow hours without a price; they are reported")
	cmd.Flags().Int64Var(&f.maxPrice, "max-price", 0, "reject prices above this amount per MWh (default: 10000)")
	cmd.Flags().IntVar(&f.Sequence, "sequence", 0, "auction to read from an ENTSO-E document with several")
}

func (p *prices) run(ctx context.Context, args []string) error {
	if err := chosen("feed", p.feed, feeds.Names()...); err != nil {
		return err
	}
	zone, query, err := p.asked()
	if err != nil {
		return err
	}
	feed, err := p.open(args)
	if err != nil {
		return err
	}
	if err = feed.Refresh(); err != nil {
		return err
	}
	set, err := priceformat.OfFeed(ctx, feed, query)
	if errors.Is(err, price.ErrUnknownArea) {
		return &exitError{exitNotFound, err}
	}
	if err != nil {
		return err
	}
	return p.show(set, zone)
}

// asked returns the query, and the time zone of the output.
func (p *prices) asked() (zone *time.Location, query price.Query, err error) {
	zone = time.UTC
	if p.file.zone != "" {
		parsed, wrong := feeds.ParseZone(p.file.zone)
		if wrong != nil {
			return nil, query, usage("--zone: %w", wrong)
		}
		zone, p.file.Zone = parsed.Location, parsed
	}
	query = price.Query{Area: p.area, From: math.MinInt64, Until: math.MaxInt64}
	if p.config != "" && p.feed == feeds.TariffName {
		query.From = protocol.InstantOf(p.app.now())
	}
	if err = instantFlag("from", p.from, zone, &query.From); err != nil {
		return nil, query, err
	}
	if p.config != "" && p.feed == feeds.TariffName {
		query.Until = query.From.Add(protocol.Day)
	}
	err = instantFlag("until", p.until, zone, &query.Until)
	return zone, query, err
}

// instantFlag reads a time of the zone, or one with an offset of its own.
func instantFlag(name, text string, zone *time.Location, at *protocol.Instant) error {
	if text == "" {
		return nil
	}
	if exact, err := time.Parse(time.RFC3339, text); err == nil {
		*at = protocol.InstantOf(exact)
		return nil
	}
	clock, err := priceformat.ParseClock(text)
	if err != nil {
		return usage("--%s: %w", name, err)
	}
	*at = protocol.InstantOf(time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, zone))
	return nil
}

// open makes the feed of the configuration, or of the file that the flags describe.
func (p *prices) open(args []string) (feeds.Feed, error) {
	quiet := slog.New(slog.DiscardHandler) // everything is reported as an error
	if p.config != "" {
		text, err := os.ReadFile(p.config)
		if err != nil {
			return nil, err
		}
		dir, err := filepath.Abs(filepath.Dir(p.config))
		if err != nil {
			return nil, err
		}
		return feeds.Open(p.feed, p.config, dir, string(text), p.area, quiet)
	}
	file, err := p.file.read(args[0])
	if err != nil {
		return nil, err
	}
	only := feeds.File{Files: []feeds.PriceFile{file}}
	if p.area != "" {
		only.Areas = []string{p.area}
	}
	return only.Open(quiet), nil
}

// read returns the table [[file]] that the flags stand for. Errors name the flags.
func (f *priceFileFlags) read(path string) (feeds.PriceFile, error) {
	file := f.PriceFile
	file.Path = settings.Path(path)
	file.Slot = protocol.DurationOf(f.slot)
	if most := int64(priceformat.MaxPriceLimit / micros); f.maxPrice < 0 || f.maxPrice > most {
		return file, usage("invalid --max-price; use a number from 0 to %d", most)
	}
	file.MaxPrice = settings.Amount(f.maxPrice * micros)
	if f.Format == string(priceformat.CSV) || f.Format == string(priceformat.Hourly) {
		file.Area = priceformat.AreaOf(path)
	}
	if f.start != "" {
		start, err := feeds.ParseClock(f.start)
		if err != nil {
			return file, usage("--start: %w", err)
		}
		file.Start = start
	}
	r := settings.NewReader(&file)
	file.Check(r, "")
	list, _ := errors.AsType[problems.List](r.Err())
	var wrong []error
	for _, problem := range list {
		flag := strings.ReplaceAll(problem.Key, "_", "-")
		if flag == "gaps" {
			flag = "allow-gaps"
		}
		wrong = append(wrong, fmt.Errorf("--%s %s", flag, problem.Text))
	}
	if len(wrong) > 0 {
		return file, usage("%w", errors.Join(wrong...))
	}
	return file, nil
}

// micros is how many millionths a unit of money has.
const micros = 1_000_000

// reportGaps prints how long prices are missing between others, which the configuration allows.
func (p *prices) reportGaps(set *priceformat.Set, zone *time.Location) {
	for _, c := range set.Curves {
		missing, first := c.Gaps()
		if missing > 0 {
			p.app.notice("%s has no price for %s, the first time from %s until %s", console.Plain(c.Area), console.Span(missing),
				first.Start.Time().In(zone).Format(slotTime), first.End().Time().In(zone).Format(slotTime))
		}
	}
}

// slotTime is how the time of a price is printed.
const slotTime = "2006-01-02 15:04 -07:00"

func (p *prices) show(set *priceformat.Set, zone *time.Location) error {
	p.reportGaps(set, zone)
	if p.asCSV {
		_, err := p.app.stdout.Write(set.AppendCSV(nil))
		return err
	}
	return p.app.showTable(set.JSON(), func() *console.Table {
		t := console.NewTable("AREA", "START", " LENGTH", " "+set.Currency+"/MWh")
		for _, c := range set.Curves {
			for _, slot := range c.Series.Slots {
				t.Add(console.Plain(c.Area), slot.Start.Time().In(zone).Format(slotTime), console.Span(slot.Length),
					slot.Price.Text())
			}
		}
		return t
	})
}
