package config

import (
	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Gamma is the table [localsched.gamma]: a CPU as the Γ model sees it.
type Gamma struct {
	PeakGflops       Gflops       `toml:"peak_gflops"`       // R∞
	MemoryBandwidth  Bandwidth    `toml:"memory_bandwidth"`  // M∞
	NetworkBandwidth Bandwidth    `toml:"network_bandwidth"` // C∞
	Latency          Microseconds `toml:"latency_us"`        // L
	Bus              bool         `toml:"bus"`
}

// wordBytes is the size of the words that the Γ model counts.
const wordBytes = 8

// Model is the machine in the units of the Γ model.
func (g *Gamma) Model() protocol.Machine {
	return protocol.Machine{
		Flops: g.PeakGflops.Flops(), Words: int64(g.MemoryBandwidth) / wordBytes, Network: int64(g.NetworkBandwidth) / wordBytes,
		Latency: g.Latency.Nanoseconds(), Bus: g.Bus,
	}
}

// Exchange is the table [exchange], the same at every site of the grid.
type Exchange struct {
	Worth map[string]settings.Amount `toml:"worth"` // of one unit of each currency
}

// Cost is the table [cost]: what this site charges, by the terms of [IS 4.2]. All money is
// in [Site.Currency].
type Cost struct {
	Priority map[string]Factor `toml:"priority"`
	Holidays []string          `toml:"holidays"` // as cost.ParseHoliday reads them
	CPU      *CPUCost          `toml:"cpu"`      // K_e; nil: nothing
	Licences []LicenceCost     `toml:"licence"`  // K_l
	Eco      *EcoCost          `toml:"eco"`      // K_eco; nil: as [power] and [prices] say
	Data     DataCost          `toml:"data"`     // K_d

	charges *cost.Charges // after Load set when the site charges something
}

// CPUCost is the table [cost.cpu].
type CPUCost struct {
	Price      settings.Amount `toml:"price"`       // of a CPU for an hour, when no period has one
	GuestPrice settings.Amount `toml:"guest_price"` // after Load set
	Periods    []CostPeriod    `toml:"period"`
}

// CostPeriod is one of the tables [[cost.cpu.period]].
type CostPeriod struct {
	Name       string          `toml:"name"`
	Months     string          `toml:"months"` // as tariff.ParseMonths reads them; empty: all
	Days       string          `toml:"days"`   // as cost.ParseDays reads them; empty: all
	Hours      string          `toml:"hours"`  // as tariff.ParseHours reads them; empty: all
	Price      settings.Amount `toml:"price"`
	GuestPrice settings.Amount `toml:"guest_price"` // after Load set
}

// LicenceCost is one of the tables [[cost.licence]].
type LicenceCost struct {
	Name       string          `toml:"name"`
	PerUse     settings.Amount `toml:"per_use"`
	PerHour    settings.Amount `toml:"per_hour"`
	PerCPUHour settings.Amount `toml:"per_cpu_hour"`
}

// EcoCost is the table [cost.eco].
type EcoCost struct {
	Cooling      Factor          `toml:"cooling"`       // PUE
	Price        settings.Amount `toml:"price"`         // of a MWh; 0: by [Prices]
	CO2Price     settings.Amount `toml:"co2_price"`     // of a kg
	CO2Intensity int             `toml:"co2_intensity"` // g/kWh
	Frequencies  []int           `toml:"frequencies"`   // MHz
	MaxSlowdown  settings.Share  `toml:"max_slowdown"`
	StaticShare  settings.Share  `toml:"static_share"`
}

// SetDefaults makes it a table [cost.eco] without keys. It implements
// [settings.Defaulter]. A tenth is the loss that [IS 4.2] measured.
func (e *EcoCost) SetDefaults() {
	*e = EcoCost{Cooling: Factor(protocol.PPM), MaxSlowdown: settings.Whole / 10}
}

// DataCost is the table [cost.data].
type DataCost struct {
	PerGBIn  settings.Amount `toml:"per_gb_in"`
	PerGBOut settings.Amount `toml:"per_gb_out"`
}

// The values of [Waiting.Kind].
const (
	SalaryWaiting = "salary"
	StepsWaiting  = "steps"
	SumWaiting    = "sum"
)

// Waiting is one of the tables [[waiting]]: a curve k_w of [IS Figure 2].
type Waiting struct {
	Name     string                     `toml:"name"`
	Kind     string                     `toml:"kind"`
	Rate     settings.Amount            `toml:"rate"`     // of an hour
	Days     string                     `toml:"days"`     // of a salary; empty: usualDays
	Hours    string                     `toml:"hours"`    // of a salary; empty: usualHours
	Holidays []string                   `toml:"holidays"` // of a salary, besides those of [Cost]
	Steps    map[string]settings.Amount `toml:"steps"`    // by a time, or one since the submission
	Parts    []string                   `toml:"parts"`    // of a sum: names of others

	curve *cost.Waiting // after Load set
}

// The usual working hours.
const (
	usualDays  = "mon-fri"
	usualHours = "08:00-12:00, 13:00-17:00"
)

// Weighing is the table [weighing]: the weights of applications whose users give none.
type Weighing struct {
	Objective string `toml:"objective"`
	Alpha     Factor `toml:"alpha"` // after Load set, as the next three
	Beta      Factor `toml:"beta"`
	Gamma     Factor `toml:"gamma"`
	Delta     Factor `toml:"delta"`
	Waiting   string `toml:"waiting"` // the name of a [[waiting]]; empty: none
}

// brokered puts what applications are chosen by into what the state machine is told.
func (c *Config) brokered(out *rules.Config) {
	if g := c.LocalSched.Gamma; g != nil {
		out.Capacity.Machine = g.Model()
	}
	if c.Cost.charges != nil {
		out.Costs = c.Cost.charges
	}
	out.Exchange, out.Currency = c.Exchange.Rates(), c.Currency()
	out.Weighing, out.Waiting = c.Weighing.Weights(), Curves(c.Waiting)
}

// Weights are the table as the peer's core has it, after [Charging.Weights].
func (w *Weighing) Weights() rules.Weighing {
	return rules.Weighing{
		Alpha: int(w.Alpha), Beta: int(w.Beta), Gamma: int(w.Gamma), Delta: int(w.Delta), Waiting: w.Waiting,
	}
}

// Curves are the tables as the peer's core has them, after [Charging.Curves].
func Curves(list []Waiting) map[string]rules.Waiting {
	curves := make(map[string]rules.Waiting, len(list))
	for i := range list {
		curves[list[i].Name] = list[i].curve
	}
	return curves
}

// Currency is that of the site's users; empty: none is named.
func (c *Config) Currency() string {
	if c.Site.Currency != "" {
		return c.Site.Currency
	}
	return c.Tariff.Currency
}

// Rates are the table as the peer's core and the costs use it.
func (e *Exchange) Rates() cost.Exchange {
	rates := make(cost.Exchange, len(e.Worth))
	for currency, worth := range e.Worth {
		rates[currency] = protocol.Micro(worth)
	}
	return rates
}
