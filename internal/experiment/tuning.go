package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tuning is what the ISS-Simulator looks for [IS 5]: the values of some keys of the
// experiment for which it does best by a goal.
type Tuning struct {
	Method string     `toml:"method"`
	Runs   int        `toml:"runs"`  // points that are simulated at most, each for all seeds
	Seeds  int        `toml:"seeds"` // 0: those of the plan
	Goal   Goal       `toml:"goal"`
	Axes   []TuneAxis `toml:"axis"`
}

// The values of [Tuning.Method].
const (
	GridSearch = "grid"        // all combinations of the values
	NelderMead = "nelder-mead" // a simplex that moves between the least and the largest values
)

// Methods returns the ways to search.
func Methods() []string { return []string{GridSearch, NelderMead} }

// Goal says how much each measure counts. Measures are taken relative to the experiment
// as its file has it.
type Goal struct {
	Cost        float64 `toml:"cost"        json:"cost"`        // what users pay
	Response    float64 `toml:"response"    json:"response"`    // mean, from submission to the last result
	Utilization float64 `toml:"utilization" json:"utilization"` // of all CPUs
	Energy      float64 `toml:"energy"      json:"energy"`
	Limits      float64 `toml:"limits"      json:"limits"` // KMAX and TMAX that are kept
}

// Sum is the sum of the weights.
func (g Goal) Sum() float64 { return g.Cost + g.Response + g.Utilization + g.Energy + g.Limits }

// TuneAxis is a key, as [Plan.With] has it, and the numbers that are tried for it.
type TuneAxis struct {
	Key    string    `toml:"key"`
	Values []float64 `toml:"values"`
}

// At are the settings that give an axis a value: of all sites, applications or curves where
// the key has a * for their names.
func (p *Plan) At(axis *TuneAxis, value float64) []Setting {
	text := strconv.FormatFloat(value, 'f', -1, 64)
	table, rest, every := strings.Cut(axis.Key, ".*.")
	if !every {
		return []Setting{{axis.Key, text}}
	}
	var settings []Setting
	for _, name := range p.names(table) {
		settings = append(settings, Setting{table + "." + name + "." + rest, text})
	}
	return settings
}

// names are those of the elements of an array of tables; none of others.
func (p *Plan) names(table string) (names []string) {
	switch table {
	case "site":
		for i := range p.Sites {
			names = append(names, p.Sites[i].Name)
		}
	case "application":
		for i := range p.Applications {
			names = append(names, p.Applications[i].called())
		}
	case "waiting_cost":
		for i := range p.WaitingCosts {
			names = append(names, p.WaitingCosts[i].Name)
		}
	}
	return names
}

// Patient returns the plan with β = 0 for all users: where waiting costs nothing, jobs run
// at the cheapest sites [IS 4.2].
func (p *Plan) Patient() (*Plan, error) {
	changed, err := p.With(Setting{"default_weights.wait_weight", "0"})
	if err != nil {
		return nil, err
	}
	for i := range changed.Applications {
		a := &changed.Applications[i]
		a.Objective, a.ComputeWeight, a.WaitWeight, a.EnergyWeight, a.DataWeight = string(cost.Cheapest), nil, nil, nil, nil
	}
	return changed, nil
}

// Candidate is a machine that may be bought, or given up: a change of the grid that is
// simulated before anybody pays for it.
type Candidate struct {
	Name     string            `toml:"name"`
	Price    settings.Amount   `toml:"price"` // in the plan's currency; 0: it is not looked at
	Lifetime protocol.Duration `toml:"lifetime"`
	Retire   []string          `toml:"retire"` // sites whose machines are given up
	Site     *Site             `toml:"site"`   // nil: nothing is bought
}

// SetDefaults implements [settings.Defaulter].
func (t *Tuning) SetDefaults() { *t = Tuning{Method: GridSearch, Runs: 100} }

// SetDefaults implements [settings.Defaulter]. Four years is how long clusters are run.
func (c *Candidate) SetDefaults() { *c = Candidate{Lifetime: 4 * 365 * protocol.Day} }

// Buying returns the plan with what the candidate changes. Users of a machine that is given
// up stay, and submit there what has to run elsewhere.
func (p *Plan) Buying(c *Candidate) (*Plan, error) {
	changed := p.clone()
	for _, name := range c.Retire {
		changed.Sites[p.site(name)].LocalSched.MaxWallTime = protocol.Millisecond // no job asks for so little
	}
	if c.Site == nil {
		return changed, nil
	}
	changed.Sites = append(changed.Sites, *c.Site)
	last := len(changed.Sites) - 1
	bought, err := changed.supply(&changed.Sites[last])
	changed.supplies = append(changed.supplies, bought)
	return changed, err
}

// checkTuning checks what is searched for and the candidates. It stands apart from
// [Plan.check], whose plans it makes.
func (p *Plan) checkTuning(c *checker) {
	if p.Tune != nil {
		p.checkTune(c)
	}
	if len(p.Candidates) > 0 && p.Tune == nil && !p.onlyPark {
		c.Problem("candidate[0]", "is judged by a goal; say what counts, as response = 1 and cost = 1 in a table [tune.goal]")
	}
	for i := range p.Candidates {
		p.checkCandidate(c, i)
	}
}

func (p *Plan) checkTune(c *checker) {
	t := p.Tune
	if !slices.Contains(Methods(), t.Method) {
		c.Problem("tune.method", "invalid method %q; use %s", t.Method, oneOf(Methods()))
	}
	c.AtLeast("tune.seeds", t.Seeds, 0)
	if t.Seeds > maxRuns {
		c.Problem("tune.seeds", "%d is more than %d", t.Seeds, maxRuns)
	}
	if t.Runs < 1 || t.Runs > maxRuns {
		c.Problem("tune.runs", "%d is outside 1 to %d", t.Runs, maxRuns)
	}
	for _, weight := range []struct {
		key string
		of  float64
	}{
		{"cost", t.Goal.Cost},
		{"response", t.Goal.Response},
		{"utilization", t.Goal.Utilization},
		{"energy", t.Goal.Energy},
		{"limits", t.Goal.Limits},
	} {
		if !(weight.of >= 0 && weight.of <= maxFactor) {
			c.Problem("tune.goal."+weight.key, "%v is not a weight from 0 to %d", weight.of, maxFactor)
		}
	}
	if t.Goal.Limits > 0 && len(p.Applications) == 0 {
		c.Problem("tune.goal.limits", "counts applications, and there are none; leave it out, or describe some in tables [[application]]")
	}
	if t.Goal == (Goal{}) {
		c.Problem("tune.goal", "is missing; set at least one weight, such as response = 1 and cost = 1 in a table [tune.goal]")
	}
	points := 1
	for i := range t.Axes {
		p.checkAxis(c, i)
		points = min(points*max(1, len(t.Axes[i].Values)), maxRuns+1)
	}
	if t.Method == GridSearch && points > t.Runs {
		c.Problem("tune.runs", "%d is less than the points of the grid; raise it, give fewer values, or use the method %q", t.Runs, NelderMead)
	}
}

func (p *Plan) checkAxis(c *checker, i int) {
	axis, key := &p.Tune.Axes[i], fmt.Sprintf("tune.axis[%d]", i)
	first := slices.IndexFunc(p.Tune.Axes, func(o TuneAxis) bool { return o.Key == axis.Key })
	_, rest, every := strings.Cut(axis.Key, "*")
	switch {
	case axis.Key == "":
		c.Problem(key+".key", "is missing; name a key, as \"default_weights.wait_weight\" or \"site.NAME.cost.cpu.price\"")
	case first != i:
		c.Problem(key+".key", "%q is another axis too", axis.Key)
	case every && (!strings.HasPrefix(rest, ".") || len(p.At(axis, 0)) == 0):
		c.Problem(key+".key", "there is nothing that %q could mean; use site.*, application.* or waiting_cost.*, where there are such", axis.Key)
	default:
		p.checkValues(c, key, axis)
	}
}

// checkValues checks the numbers that are tried for a key, and that the plan can have each.
func (p *Plan) checkValues(c *checker, key string, axis *TuneAxis) {
	sorted := slices.Sorted(slices.Values(axis.Values))
	switch {
	case len(sorted) < 2:
		c.Problem(key+".values", "needs two numbers or more to choose from")
	case len(slices.Compact(slices.Clone(sorted))) < len(sorted):
		c.Problem(key+".values", "has a number twice")
	case p.Tune.Method == NelderMead && (sorted[0] < 0 || sorted[len(sorted)-2] <= 0):
		c.Problem(key+".values", "the method %q goes by factors; give two numbers above 0, and none below", NelderMead)
	}
	_, fault := p.With()
	for _, value := range axis.Values {
		if _, err := p.With(p.At(axis, value)...); err != nil && (fault == nil || err.Error() != fault.Error()) {
			c.Problem(key, "%v", err)
			return
		}
	}
}

// maxPaid is the largest price of a candidate in units of money, so that parts of it can be
// compared.
const maxPaid = 1_000_000_000

func (p *Plan) checkCandidate(c *checker, i int) {
	one, key := &p.Candidates[i], fmt.Sprintf("candidate[%d]", i)
	same := func(o Candidate) bool { return o.Name == one.Name }
	switch {
	case one.Name == "":
		c.Problem(key+".name", "is missing; set the name of the candidate")
	case slices.IndexFunc(p.Candidates, same) != i:
		c.Problem(key+".name", "%q is the name of another candidate too", one.Name)
	}
	c.span(key+".lifetime", one.Lifetime, protocol.Day)
	p.checkPaid(c, key, one)
	p.checkRetired(c, key, one)
	if one.Site != nil {
		p.checkBought(c, key+".site", one.Site)
	}
}

func (p *Plan) checkPaid(c *checker, key string, one *Candidate) {
	c.price(key+".price", one.Price)
	if one.Price > maxPaid*protocol.PPM {
		c.Problem(key+".price", "is more than %d", maxPaid)
	}
	if one.Price > 0 && p.Currency == "" {
		c.Problem(key+".price", "is in no currency; set the key currency above the tables, as \"EUR\"")
	}
	first := slices.IndexFunc(p.Candidates, func(o Candidate) bool { return o.Site != nil })
	if one.Site != nil && (one.Price > 0) != (p.Candidates[first].Price > 0) {
		c.Problem(key+".price", "is needed for all candidates that bring a machine, or for none; %q says otherwise", p.Candidates[first].Name)
	}
}

func (p *Plan) checkRetired(c *checker, key string, one *Candidate) {
	for k, name := range one.Retire {
		p.known(c, fmt.Sprintf("%s.retire[%d]", key, k), name)
		if slices.Index(one.Retire, name) != k {
			c.Problem(fmt.Sprintf("%s.retire[%d]", key, k), "%q comes twice", name)
		}
	}
	switch {
	case len(one.Retire) == 0 && one.Site == nil:
		c.Problem(key, "changes nothing; describe a machine in a table [candidate.site], or name sites to retire")
	case len(one.Retire) >= len(p.Sites) && one.Site == nil:
		c.Problem(key+".retire", "leaves no machine")
	case len(one.Retire) > 0 && (p.History > 0 || p.GridShare != settings.Whole):
		c.Problem(key+".retire", "excludes history and grid_share, by which jobs stay where they were submitted and would never run")
	}
}

// checkBought checks the site of a candidate as one of the grid.
func (p *Plan) checkBought(c *checker, key string, s *Site) {
	p.checkSiteTables(c, key, s)
	p.siteBroker(c.Reader, key, s)
	grid := p.clone()
	grid.Sites = append(grid.Sites, *s)
	grid.checkSite(c, key, len(p.Sites))
}

// Paid is what users pay for all runs, links included, and what each site earns by them, in
// the currency of the plan. Where sites charge nothing there is neither.
func (o *Outcome) Paid() (users float64, sites []float64) {
	for i := range o.Result.Ledgers {
		ledger, currency := &o.Result.Ledgers[i], o.config.Sites[i].Currency
		sites = append(sites, o.Plan.units(&o.config, ledger.Income, currency))
		users += o.Plan.units(&o.config, ledger.Jobs.Plus(ledger.Links), currency)
	}
	if o.Applications != nil {
		users += o.Applications.Cost
	}
	return users, sites
}

// Drawn is the energy in kWh that the jobs of the workload drew, by watts_per_cpu of the
// sites that ran them and their factors of [power].
func (o *Outcome) Drawn() (kWh float64) {
	for i, p := range o.Result.Placements {
		if p.Site < 0 {
			continue
		}
		power := o.config.Draw(o.Plan.Sites[p.Site].Power.WattsPerCPU.Milliwatts(), o.Jobs, i)
		kWh += float64(power) * float64(p.End-p.Start) / milliwattMSOfKWh
	}
	return kWh
}

const milliwattMSOfKWh = 3.6e12
