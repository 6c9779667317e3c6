package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Elsewhere says what the runs of a live site's history would have cost at each site of an experiment, and which
// of its candidates would have paid: "a statistical study on the adequacy of the machines in the Grid" [IS 4.3].
type Elsewhere struct {
	Experiment string      `json:"experiment"`
	Currency   string      `json:"currency,omitempty"`
	Runs       int         `json:"runs"`     // that ended by themselves
	LeftOut    int         `json:"left_out"` // that ended at their time limit: how long they would have run is not known
	Actual     float64     `json:"cost"`     // where the runs were, by the experiment's prices
	Cheapest   float64     `json:"cost_at_cheapest"`
	Sites      []PastSite  `json:"sites"`
	Candidates []PastBuy   `json:"candidates,omitempty"` // the one that saves most for its price first
	Components []PastSpent `json:"components"`
}

// PastSite is what a site would have made of the runs that have enough CPUs there.
type PastSite struct {
	Site   string  `json:"site"`
	Ran    int     `json:"ran"`            // of the runs, those that were here
	Fit    int     `json:"fit"`            // runs that it has the CPUs for
	Actual float64 `json:"cost"`           // of the runs that fit, where they were
	Here   float64 `json:"cost_here"`      // of the same runs here
	Longer float64 `json:"run_time_ratio"` // of their run times here and where they were
	Best   int     `json:"cheapest"`       // runs for which it is the cheapest site
}

// PastBuy is a candidate beside the experiment's sites, if each run had been at the cheapest of them.
type PastBuy struct {
	Name    string   `json:"name"`
	Runs    int      `json:"runs"`  // that would have been cheapest there
	Saved   float64  `json:"saved"` // by them
	PerYear *float64 `json:"price_per_year,omitempty"`
}

// PastSpent is a component, where it ran and where it would have been cheapest.
type PastSpent struct {
	User     string   `json:"user"`
	Name     string   `json:"name"`
	Runs     int      `json:"runs"`
	Actual   float64  `json:"cost"`
	Cheapest float64  `json:"cost_at_cheapest"`
	Where    []string `json:"cheapest_sites"`
}

// ReadHistory reads the output of "switchyard runs --json".
func ReadHistory(r io.Reader) (history view.RunHistory, err error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&history); err != nil {
		return history, fmt.Errorf("this is no run history: %w; write it with \"switchyard runs --all --json\"", err)
	}
	return history, nil
}

// pastRun is a run with what is needed to price it at other sites.
type pastRun struct {
	view.PastRun

	site  int // index in the plan
	start protocol.Instant
}

// PriceHistory prices every run of a history at every site and candidate of a plan, at the time at which it ran.
// Its run time at other sites is predicted from all runs of its component by the Γ model. The error names all sites
// that the plan lacks, and all that lack prices or a machine.
func PriceHistory(plan *experiment.Plan, history *view.RunHistory) (*Elsewhere, error) {
	e := &Elsewhere{Experiment: plan.Name, Currency: plan.Currency}
	for i := range plan.Sites {
		e.Sites = append(e.Sites, PastSite{Site: plan.Sites[i].Name})
	}
	for i := range plan.Candidates {
		if one := &plan.Candidates[i]; one.Site != nil {
			bought := PastBuy{Name: one.Name}
			if one.Price > 0 {
				price := perYear(one)
				bought.PerYear = &price
			}
			e.Candidates = append(e.Candidates, bought)
		}
	}
	var wrong []error
	for i := range history.Components {
		if err := e.component(plan, &history.Components[i]); err != nil && !slices.ContainsFunc(wrong, func(o error) bool { return o.Error() == err.Error() }) {
			wrong = append(wrong, err)
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	if e.Runs == 0 {
		return nil, errors.New("the run history has no run that ended by itself")
	}
	slices.SortStableFunc(e.Candidates, func(a, b PastBuy) int { return -compareWorth(&a, &b) })
	return e, nil
}

// compareWorth orders candidates by what they save for each unit of their price.
func compareWorth(a, b *PastBuy) int {
	worth := func(c *PastBuy) float64 {
		if c.PerYear == nil {
			return c.Saved
		}
		return c.Saved / *c.PerYear
	}
	switch x, y := worth(a), worth(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// component prices the runs of one.
func (e *Elsewhere) component(plan *experiment.Plan, c *view.ComponentHistory) error {
	var runs []pastRun
	var seen []gamma.Execution
	for _, there := range c.Sites {
		i := slices.IndexFunc(plan.Sites, func(s experiment.Site) bool { return s.Name == string(there.Site) })
		if i < 0 {
			return fmt.Errorf("the run history has runs at site %s, which the experiment does not have; add a [[site]] of that name", there.Site)
		}
		for _, run := range there.Runs {
			if run.Censored {
				e.LeftOut++
				continue
			}
			if most := plan.Sites[i].LocalSched.CPUs; run.Ran < 1 || run.CPUs < 1 || run.CPUs > most {
				return fmt.Errorf("component %s: the run history has a run of %d ms on %d CPUs at site %s, which has %d CPUs in the experiment",
					c.Name, int64(run.Ran), run.CPUs, there.Site, most)
			}
			runs = append(runs, pastRun{run, i, run.At.Add(-run.Ran)})
			seen = append(seen, gamma.Execution{
				Site: there.Site, Machine: plan.Sites[i].CPUModel(), MHz: plan.Sites[i].LocalSched.MHz, CPUs: run.CPUs, Ran: run.Ran, Usage: run.Usage, At: run.At,
			})
		}
	}
	known := gamma.Learn(c.Behavior, seen)
	spent := PastSpent{User: c.User, Name: c.Name, Runs: len(runs)}
	for i := range runs {
		if err := e.price(plan, &known, &runs[i], &spent); err != nil {
			return fmt.Errorf("component %s: %w", c.Name, err)
		}
	}
	if len(runs) > 0 {
		e.Components = append(e.Components, spent)
	}
	return nil
}

// price adds a run to all sums.
func (e *Elsewhere) price(plan *experiment.Plan, known *gamma.Knowledge, run *pastRun, spent *PastSpent) error {
	paid, err := plan.Charge(&plan.Sites[run.site], run.CPUs, run.start, run.Ran)
	if err != nil {
		return err
	}
	actual := units(paid)
	least, best := actual, run.site
	for i := range plan.Sites {
		site := &e.Sites[i]
		if i == run.site {
			site.Ran++
		}
		here, took, ok, err := run.at(plan, &plan.Sites[i], known, i == run.site)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		before := float64(site.Fit)
		site.Longer = (site.Longer*before + float64(took)/float64(run.Ran)) / (before + 1)
		site.Fit++
		site.Actual, site.Here = site.Actual+actual, site.Here+here
		if here < least {
			least, best = here, i
		}
	}
	e.Sites[best].Best++
	e.Runs, e.Actual, e.Cheapest = e.Runs+1, e.Actual+actual, e.Cheapest+least
	spent.Actual, spent.Cheapest = spent.Actual+actual, spent.Cheapest+least
	if name := plan.Sites[best].Name; !slices.Contains(spent.Where, name) {
		spent.Where = append(spent.Where, name)
	}
	for k := range e.Candidates {
		c := slices.IndexFunc(plan.Candidates, func(c experiment.Candidate) bool { return c.Name == e.Candidates[k].Name })
		there, _, ok, err := run.at(plan, plan.Candidates[c].Site, known, false)
		if err != nil {
			return err
		}
		if ok && there < least {
			e.Candidates[k].Runs++
			e.Candidates[k].Saved += least - there
		}
	}
	return nil
}

// at is what the run costs at a site and how long it takes there; not ok: it has too few CPUs.
func (run *pastRun) at(plan *experiment.Plan, s *experiment.Site, known *gamma.Knowledge, ran bool) (paid float64, took protocol.Duration, ok bool, err error) {
	if run.CPUs > s.LocalSched.CPUs {
		return 0, 0, false, nil
	}
	took = run.Ran
	if !ran {
		p, _, known := known.Expect(protocol.SiteName(s.Name), s.CPUModel(), run.CPUs)
		if !known || p.Time <= 0 {
			return 0, 0, false, fmt.Errorf("its run time at site %s cannot be predicted; add a table [site.localsched.cpu_model] to all sites", s.Name)
		}
		took = p.Time
	}
	amount, err := plan.Charge(s, run.CPUs, run.start, took)
	return units(amount), took, err == nil, err
}

func units(amount protocol.Micro) float64 { return float64(amount) / float64(protocol.Unit) }

// Tables show what was found.
func (e *Elsewhere) Tables() []report.Table {
	money := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
	sites := report.Table{Numbers: 7, Title: fmt.Sprintf("%s at each site, %d at a time limit left out", protocol.Count(e.Runs, "run"), e.LeftOut), Columns: []string{
		"site", "ran here", "fit", in("their cost", e.Currency), in("cost here", e.Currency), "change, %", "run time here / there", "cheapest for",
	}}
	for _, s := range e.Sites {
		change, longer := "-", "-"
		if s.Fit > 0 && s.Actual > 0 {
			change, longer = strconv.FormatFloat(percent*(s.Here/s.Actual-1), 'f', 1, 64), money(s.Longer)
		}
		sites.Rows = append(sites.Rows, []string{
			s.Site, strconv.Itoa(s.Ran), strconv.Itoa(s.Fit), money(s.Actual), money(s.Here), change, longer, strconv.Itoa(s.Best),
		})
	}
	all := report.Table{Numbers: 3, Title: "Each component, where it ran and at the cheapest sites", Columns: []string{
		"component", "user", "cheapest", "runs", in("cost", e.Currency), in("at the cheapest", e.Currency),
	}}
	for _, c := range e.Components {
		all.Rows = append(all.Rows, []string{c.Name, c.User, fmt.Sprint(c.Where), strconv.Itoa(c.Runs), money(c.Actual), money(c.Cheapest)})
	}
	tables := []report.Table{sites, all}
	if len(e.Candidates) == 0 {
		return tables
	}
	buy := report.Table{Numbers: 3, Title: "What to buy: candidates beside the sites, each run at the cheapest", Columns: []string{
		"candidate", "runs there", in("saved", e.Currency), in("price a year", e.Currency),
	}}
	for _, c := range e.Candidates {
		price := "-"
		if c.PerYear != nil {
			price = money(*c.PerYear)
		}
		buy.Rows = append(buy.Rows, []string{c.Name, strconv.Itoa(c.Runs), money(c.Saved), price})
	}
	return append(tables, buy)
}
