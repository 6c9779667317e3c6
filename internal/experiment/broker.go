package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// broker checks the tables that applications are chosen by, which are those of a live
// site, and makes of them what charges.
func (p *Plan) broker(r *settings.Reader) {
	grid := p.charging(r, p.Currency, "currency", time.UTC)
	if zone, err := p.zone(&Site{}); err == nil { // else reported with the electricity
		grid.Zone = zone
	}
	grid.Rates("exchange_rates")
	p.checkRate(r)
	grid.Curves("waiting_cost", p.WaitingCosts, nil)
	grid.Weights("default_weights", &p.DefaultWeights, p.WaitingCosts)
	for i := range p.Sites {
		p.siteBroker(r, fmt.Sprintf("site[%d]", i), &p.Sites[i])
	}
}

// checkRate looks at the currency of the experiment, in which sites with others are added
// up.
func (p *Plan) checkRate(r *settings.Reader) {
	other := func(s *Site) bool { return s != nil && s.Currency != "" && s.Currency != p.Currency }
	others := slices.ContainsFunc(p.Sites, func(s Site) bool { return other(&s) }) ||
		slices.ContainsFunc(p.Candidates, func(one Candidate) bool { return other(one.Site) })
	switch _, has := p.ExchangeRates[p.Currency]; {
	case has:
	case others && p.Currency == "":
		r.Problem("currency", "is missing; set the currency of the sums over all sites, such as \"CHF\"")
	case others || len(p.ExchangeRates) > 0 && p.Currency != "":
		r.Problem("currency", "%q has no exchange rate; add it to [exchange_rates]", p.Currency)
	}
}

func (p *Plan) siteBroker(r *settings.Reader, key string, s *Site) {
	currency, named := s.Currency, key+".currency"
	if currency == "" {
		currency, named = p.Currency, "currency"
	}
	zone, err := p.zone(s)
	if err != nil { // reported with the electricity
		zone = time.UTC
	}
	if _, has := p.ExchangeRates[currency]; s.Currency != p.Currency && s.Currency != "" && !has {
		r.Problem(named, "%q has no exchange rate; add it to [exchange_rates]", currency)
	}
	tables := p.charging(r, currency, named, zone)
	tables.Powered, tables.Priced, tables.MHz = s.Power.WattsPerCPU > 0, s.Price != nil || s.PriceFile != nil || s.fed(), s.LocalSched.MHz
	tables.CPUModel(key+".localsched.cpu_model", s.LocalSched.CPUModel)
	if s.Cost.Eco != nil && !tables.Powered {
		r.Problem(key+".cost.eco", "needs [site.power] watts_per_cpu for the energy of jobs; set it too")
	}
	s.charges = tables.Costs(key+".cost", &s.Cost)
	if s.charges != nil && s.Tariff.CPUHour != 0 {
		r.Problem(key+".tariff.cpu_hour", "excludes [site.cost], as a CPU would be paid twice; write it as price in [site.cost.cpu]")
	}
}

func (p *Plan) charging(r *settings.Reader, currency, named string, zone *time.Location) config.Charging {
	return config.Charging{Reader: r, Currency: currency, CurrencyKey: named, ExchangeRates: p.ExchangeRates, Zone: zone}
}

// setPath sets a key that is named with its tables.
func (p *Plan) setPath(path, value string) error {
	if strings.ContainsFunc(path, notInKey) || strings.ContainsAny(value, "\r\n") {
		return errors.New("write one key with its tables, as site.NAME.cost.cpu.price, and one value")
	}
	table, key, err := p.tableOf(path)
	if err != nil {
		return err
	}
	kind, _, _ := strings.Cut(path, ".")
	for _, one := range settings.Renames() {
		if old := settings.Join(kind, key); table != "" && (old == one.Old || strings.HasPrefix(old, one.Old+".")) {
			return errors.New(one.Text())
		}
	}
	into := p.at(table, nameIn(path))
	r := settings.NewReader(into)
	r.Text("", "", key+" = "+value)
	if faults, ok := errors.AsType[problems.List](r.Err()); ok { // a text or a duration without its quotes?
		broken := r.Broken()
		r = settings.NewReader(into)
		r.Text("", "", key+" = "+settings.Quote(value))
		if again, ok := errors.AsType[problems.List](r.Err()); ok {
			if broken {
				faults = again
			}
			return errors.New(faults[0].Text)
		}
	}
	p.places = maps.Clone(p.places)
	if p.places == nil {
		p.places = settings.Places{}
	}
	for at, place := range r.Places() {
		p.places[settings.Join(table, at)] = place
	}
	return nil
}

// at is the table of a plan that [Plan.tableOf] found.
func (p *Plan) at(table, name string) any {
	switch kind, _, _ := strings.Cut(table, "["); kind {
	case "site":
		return &p.Sites[p.site(name)]
	case "application":
		return &p.Applications[p.application(name)]
	case "waiting_cost":
		return &p.WaitingCosts[p.curve(name)]
	case "workload":
		return &p.Workloads[p.workloadOf(name)]
	}
	return p
}

func notInKey(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
}

// tableOf is the table, as "site[2]", and the key in it that a path means.
func (p *Plan) tableOf(path string) (table, key string, err error) {
	kind, rest, _ := strings.Cut(path, ".")
	var index int
	switch name := nameIn(path); kind {
	case "site":
		index = p.site(name)
	case "application":
		index = p.application(name)
	case "waiting_cost":
		index = p.curve(name)
	case "workload":
		index = p.workloadOf(name)
	default:
		return "", path, nil
	}
	_, key, named := strings.Cut(rest, ".")
	if kind == "workload" && named && !slices.Contains(drawnKeys(), key) {
		return "", "", fmt.Errorf("%q of a workload cannot be set; use %s", key, strings.Join(drawnKeys(), ", "))
	}
	if index < 0 || !named {
		return "", "", fmt.Errorf("unknown name %q; no [[%s]] has it", nameIn(path), kind)
	}
	return fmt.Sprintf("%s[%d]", kind, index), key, nil
}

// nameIn is the name in the path of a key of an array of tables.
func nameIn(path string) string {
	_, rest, _ := strings.Cut(path, ".")
	name, _, _ := strings.Cut(rest, ".")
	return name
}

// drawnKeys are the keys of a workload that apply when its jobs are drawn. The others apply when its files are read.
func drawnKeys() []string { return []string{"bias", "jobs", "load", "service", "size_unit", "span"} }

// workloadOf is the only workload of a site; -1: the site has none or several.
func (p *Plan) workloadOf(site string) int {
	of := func(w Workload) bool { return w.Site == site && !w.ofGrid() }
	i := slices.IndexFunc(p.Workloads, of)
	if i < 0 || slices.ContainsFunc(p.Workloads[i+1:], of) {
		return -1
	}
	return i
}

func (p *Plan) curve(name string) int {
	return slices.IndexFunc(p.WaitingCosts, func(w config.WaitingCost) bool { return w.Name == name })
}

// ownBroker makes of a copy's tables its own, as far as they are changed.
func (p *Plan) ownBroker() {
	p.Applications, p.files = slices.Clone(p.Applications), slices.Clone(p.files)
	for i := range p.Applications {
		a := &p.Applications[i]
		for _, weight := range []**config.Factor{&a.ComputeWeight, &a.WaitWeight, &a.EnergyWeight, &a.DataWeight} {
			*weight = copied(*weight)
		}
	}
	p.WaitingCosts, p.ExchangeRates = slices.Clone(p.WaitingCosts), maps.Clone(p.ExchangeRates)
	for i := range p.WaitingCosts {
		p.WaitingCosts[i].Steps = maps.Clone(p.WaitingCosts[i].Steps)
	}
	for i := range p.Sites {
		s := &p.Sites[i]
		s.Price, s.PriceFile = copied(s.Price), copied(s.PriceFile)
		l := &s.LocalSched
		l.CPUModel, l.BGP, l.Slurm = copied(l.CPUModel), copied(l.BGP), copied(l.Slurm)
		c := &s.Cost
		c.CPU, c.Eco, c.QoSFactors, c.Licenses = copied(c.CPU), copied(c.Eco), maps.Clone(c.QoSFactors), slices.Clone(c.Licenses)
		if c.CPU != nil {
			c.CPU.Periods = slices.Clone(c.CPU.Periods)
		}
	}
}

// copied is a pointer to a copy; nil stays nil.
func copied[T any](of *T) *T {
	if of == nil {
		return nil
	}
	own := *of
	return &own
}

func (s *Site) model() protocol.Machine {
	if s.LocalSched.CPUModel == nil {
		return protocol.Machine{}
	}
	return s.LocalSched.CPUModel.Model()
}

// brokered puts the applications and what they are chosen by into a simulation.
func (p *Plan) brokered(cfg *sim.Config, applications []sim.Application, when calendar) {
	cfg.Applications, cfg.Exchange = applications, p.ExchangeRates.Exchange()
	charged := len(applications) > 0
	for i := range p.Sites {
		s, to := &p.Sites[i], &cfg.Sites[i]
		to.Currency = cmp.Or(s.Currency, p.Currency)
		to.WaitingCosts, to.DefaultWeights = config.Curves(p.WaitingCosts), p.DefaultWeights.Weights()
		if s.charges != nil {
			to.Costs, to.Tariff, charged = s.charges, localsched.Tariff{}, true
			to.QOS = slices.Sorted(maps.Keys(s.charges.Classes))
			to.Electricity.Milliwatts = s.Power.WattsPerCPU.Milliwatts()
		}
	}
	if charged {
		cfg.Begin = when.begin
	}
}
