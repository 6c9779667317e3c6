package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Charging checks the tables of what a site charges and what waiting costs, in whatever file
// they stand, and makes of them what bills. Its methods take the dotted keys of the tables.
type Charging struct {
	*settings.Reader

	Currency      string // of all amounts; empty: none is named
	CurrencyKey   string // where it is named
	ExchangeRates ExchangeRates
	Zone          *time.Location // of the clock
	NoZone        bool           // the time zone is not set: warn
	Powered       bool           // it is known what a CPU draws
	Priced        bool           // a feed tells what electricity costs
	MHz           int            // of a CPU at its full frequency; 0: not stated
}

// Rates checks the table [Charging.ExchangeRates].
func (r *Charging) Rates(table string) {
	for _, name := range slices.Sorted(maps.Keys(r.ExchangeRates)) {
		key := settings.Join(table, name)
		if !goodCurrency(name) {
			r.Problem(key, "invalid currency %q; use three capital letters, such as \"EUR\"", name)
		} else if r.ExchangeRates[name] <= 0 {
			r.Problem(key, "is not above 0; set the value of one %s in a unit that all sites share", name)
		}
	}
}

// CPUModel checks the table of a machine; nil is none.
func (r *Charging) CPUModel(table string, g *CPUModel) {
	if g == nil {
		return
	}
	const needs = "is missing; the Γ model needs it to predict run times (\"switchyard benchmark\" measures what it can)"
	if g.PeakGflops == 0 {
		r.Problem(table+".peak_gflops", needs)
	}
	if g.MemoryBandwidth == 0 {
		r.Problem(table+".memory_bandwidth", needs)
	}
	if g.NetworkBandwidth == 0 {
		r.Problem(table+".network_bandwidth", needs)
	}
}

func (r *Charging) holidays(key string, texts []string) (all []cost.Holiday) {
	for i, text := range texts {
		holiday, err := cost.ParseHoliday(text)
		if err != nil {
			r.Problem(fmt.Sprintf("%s[%d]", key, i), "%v", err)
			continue
		}
		all = append(all, holiday)
	}
	return all
}

// Costs checks the table of what a site charges, and makes that; nil when it charges
// nothing.
func (r *Charging) Costs(table string, c *Cost) *cost.Charges {
	calendar := cost.Calendar{Zone: r.Zone, Holidays: r.holidays(table+".holidays", c.Holidays)}
	made := &cost.Charges{
		Currency: r.Currency,
		Classes:  r.classes(table+".qos_factors", c.QoSFactors),
		Licenses: r.licenses(table+".license", c.Licenses),
		Data:     cost.Data{PerGBIn: r.price(table+".data.per_gb_in", c.Data.PerGBIn), PerGBOut: r.price(table+".data.per_gb_out", c.Data.PerGBOut)},
		Exchange: r.ExchangeRates.Exchange(),
	}
	if c.CPU != nil {
		made.CPU = r.cpuCost(table+".cpu", c.CPU, calendar)
	}
	if c.Eco != nil {
		made.Eco = r.ecoCost(table+".eco", c.Eco)
	}
	if made.CPU == nil && made.Eco == nil && len(made.Classes) == 0 && len(made.Licenses) == 0 && made.Data == (cost.Data{}) {
		return nil
	}
	r.needsCurrency("[cost]")
	return made
}

func (r *Charging) needsCurrency(of string) {
	if r.Currency == "" {
		r.Problem(r.CurrencyKey, "is missing; set the currency of %s, such as \"CHF\"", of)
	}
}

// price is one that may not be negative.
func (r *Charging) price(key string, amount settings.Amount) protocol.Micro {
	notNegative(r.Reader, key, amount)
	return protocol.Micro(amount)
}

func notNegative(r *settings.Reader, key string, amount settings.Amount) {
	if amount < 0 {
		r.Problem(key, "is negative; a price is 0 or more")
	}
}

func (r *Charging) classes(table string, priority map[string]Factor) map[string]int {
	classes := make(map[string]int, len(priority))
	names := slices.Sorted(maps.Keys(priority))
	for i, name := range names {
		if k := slices.IndexFunc(names[:i], func(other string) bool { return association.SameQOS(other, name) }); k >= 0 {
			r.Problem(settings.Join(table, name), "%q is the same QOS as %q, since case does not count; remove one of them", name, names[k])
		}
		if !goodName(name) {
			r.Problem(settings.Join(table, name), "invalid class name %q; %s", name, nameForm)
		}
		classes[name] = int(priority[name])
	}
	return classes
}

func (r *Charging) licenses(table string, list []LicenseCost) map[string]cost.License {
	licenses := make(map[string]cost.License, len(list))
	for i, l := range list {
		key := fmt.Sprintf("%s[%d]", table, i)
		_, twice := licenses[l.Name]
		r.checkCostName(key+".name", l.Name, twice)
		licenses[l.Name] = cost.License{
			PerUse:     r.price(key+".per_use", l.PerUse),
			PerHour:    r.price(key+".per_hour", l.PerHour),
			PerCPUHour: r.price(key+".per_cpu_hour", l.PerCPUHour),
		}
	}
	return licenses
}

// nameForm says what names of classes, licenses, periods and curves are.
const nameForm = "use 1 to 32 letters, digits, '-', '_' and '.'"

func goodName(name string) bool {
	return name != "" && len(name) <= 32 && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	})
}

func (r *Charging) checkCostName(key, name string, twice bool) {
	switch {
	case name == "":
		r.Problem(key, "is missing; %s", nameForm)
	case !goodName(name):
		r.Problem(key, "invalid name %q; %s", name, nameForm)
	case twice:
		r.Problem(key, "duplicate name %q; choose another name, or remove one", name)
	}
}

// cpuCost makes the curves of k_e. Guests pay what is not set for them like all others.
func (r *Charging) cpuCost(table string, c *CPUCost, calendar cost.Calendar) *cost.CPU {
	r.guestPrice(table, c.Price, &c.GuestPrice)
	own := r.periods(table+".period", c.Periods)
	guests := slices.Clone(own)
	names := map[string]bool{}
	for i := range c.Periods {
		p, key := &c.Periods[i], fmt.Sprintf("%s.period[%d]", table, i)
		r.checkCostName(key+".name", p.Name, names[p.Name])
		names[p.Name] = true
		if !r.Set(key + ".price") {
			r.Problem(key+".price", "is missing; set the price of a CPU for an hour in the period, or 0")
		}
		r.guestPrice(key, p.Price, &p.GuestPrice)
		own[i].PerHour, guests[i].PerHour = r.price(key+".price", p.Price), protocol.Micro(p.GuestPrice)
	}
	base := r.price(table+".price", c.Price)
	return &cost.CPU{Own: cost.NewCurve(calendar, base, own), Guest: cost.NewCurve(calendar, protocol.Micro(c.GuestPrice), guests)}
}

// guestPrice is that of all where a table sets none.
func (r *Charging) guestPrice(table string, price settings.Amount, guest *settings.Amount) {
	key := table + ".guest_price"
	if !r.Set(key) {
		*guest = price
		return
	}
	r.price(key, *guest)
}

// periods reads when they are, and reports those that overlap.
func (r *Charging) periods(table string, list []CostPeriod) []cost.Period {
	periods := make([]cost.Period, len(list))
	sound := true
	for i, p := range list {
		key := fmt.Sprintf("%s[%d]", table, i)
		periods[i].Name = p.Name
		ok := r.times(key, &periods[i], p.Months, p.Days, p.Hours)
		if sound = sound && ok; ok && p.Months+p.Days+p.Hours == "" {
			r.Problem(key+".hours", "is missing; set months, days or hours of the period")
		}
	}
	if len(list) > 0 && r.NoZone {
		r.Warn(table, "uses UTC because [prices] time_zone is unset; set it to the time zone of this site, or to \"UTC\"")
	}
	if !sound {
		return periods
	}
	for _, o := range cost.Overlaps(periods) {
		r.Problem(fmt.Sprintf("%s[%d]", table, o.Second), "holds at the same time as %q, as on %s; periods must not overlap; end one where the other starts, or set the days of each (\"holiday\" is allowed)",
			list[o.First].Name, o.When)
	}
	return periods
}

// times reads when a period is; what is empty is always.
func (r *Charging) times(key string, p *cost.Period, months, days, hours string) (ok bool) {
	ok = true
	read := func(name, text string, parse func(string) error) {
		if text == "" {
			return
		}
		if err := parse(text); err != nil {
			r.Problem(settings.Join(key, name), "%v", err)
			ok = false
		}
	}
	read("months", months, func(text string) (err error) { p.Months, err = contract.ParseMonths(text); return err })
	read("days", days, func(text string) (err error) { p.Days, err = cost.ParseDays(text); return err })
	read("hours", hours, func(text string) (err error) { p.Hours, err = contract.ParseHours(text); return err })
	return ok
}

func (r *Charging) ecoCost(table string, e *EcoCost) *cost.Eco {
	if !r.Powered {
		r.Problem(table, "needs [power] watts_per_cpu for the energy of jobs; set it too")
	}
	if e.Cooling < Factor(protocol.PPM) {
		r.Problem(table+".cooling", "is %s; the power of all over that of the computers is 1 or more", e.Cooling.TOML())
	}
	if e.Price == 0 && r.Set(table+".price") {
		r.Problem(table+".price", "is 0; remove [cost.eco] if energy is free, or remove price to use [prices]")
	}
	if e.Price == 0 && !r.Priced {
		r.Problem(table+".price", "is missing, and [prices] has no area; set the price of a MWh, or set [prices] area")
	}
	if (e.CO2Price != 0) != (e.CO2Intensity != 0) {
		r.Problem(table+".co2_price", "goes with co2_intensity; set both or neither")
	}
	r.price(table+".co2_price", e.CO2Price)
	r.AtLeast(table+".co2_intensity", e.CO2Intensity, 0)
	r.checkFrequencies(table, e)
	made := &cost.Eco{
		Cooling: int(e.Cooling), Carbon: protocol.Micro(e.CO2Price), Intensity: e.CO2Intensity,
		Frequencies: e.Frequencies, Slowdown: int(e.MaxSlowdown), Static: int(e.StaticShare),
	}
	if e.Price != 0 {
		fixed := protocol.Micro(e.Price)
		made.Price = &fixed
	}
	return made
}

// maxMHz is more than any CPU has.
const maxMHz = 100_000

func (r *Charging) checkFrequencies(table string, e *EcoCost) {
	key := table + ".frequencies"
	if len(e.Frequencies) == 0 {
		for _, name := range []string{"max_slowdown", "static_share"} {
			if r.Set(settings.Join(table, name)) {
				r.Warn(settings.Join(table, name), "has no effect without frequencies")
			}
		}
		return
	}
	for i, mhz := range e.Frequencies {
		switch {
		case mhz < 1 || mhz > maxMHz:
			r.Problem(key, "%d is outside 1 to %d MHz", mhz, maxMHz)
		case i > 0 && mhz >= e.Frequencies[i-1]:
			r.Problem(key, "%d follows %d; list frequencies in falling order", mhz, e.Frequencies[i-1])
		}
	}
	if mhz := r.MHz; mhz > 0 && mhz != e.Frequencies[0] {
		r.Problem(key, "starts with %d, but [localsched] mhz is %d; both are the full frequency and must be equal", e.Frequencies[0], mhz)
	}
}
