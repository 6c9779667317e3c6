package demo

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The electricity of the demo. So that seconds of work cost something, a CPU stands for a
// rack.
const (
	watts    = 20_000 // of a CPU
	currency = "EUR"  // but for applications, which show more than one
)

// cycle is the pause between two cycles in the demo, and maxQ how many jobs a site
// takes in one: few, so that one sees jobs wait for the next, and sites fill up.
const (
	cycle = 2 * protocol.Second
	maxQ  = 4
)

// weight is w of mcmf in the demo: with its usual one, jobs would rather queue where
// electricity is cheap for longer than one likes to watch.
const weight = 0.6

// site is a site of the demo and what a MWh costs there.
type site struct {
	name  protocol.SiteName
	cpus  int
	price protocol.Micro

	// What counts for applications alone.
	currency string
	cpuHour  int     // price of a CPU-hour
	gflops   float64 // of a CPU, as the site says
}

// sites are the sites of the demo. The jobs come from the first, where electricity costs most.
func sites() []site {
	return []site{
		{"aurora", 4, 150 * protocol.Unit, "CHF", 180, 8},
		{"borealis", 4, 50 * protocol.Unit, "EUR", 90, 4},
		{"cygnus", 8, 90 * protocol.Unit, "CHF", 120, 6},
	}
}

// machines writes the sites' electricity contracts into the demo's directory.
func (d *Demo) machines() ([]testbed.Machine, error) {
	dir := filepath.Join(d.Dir, "prices")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory for prices: %w", err)
	}
	var all []testbed.Machine
	for _, site := range sites() {
		path := filepath.Join(dir, string(site.name)+".toml")
		currency := currency
		if d.brokered() {
			currency = site.currency
		}
		text := fmt.Sprintf("area = %q\ncurrency = %q\nzone = \"UTC\"\nprice = %d\n", site.name, currency, site.price/protocol.Unit)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write the prices of %s: %w", site.name, err)
		}
		machine := testbed.Machine{Name: site.name, CPUs: site.cpus, More: fmt.Sprintf(
			"[power]\nwatts_per_cpu = %d\n\n[prices]\narea = %q\nfeed = %q\nconfig = %q\n\n[policy.mcmf]\nnormalise = \"round\"\nweight = %g\n",
			watts, site.name, feeds.TariffName, path, weight)}
		if d.brokered() {
			machine.Currency = site.currency
			machine.More += site.brokerage()
		}
		all = append(all, machine)
	}
	return all, nil
}

// bill is what the electricity of a job cost, at the price of a site.
func (s site) bill(job *tracked) protocol.Micro {
	view := job.seen.job
	if view.Started == 0 {
		return 0
	}
	hour := price.Slot{Start: view.Started - view.Started%protocol.Instant(protocol.Hour), Length: protocol.Hour, Price: s.price}
	draw := pricing.JobPower(watts*1000, &protocol.Spec{Request: protocol.Request{CPUs: job.CPUs}})
	return price.NewMeter(price.Series{Slots: []price.Slot{hour}}).Cost(draw, view.Started, view.Ended.Sub(view.Started))
}

// printBill compares what the electricity of the jobs cost with what it would have at home.
func (d *Demo) printBill(jobs []*tracked) {
	sites := sites()
	var paid, home protocol.Micro
	for _, job := range jobs {
		home += sites[0].bill(job)
		for _, site := range sites {
			if site.name == job.seen.job.Site {
				paid += site.bill(job)
			}
		}
	}
	d.say("\nElectricity, at %d kW a CPU: %s; with every job at its origin, %s.",
		watts/1000, console.Amount(mills(paid), currency), console.Amount(mills(home), currency))
}

// mills rounds an amount to three decimals.
func mills(a protocol.Micro) protocol.Micro {
	const mill = protocol.Unit / 1000
	return (a + mill/2) / mill * mill
}
