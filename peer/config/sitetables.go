package config

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// SiteTables are the tables that describe a site's machine, its power and what its
// electricity costs: in its configuration, and in experiments below [[site]].
type SiteTables struct {
	LocalSched *LocalSched
	Tariff     *Tariff
	Power      *Power
	Prices     *Prices
	Cost       *Cost

	Plugins []Plugin // of the experiment
	Priced  bool     // the experiment has prices of the site's electricity that are not in these tables
	Counted bool     // the experiment counts energy that costs nothing
}

// CheckSimulated checks the tables of a site of an experiment as [Load] does, and that its
// machine can be simulated. The reader names keys within the site. An empty wait prediction
// or time zone is that of the experiment.
func (t SiteTables) CheckSimulated(r *settings.Reader) {
	c := Default()
	c.Plugins, c.Cost, c.Power = t.Plugins, *t.Cost, *t.Power
	c.LocalSched, c.Prices = *t.LocalSched, *t.Prices
	c.LocalSched.WaitPrediction = cmp.Or(c.LocalSched.WaitPrediction, Default().LocalSched.WaitPrediction)
	c.Prices.TimeZone = cmp.Or(c.Prices.TimeZone, Default().Prices.TimeZone)
	check := &checker{Reader: r, config: c, simulated: true, counted: t.Counted}
	check.checkPrices(&c.Prices)
	check.checkLocalSched(&c.LocalSched)
	t.LocalSched.BGP, t.LocalSched.Slurm, t.LocalSched.Nodes = c.LocalSched.BGP, c.LocalSched.Slurm, c.LocalSched.Nodes
	check.checkSimulated(&c.LocalSched)
	check.checkTariff(t.Tariff)
	if t.Priced && c.Prices.Area == "" {
		c.Prices.Area = "experiment"
	}
	check.checkPower(&c.Power)
	if c.Power.Series.Feed != "" {
		r.Problem("power.series.feed", NoSeries)
	}
}

// NoSeries says why [power.series] is refused where sites are simulated.
const NoSeries = "a budget that is another one every hour is not simulated; leave the table out of a copy of the configuration"

// maxSimulatedCPUs bounds a machine, so that CPUs times time stays in an int64.
const maxSimulatedCPUs = 1 << 30

func (r *checker) checkSimulated(l *LocalSched) {
	switch {
	case l.Plugin == SlurmCommands:
		r.Problem("localsched.plugin", "%q is not simulated; write %q and the machine's cpus, nodes and policy", l.Plugin, Process)
	case l.CPUs == 0:
		r.Problem("localsched.cpus", "is missing, and the default is the CPUs of this computer; set it")
	case l.CPUs > maxSimulatedCPUs:
		r.Problem("localsched.cpus", "%d is more than %d", l.CPUs, maxSimulatedCPUs)
	}
}
