package experiment

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/sim"
)

// Energy is what an outcome has besides, where sites pay for electricity: that of the
// measured jobs. Idle CPUs draw nothing ([MC 4.5.1]).
type Energy struct {
	Currency string       `json:"currency"`
	Cost     float64      `json:"energy_cost"` // units of the currency; exact overlap with each price ([MC] equation 7)
	MWh      float64      `json:"energy_mwh"`
	Fairness *float64     `json:"fairness,omitempty"` // the least of the sites; nil: there is nothing to compare with
	Bills    []SiteEnergy `json:"energy_sites"`       // in the order of the sites
}

// SiteEnergy is a site's part: what it pays for the jobs that run there, and how the
// grid serves its users.
type SiteEnergy struct {
	Site     string   `json:"site"`
	Cost     float64  `json:"energy_cost"`
	MWh      float64  `json:"energy_mwh"`
	Fairness *float64 `json:"fairness,omitempty"` // [MC] equation 9, see [sim.Config.Fairness]
}

func energyOf(currency string, b sim.Bill) *Energy {
	e := &Energy{Currency: currency, Cost: b.Cost, MWh: b.MWh}
	for _, site := range b.Sites {
		e.Bills = append(e.Bills, SiteEnergy{Site: string(site.Site), Cost: site.Cost, MWh: site.MWh})
	}
	return e
}

// CompareWith fills in the fairness of the outcome, where there is electricity: its
// responses beside those of the scheme local with the same jobs. Nil compares with
// nothing.
func (o *Outcome) CompareWith(local *Outcome) {
	if o.Energy == nil || local == nil || local.Scheme != Local || o.Scheme == Local {
		return
	}
	perSite := o.config.Fairness(o.Jobs, local.Result, o.Result, nil)
	for i := range perSite {
		o.Bills[i].Fairness = &perSite[i]
		if o.Fairness == nil || perSite[i] < *o.Fairness {
			o.Fairness = &perSite[i]
		}
	}
}

// validate checks what was read from JSON.
func (e *Energy) validate(sites int) error {
	if e != nil && len(e.Bills) != sites {
		return fmt.Errorf("energy_sites has %d sites, and sites has %d", len(e.Bills), sites)
	}
	return nil
}

// measures are those of all sites together.
func (e *Energy) measures() []measure[Energy] {
	all := []measure[Energy]{
		{"energy_cost", func(e *Energy) float64 { return e.Cost }},
		{"energy_mwh", func(e *Energy) float64 { return e.MWh }},
	}
	if e.Fairness != nil {
		all = append(all, measure[Energy]{"fairness", func(e *Energy) float64 { return *e.Fairness }})
	}
	return all
}

func (e *SiteEnergy) measures() []measure[SiteEnergy] {
	all := []measure[SiteEnergy]{
		{"energy_cost", func(e *SiteEnergy) float64 { return e.Cost }},
		{"energy_mwh", func(e *SiteEnergy) float64 { return e.MWh }},
	}
	if e.Fairness != nil {
		all = append(all, measure[SiteEnergy]{"fairness", func(e *SiteEnergy) float64 { return *e.Fairness }})
	}
	return all
}

// add puts the electricity of a cell's outcomes into their point; without any it stays
// as it is.
func (p *Point) add(outcomes []*Energy) {
	if outcomes[0] == nil {
		return
	}
	all := make([]Energy, len(outcomes))
	for i, one := range outcomes {
		all[i] = *one
	}
	for _, m := range all[0].measures() {
		p.Metrics[m.key] = report.AverageOf(each(all, m.of))
	}
	for i := range p.Sites {
		bills := make([]SiteEnergy, len(all))
		for seed := range all {
			bills[seed] = all[seed].Bills[i]
		}
		for _, m := range bills[0].measures() {
			p.Sites[i].Metrics[m.key] = report.AverageOf(each(bills, m.of))
		}
	}
}
