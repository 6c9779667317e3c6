package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
)

// checkBroker checks all that applications are chosen by, and makes of it what charges.
func (r *checker) checkBroker() {
	c := r.config
	zone, err := feeds.ParseZone(c.Prices.TimeZone)
	if err != nil { // reported with the prices
		zone.Location = time.UTC
	}
	tables := Charging{
		Reader: r.Reader, Currency: c.Currency(), CurrencyKey: "site.currency", ExchangeRates: c.ExchangeRates, Zone: zone.Location,
		NoZone: !r.Set("prices.time_zone"), Powered: c.Power.WattsPerCPU > 0, Priced: c.Prices.Area != "", MHz: c.LocalSched.MHz,
	}
	tables.Rates("exchange_rates")
	tables.CPUModel("localsched.cpu_model", c.LocalSched.CPUModel)
	c.Cost.charges = tables.Costs("cost", &c.Cost)
	if c.Cost.charges != nil && c.Tariff != (Tariff{}) {
		tables.Currency = c.Site.Currency // that of [tariff] goes with it
		tables.needsCurrency("[cost]")
		r.Problem("tariff", "excludes [cost], which charges CPUs too; keep [tariff] for one price at all times, or move cpu_hour to price in [cost.cpu] and remove [tariff]")
	}
	tables.Curves("waiting_cost", c.WaitingCosts, c.Cost.Holidays)
	tables.Weights("default_weights", &c.DefaultWeights, c.WaitingCosts)
	r.checkCurrencies()
}

// checkCurrencies checks that amounts can be compared.
func (r *checker) checkCurrencies() {
	c := r.config
	if s := c.Site.Currency; s != "" && !goodCurrency(s) {
		r.Problem("site.currency", "invalid currency %q; use three capital letters, such as \"EUR\"", s)
	}
	r.checkRate("site.currency", c.Site.Currency)
	r.checkRate("tariff.currency", c.Tariff.Currency)
	for i, p := range c.Partners {
		key := fmt.Sprintf("partner[%d]", i)
		notNegative(r.Reader, key+".per_gb", p.PerGB)
		notNegative(r.Reader, key+".per_hour", p.PerHour)
		if (p.PerGB != 0 || p.PerHour != 0) && c.Currency() == "" {
			r.Problem("site.currency", "is missing; set the currency of per_gb and per_hour, such as \"CHF\"")
		}
	}
}

// checkRate checks that a currency can be exchanged, where any can or must be.
func (r *checker) checkRate(key, currency string) {
	rates := r.config.ExchangeRates
	if _, has := rates[currency]; has || currency == "" {
		return
	}
	if len(rates) > 0 || currency != r.config.Currency() {
		r.Problem(key, "%q has no exchange rate; add it to [exchange_rates], with the same number at every site", currency)
	}
}

func goodCurrency(name string) bool {
	return len(name) == 3 && !strings.ContainsFunc(name, notInCurrency)
}
