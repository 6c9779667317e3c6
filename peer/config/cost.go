package config

import (
	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// CPUModel is the table [localsched.cpu_model]: a CPU as the Γ model sees it.
type CPUModel struct {
	PeakGflops       Gflops       `toml:"peak_gflops"`       // R∞
	MemoryBandwidth  Bandwidth    `toml:"memory_bandwidth"`  // M∞
	NetworkBandwidth Bandwidth    `toml:"network_bandwidth"` // C∞
	Latency          Microseconds `toml:"latency_us"`        // L
	Bus              bool         `toml:"bus"`
}

// wordBytes is the size of the words that the Γ model counts.
const wordBytes = 8

// Model is the machine in the units of the Γ model.
func (g *CPUModel) Model() protocol.Machine {
	return protocol.Machine{
		Flops: g.PeakGflops.Flops(), Words: int64(g.MemoryBandwidth) / wordBytes, Network: int64(g.NetworkBandwidth) / wordBytes,
		Latency: g.Latency.Nanoseconds(), Bus: g.Bus,
	}
}

// ExchangeRates is the table [exchange_rates], the same at every site of the grid: the value
// of one unit of each currency in a common unit.
type ExchangeRates map[string]settings.Amount

// Cost is the table [cost]: what this site charges, by the terms of [IS 4.2]. All money is
// in [Site.Currency].
type Cost struct {
	QoSFactors map[string]Factor `toml:"qos_factors"`
	Holidays   []string          `toml:"holidays"` // as cost.ParseHoliday reads them
	CPU        *CPUCost          `toml:"cpu"`      // K_e; nil: nothing
	Licenses   []LicenseCost     `toml:"license"`  // K_l
	Eco        *EcoCost          `toml:"eco"`      // K_eco; nil: as [power] and [prices] say
	Data       DataCost          `toml:"data"`     // K_d

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

// LicenseCost is one of the tables [[cost.license]].
type LicenseCost struct {
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

// The values of [WaitingCost.Kind].
const (
	SalaryWaiting = "salary"
	StepsWaiting  = "steps"
	SumWaiting    = "sum"
)

// WaitingCost is one of the tables [[waiting_cost]]: a curve k_w of [IS Figure 2].
type WaitingCost struct {
	Name     string                     `toml:"name"`
	Kind     string                     `toml:"kind"`
	Rate     settings.Amount            `toml:"rate"`     // of an hour
	Days     string                     `toml:"days"`     // of a salary; empty: usualDays
	Hours    string                     `toml:"hours"`    // of a salary; empty: usualHours
	Holidays []string                   `toml:"holidays"` // of a salary, besides those of [Cost]
	Steps    map[string]settings.Amount `toml:"steps"`    // by a time, or one since the submission
	Parts    []string                   `toml:"parts"`    // of a sum: names of others

	curve *cost.WaitingCost // after Load set
}

// The default working hours.
const (
	usualDays  = "mon-fri"
	usualHours = "08:00-12:00, 13:00-17:00"
)

// DefaultWeights is the table [default_weights]: the weights of applications whose users give none.
type DefaultWeights struct {
	Objective     string `toml:"objective"`
	ComputeWeight Factor `toml:"compute_weight"` // after Load set, as the next three
	WaitWeight    Factor `toml:"wait_weight"`
	EnergyWeight  Factor `toml:"energy_weight"`
	DataWeight    Factor `toml:"data_weight"`
	WaitingCost   string `toml:"waiting_cost"` // the name of a [[waiting_cost]]; empty: none
}

// brokered puts what applications are chosen by into the configuration of the state machine.
func (c *Config) brokered(out *rules.Config) {
	if g := c.LocalSched.CPUModel; g != nil {
		out.Capacity.Machine = g.Model()
	}
	if c.Cost.charges != nil {
		out.Costs = c.Cost.charges
	}
	out.Exchange, out.Currency = c.ExchangeRates.Exchange(), c.Currency()
	out.DefaultWeights, out.WaitingCosts = c.DefaultWeights.Weights(), Curves(c.WaitingCosts)
}

// Weights are the table as the peer's core has it, after [Charging.Weights].
func (w *DefaultWeights) Weights() rules.DefaultWeights {
	return rules.DefaultWeights{
		Alpha: int(w.ComputeWeight), Beta: int(w.WaitWeight), Gamma: int(w.EnergyWeight), Delta: int(w.DataWeight), WaitingCost: w.WaitingCost,
	}
}

// Curves are the tables as the peer's core has them, after [Charging.Curves].
func Curves(list []WaitingCost) map[string]rules.WaitingCost {
	curves := make(map[string]rules.WaitingCost, len(list))
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

// Exchange is the table as the peer's core and the costs use it.
func (r ExchangeRates) Exchange() cost.Exchange {
	rates := make(cost.Exchange, len(r))
	for currency, rate := range r {
		rates[currency] = protocol.Micro(rate)
	}
	return rates
}
