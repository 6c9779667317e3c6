package config

import "github.com/switchyard-hpc/switchyard/internal/settings"

// SiteTables are the tables that describe a site's machine, its power and what its
// electricity costs: in its configuration, and in experiments below [[site]]. A nil table is
// not there.
type SiteTables struct {
	LocalSched *LocalSched
	Tariff     *Tariff
	Power      *Power
	Prices     *Prices
}

// CheckSimulated checks the tables of a site of an experiment as [Load] does, and that its
// machine can be simulated. The reader names keys within the site. Elsewhere says that the
// experiment has prices of the site's electricity that are not in these tables.
func (t SiteTables) CheckSimulated(r *settings.Reader, elsewhere bool) {
	c := Default()
	check := &checker{Reader: r, config: c}
	if t.Prices != nil {
		c.Prices = *t.Prices
		check.checkPrices(&c.Prices)
	}
	if t.LocalSched != nil {
		c.LocalSched = *t.LocalSched
		check.checkLocalSched(&c.LocalSched)
		*t.LocalSched = c.LocalSched
		check.simulated(&c.LocalSched)
	}
	if t.Tariff != nil {
		check.checkTariff(t.Tariff)
	}
	if t.Power != nil {
		c.Power = *t.Power
		if elsewhere && c.Prices.Area == "" {
			c.Prices.Area = "experiment"
		}
		check.checkPower(&c.Power)
		if c.Power.Series.Feed != "" {
			r.Problem("power.series.feed", NoSeries)
		}
	}
}

// NoSeries says why [power.series] is refused where sites are simulated.
const NoSeries = "a budget that is another one every hour is not simulated; leave the table out of a copy of the configuration"

func (r *checker) simulated(l *LocalSched) {
	switch {
	case l.Plugin != Process:
		r.Problem("localsched.plugin", "%q is not simulated; write %q and the machine's cpus, nodes and policy", l.Plugin, Process)
	case l.CPUs == 0:
		r.Problem("localsched.cpus", "is missing, and the default is the CPUs of this computer; set it")
	}
}

// SetDefaults makes it a table [localsched] without keys. It implements [settings.Defaulter].
func (l *LocalSched) SetDefaults() { *l = Default().LocalSched }

// SetDefaults makes it a table [power] without keys. It implements [settings.Defaulter].
func (p *Power) SetDefaults() { *p = Default().Power }

// SetDefaults makes it a table [prices] without keys. It implements [settings.Defaulter].
func (p *Prices) SetDefaults() { *p = Default().Prices }
