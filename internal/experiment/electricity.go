package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/plugins/price/filefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Electricity says when the experiment takes place and what sites know of prices. That
// there is electricity at all is for the sites to say: then all have it.
type Electricity struct {
	Start    string `toml:"start"` // what clocks show at the beginning, see [Plan.calendar]
	Zone     string `toml:"zone"`
	Forecast string `toml:"forecast"` // as [forecast.Named] has it, or [priceforecast.Known]
}

// electric says whether the plan's sites have electricity.
func (p *Plan) electric() bool {
	return slices.ContainsFunc(p.Sites, func(s Site) bool { return s.electric() })
}

// electric says whether the site has prices of electricity.
func (s *Site) electric() bool {
	if s.live != nil {
		return s.Power.WattsPerCPU > 0 && s.fed()
	}
	return s.Price != nil || s.PriceFile != nil || s.fed()
}

// fed says whether a feed has the site's prices, as at a live site.
func (s *Site) fed() bool { return s.Prices.Area != "" }

// zone is the time zone of a site.
func (p *Plan) zone(s *Site) (*time.Location, error) {
	zone, err := feeds.ParseZone(cmp.Or(s.Prices.TimeZone, p.Electricity.Zone))
	return zone.Location, err
}

// priceFile is the site's file of prices, with what the site says in place of what the
// table leaves out.
func (p *Plan) priceFile(s *Site) feeds.PriceFile {
	from := *s.PriceFile
	if from.Currency == "" {
		from.Currency = p.Currency
	}
	if priceformat.Format(from.Format) != priceformat.Hourly {
		return from
	}
	if from.Area == "" {
		from.Area = s.Name
	}
	if from.Zone.Location == nil {
		from.Zone.Location, _ = p.zone(s) // checked with the site
	}
	return from
}

// contract is the site's tariff.
func (p *Plan) contract(s *Site, zone *time.Location) feeds.Tariff {
	return feeds.Tariff{
		Area: s.Name, Currency: p.Currency, Zone: feeds.Zone{Location: zone}, Price: s.Price, Periods: s.Periods,
	}
}

// supply is where a site's electricity comes from. The plans that are made of one plan
// share it.
type supply struct {
	zone     *time.Location
	currency string
	series   price.Series   // of a file
	contract *feeds.Tariff  // instead
	feed     feeds.Feed     // instead, of a live site
	from     *config.Prices // of the feed

	mu        sync.Mutex
	hindsight map[string]*priceforecast.Hindsight // by forecast; of a file
}

// supply reads the prices of a site; nil: it has none.
func (p *Plan) supply(s *Site) (*supply, error) {
	if !s.electric() {
		return nil, nil //nolint:nilnil // as said
	}
	zone, err := p.zone(s)
	if err != nil {
		return nil, err
	}
	of := &supply{zone: zone, currency: p.Currency, hindsight: map[string]*priceforecast.Hindsight{}}
	if s.fed() {
		of.from = &s.Prices
		of.feed, err = feedOf(of.from)
		return of, err
	}
	if s.PriceFile == nil {
		contract := p.contract(s, zone)
		of.contract = &contract
		return of, nil
	}
	from := p.priceFile(s)
	var areas []string
	if s.Area != "" {
		areas = []string{s.Area}
	}
	set, err := filefeed.Read(from.Source(areas))
	if err != nil {
		return nil, err
	}
	if set.Currency != p.Currency {
		return nil, fmt.Errorf("%s: the prices are in %s, the experiment's in %s; a grid has one currency", from.Path, set.Currency, p.Currency)
	}
	of.series, err = pick(set, s.Area)
	if err != nil {
		return nil, fmt.Errorf("%s: site %s: %w", from.Path, s.Name, err)
	}
	return of, nil
}

// pick is the curve of an area.
func pick(set *priceformat.Set, area string) (price.Series, error) {
	if area == "" && len(set.Curves) == 1 {
		return set.Curves[0].Series, nil
	}
	if found := set.Find(area); found != nil {
		return found.Series, nil
	}
	var areas []string
	for _, one := range set.Curves {
		areas = append(areas, one.Area)
	}
	areas = append(areas, set.Others...)
	if area == "" {
		return price.Series{}, fmt.Errorf("the file has the prices of several areas; name one with area, of %s", strings.Join(areas, ", "))
	}
	return price.Series{}, fmt.Errorf("the file has no prices of the area %q, but of %s", area, strings.Join(areas, ", "))
}

// calendar is when the jobs of a run come.
type calendar struct {
	begin       protocol.Instant // when the workload's clock shows 0
	first, last protocol.Instant // submissions of measured jobs
}

// calendar puts the jobs on the clocks of the world. The plan's start is when the
// workload's clock shows 0; with a history, it is the beginning of the day, by that
// clock, on which the last job of the history comes, as in [MC]'s experiments
// (facts/mcmf-experiments.md section 3).
func (p *Plan) calendar(jobs []workload.Job, applications []sim.Application) (calendar, error) {
	start, err := p.beginning()
	if err != nil {
		return calendar{}, err
	}
	day := protocol.Instant(0)
	if p.History > 0 {
		last := jobs[p.History-1].Submit
		day = last - last%protocol.Instant(protocol.Day)
	}
	when := calendar{begin: start - day, first: protocol.Instant(protocol.Never)}
	if len(jobs) > 0 {
		when.first, when.last = when.begin+jobs[p.History].Submit, when.begin+jobs[len(jobs)-1].Submit
	}
	for i := range applications {
		at := when.begin + applications[i].At
		when.first, when.last = min(when.first, at), max(when.last, at)
	}
	return when, nil
}

// beginning is the instant that the keys start and zone name.
func (p *Plan) beginning() (protocol.Instant, error) {
	if p.began > 0 {
		return p.began, nil
	}
	zone, err := feeds.ParseZone(p.Electricity.Zone)
	if err != nil {
		return 0, err
	}
	return ClockTime(p.Electricity.Start, zone.Location)
}

// electrify gives the sites of a simulation their electricity.
func (p *Plan) electrify(ctx context.Context, sites []sim.Site, when calendar) error {
	if !p.electric() {
		return nil
	}
	if len(p.supplies) != len(p.Sites) {
		return errNotOpen
	}
	for i, of := range p.supplies {
		if of == nil { // a site as it is configured may do without
			continue
		}
		market, err := of.market(ctx, when, p.Electricity.Forecast)
		if err != nil {
			return fmt.Errorf("site %s: %w", p.Sites[i].Name, err)
		}
		sites[i].Electricity = sim.Electricity{
			Milliwatts: p.Sites[i].Power.WattsPerCPU.Milliwatts(),
			Ahead:      market.Since(when.begin),
			Paid:       price.NewMeter(priceforecast.Since(market.Series(), when.begin)),
			Dated:      price.NewMeter(market.Series()),
			Currency:   p.Currency,
		}
	}
	return nil
}

// afterwards is how long after the last submission a contract is worked out: far longer
// than a queue. What is later costs the mean, as does what is after the end of a file.
const afterwards = 90 * protocol.Day

// market is the supply's prices with what is known of them ahead. Prices of a file must
// cover all submissions that are measured.
func (of *supply) market(ctx context.Context, when calendar, ahead string) (*priceforecast.Hindsight, error) {
	if of.contract != nil {
		query := price.Query{Area: of.contract.Area, From: when.begin, Until: when.last.Add(afterwards)}
		series, err := of.contract.Open().Prices(ctx, query)
		if err != nil {
			return nil, err
		}
		return of.hindsightOf(series, priceforecast.Known)
	}
	if of.feed != nil {
		return of.feedPrices(ctx, when)
	}
	if err := covers(of.series, when); err != nil {
		return nil, err
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	if made := of.hindsight[ahead]; made != nil {
		return made, nil
	}
	made, err := of.hindsightOf(of.series, ahead)
	if err == nil {
		of.hindsight[ahead] = made
	}
	return made, err
}

// covers checks that a series has prices for all submissions that are measured.
func covers(series price.Series, when calendar) error {
	if len(series.Slots) == 0 {
		return errors.New("there are no prices of the time in which jobs come")
	}
	from, until := series.Slots[0].Start, series.Slots[len(series.Slots)-1].End()
	if when.first < from || when.last >= until {
		const form = "2006-01-02 15:04Z"
		return fmt.Errorf("its prices are from %s until %s, and jobs come from %s until %s; fix electricity.start, or add more prices",
			from.Time().Format(form), until.Time().Format(form), when.first.Time().Format(form), when.last.Time().Format(form))
	}
	return nil
}

// hindsightOf is a series with what is known of it ahead.
func (of *supply) hindsightOf(series price.Series, ahead string) (*priceforecast.Hindsight, error) {
	name := ahead
	if ahead == priceforecast.Known {
		name = "auto" // of what is after the end
	}
	forecaster, err := forecast.Named(name)
	if err != nil {
		return nil, err
	}
	options := priceforecast.Options{Zone: of.zone, Forecaster: forecaster}
	return priceforecast.NewHindsight(series, of.currency, options, ahead == priceforecast.Known), nil
}

var errNotOpen = errors.New("the plan's files have not been read; this is a mistake in the program")

func (p *Plan) checkElectricity(c *checker) {
	if _, err := feeds.ParseZone(p.Electricity.Zone); err != nil {
		c.Problem("electricity.zone", "%v", err)
	} else if _, err = p.beginning(); err != nil {
		c.Problem("electricity.start", "%v", err)
	}
	if p.Electricity.Forecast != priceforecast.Known {
		if _, err := forecast.Named(p.Electricity.Forecast); err != nil {
			c.Problem("electricity.forecast", "%v; or %q, the prices that will come", err, priceforecast.Known)
		}
	}
	if p.electric() && !priceformat.IsCurrency(p.Currency) {
		c.Problem("currency", "invalid currency %q; set the currency of electricity prices, such as \"EUR\"", p.Currency)
	}
}

// checkSupply checks what a site says of its electricity. One that says nothing among
// others would seem to have it for nothing.
func (p *Plan) checkSupply(c *checker, key string, s *Site) {
	switch {
	case !p.electric():
		c.idle(key, "sites that pay for no electricity", []idleKey{{"period", len(s.Periods) > 0}, {"area", s.Area != ""}})
		return
	case s.Power.WattsPerCPU == 0 && s.live == nil:
		c.Problem(key+".power.watts_per_cpu", "is missing; where one site pays for electricity, all do")
	case s.fed():
		c.idle(key, "a feed of prices", []idleKey{{"price", s.Price != nil}, {"period", len(s.Periods) > 0}, {"price_file", s.PriceFile != nil}})
		return
	case s.Price == nil && s.PriceFile == nil:
		c.Problem(key+".price", "is missing; set the price of a MWh there, or name a file of prices in a table [site.price_file], or a feed in [site.prices]")
	}
	if s.PriceFile != nil {
		c.idle(key, "a file of prices", []idleKey{{"price", s.Price != nil}, {"period", len(s.Periods) > 0}})
		p.checkPriceFile(c, key+".price_file", s)
		return
	}
	c.idle(key, "a tariff", []idleKey{{"area", s.Area != ""}})
	checkTariff(c, key+".price", s.Price)
	for i := range s.Periods {
		at := fmt.Sprintf("%s.period[%d].price", key, i)
		if s.Periods[i].Price == nil {
			c.Problem(at, "is missing; set the price of a MWh then")
		}
		checkTariff(c, at, s.Periods[i].Price)
	}
}

// checkTariff checks a price that may be missing.
func checkTariff(c *checker, key string, amount *settings.Amount) {
	const most = settings.Amount(priceformat.MaxPriceLimit)
	if amount != nil && (*amount > most || *amount < -most) {
		c.Problem(key, "is beyond ±%s per MWh", priceformat.MaxPriceLimit.Text())
	}
}

// checkPriceFile has the feed of price files check the table.
func (p *Plan) checkPriceFile(c *checker, key string, s *Site) {
	from := p.priceFile(s)
	from.Check(c.Reader, key)
}
