package tune

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

// Page shows a study: the goal over the values that were tried, what the best point
// changes at each site, and the candidates.
func (r *Result) Page(source report.Source) (report.Page, error) {
	page := report.Page{Title: "Tuning of " + r.Experiment, Lead: r.conclusion() + "\n\n" + r.lead(), Source: source}
	tuned, err := r.tuned()
	if err != nil {
		return page, err
	}
	if len(r.Axes) > 0 {
		page.Sections = append(page.Sections, tuned)
	}
	if len(r.Candidates) > 0 {
		bought, err := r.bought()
		if err != nil {
			return page, err
		}
		page.Sections = append(page.Sections, bought)
	}
	return page, nil
}

func (r *Result) lead() string {
	text := fmt.Sprintf("Every point is simulated for %d seeds, from %d on; ± is the half width of the 95 %% confidence interval. ",
		len(r.Seeds), r.Seeds[0])
	if len(r.Seeds) == 1 {
		text = fmt.Sprintf("Every point is simulated for one seed, %d: there are no confidence intervals. ", r.Seeds[0])
	}
	return text + "The goal is 1 for the experiment as it stands in its file, and less is better: the mean of " + r.weighed() +
		", each relative to what it is there for the same seed."
}

// weighed lists what the goal is made of.
func (r *Result) weighed() string {
	var parts []string
	for _, one := range []struct {
		name   string
		weight float64
	}{
		{"users' cost", r.Weights.Cost},
		{"mean response", r.Weights.Response},
		{"utilization (inverse)", r.Weights.Utilization},
		{"energy", r.Weights.Energy},
		{"limits broken", r.Weights.Limits},
	} {
		if one.weight > 0 {
			parts = append(parts, one.name+" (weight "+value(one.weight)+")")
		}
	}
	return strings.Join(parts, ", ")
}

// tuned is the section of the search.
func (r *Result) tuned() (report.Section, error) {
	section := report.Section{Title: "The weights", Tables: []report.Table{r.pointsTable()}}
	for i := range r.Axes {
		figure, err := r.profile(i)
		if err != nil {
			return section, err
		}
		section.Figures = append(section.Figures, figure)
	}
	if r.Best != nil {
		figure, err := r.sitesFigure()
		if err != nil {
			return section, err
		}
		section.Figures = append(section.Figures, figure)
		section.Tables = append(section.Tables, r.sitesTable())
	}
	return section, nil
}

// conclusion says what is best, by how much, and how sure that is.
func (r *Result) conclusion() string {
	if len(r.Axes) == 0 {
		return ""
	}
	if r.Best == nil {
		return fmt.Sprintf("None of the %d points that were tried is better than the experiment as it stands.", len(r.Points))
	}
	var at []string
	for i, axis := range r.Axes {
		at = append(at, axis.Key+" = "+value(r.best().At[i]))
	}
	goal := r.best().Goal
	sure := ""
	if goal.CI95 != nil && 1-goal.Mean <= *goal.CI95 {
		sure = ", which may be chance"
	}
	return fmt.Sprintf("Of %d points the best is %s, with a goal of %s where the experiment as it stands has 1%s.",
		len(r.Points), strings.Join(at, ", "), fine(goal), sure)
}

// profile is the goal over the values of an axis: for each the best that was reached there,
// whatever the others were.
func (r *Result) profile(axis int) (report.Figure, error) {
	least := map[float64]report.Average{}
	for i := range r.Points {
		x, goal := r.Points[i].At[axis], r.Points[i].Goal
		if known, ok := least[x]; !ok || goal.Mean < known.Mean {
			least[x] = goal
		}
	}
	negative := slices.Min(r.Axes[axis].Values) < 0
	curve, left := report.Curve{Name: "goal"}, ""
	for x, goal := range least { // the figure sorts them
		if x == 0 && !negative {
			left = " The value 0, which has no place on a logarithmic axis, is in the table of points: its goal is " + fine(goal) + "."
			continue
		}
		curve.Points = append(curve.Points, report.Point{X: x, Y: goal.Scaled(1)})
	}
	return report.Curves{
		Words: report.Words{
			Name: "goal-" + strconv.Itoa(axis+1), Title: "The goal over " + r.Axes[axis].Key,
			Caption: "For each value the best that was reached with it, whatever the other axes were. 1 is the experiment as it stands; less is better." + left,
		},
		X: r.Axes[axis].Key, Y: "goal", LogX: !negative, Curves: []report.Curve{curve},
	}.Figure()
}

func (r *Result) sitesFigure() (report.Figure, error) {
	bars := report.Bars{
		Words: report.Words{
			Name: "sites", Title: "Each site before and after", Caption: "Utilization over the time of all sites, and what the site earns.",
		},
		Series: []string{asItStands, theBest}, Of: [2]string{"site", "point"},
		Panels: []report.Panel{{Title: "utilization, %", Kind: report.Percent}, {Title: in("income", r.Currency)}},
	}
	for _, site := range r.Baseline.Sites {
		bars.Groups = append(bars.Groups, site.Site)
	}
	for _, t := range []*Tried{&r.Baseline, r.best()} {
		var used, earned []report.Estimate
		for i := range t.Sites {
			used, earned = append(used, t.Sites[i].Utilization.Scaled(percent)), append(earned, t.Sites[i].Income.Scaled(1))
		}
		bars.Panels[0].Values = append(bars.Panels[0].Values, used)
		bars.Panels[1].Values = append(bars.Panels[1].Values, earned)
	}
	return bars.Figure()
}

// bought is the section of the candidates.
func (r *Result) bought() (report.Section, error) {
	section := report.Section{
		Title: "What to buy next", Tables: []report.Table{r.candidatesTable()},
		Text: "Each candidate is added to the grid, or taken from it, with the best weights, and the same work is done. " +
			"Its gain is how much less than 1 the goal is beside the grid without it; changes are parts of what there was. " +
			"A price counts by the year of the candidate's lifetime; savings are those of the time simulated, as if a year went on so.",
	}
	ranking, err := r.rankingFigure()
	if err != nil {
		return section, err
	}
	used, err := r.usedFigure()
	if err != nil {
		return section, err
	}
	section.Figures = []report.Figure{ranking, used}
	if len(r.Demands) > 0 {
		section.Text += "\n\nIf waiting costs nothing (β = 0), all components run where the cost is lowest. Demand is the share of all work that " +
			"a site then gets, divided by its share of all CPUs. A machine far above 1 is overused; another of its kind \"should in addition be installed\" [IS 4.2]."
		section.Tables = append(section.Tables, r.demandTable())
	}
	return section, nil
}

func (r *Result) rankingFigure() (report.Figure, error) {
	bars := report.Bars{
		Words: report.Words{
			Name: "candidates", Title: "The candidates", Caption: "The best first. A gain is better when it is more, the changes of cost and response when they are less.",
		},
		Series: []string{"with it"}, Of: [2]string{"candidate", "grid"},
	}
	for _, c := range r.Candidates {
		bars.Groups = append(bars.Groups, c.Name)
	}
	for _, panel := range []struct {
		title string
		of    func(*Ranked) report.Average
	}{
		{"gain, %", func(c *Ranked) report.Average { return c.Gain }},
		{"users' cost, change in %", func(c *Ranked) report.Average { return c.Cost }},
		{"mean response, change in %", func(c *Ranked) report.Average { return c.Response }},
	} {
		var values []report.Estimate
		for i := range r.Candidates {
			values = append(values, panel.of(&r.Candidates[i]).Scaled(percent))
		}
		bars.Panels = append(bars.Panels, report.Panel{Title: panel.title, Values: [][]report.Estimate{values}})
	}
	return bars.Figure()
}

// usedFigure is the utilization of every site without and with each candidate.
func (r *Result) usedFigure() (report.Figure, error) {
	bars := report.Bars{
		Words: report.Words{
			Name: "used", Title: "Each site without and with the candidates", Caption: "Utilization over the time of all sites. Machines that are retired have none.",
		},
		Series: []string{"without"}, Of: [2]string{"site", "candidate"}, Panels: []report.Panel{{Title: "utilization, %", Kind: report.Percent}},
	}
	all := []*Means{&r.best().Means}
	for i := range r.Candidates {
		bars.Series = append(bars.Series, r.Candidates[i].Name)
		all = append(all, &r.Candidates[i].Means)
	}
	for _, m := range all {
		for _, site := range m.Sites {
			if !slices.Contains(bars.Groups, site.Site) {
				bars.Groups = append(bars.Groups, site.Site)
			}
		}
	}
	for _, m := range all {
		values := make([]report.Estimate, len(bars.Groups))
		for i, name := range bars.Groups {
			if site := m.site(name); site != nil {
				values[i] = site.Utilization.Scaled(percent)
			}
		}
		bars.Panels[0].Values = append(bars.Panels[0].Values, values)
	}
	return bars.Figure()
}
