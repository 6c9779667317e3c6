package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

// Page shows results on one page: the answer of each, those of single settings beside each other as
// in the paper's figures, sweeps as curves over their first axis of numbers, and
// what sites gain by joining.
func Page(title string, results []*Swept, source report.Source) (report.Page, error) {
	page := report.Page{Title: title, Lead: answers(results), Source: source}
	if len(results) == 0 {
		return page, errors.New("there are no results to show")
	}
	if section, ok, err := schemesSection(results); err != nil {
		return page, err
	} else if ok {
		page.Sections = append(page.Sections, section)
	}
	for i, swept := range results {
		section, err := swept.section(fmt.Sprintf("%s-%d", slug(swept.Experiment), i+1))
		if err != nil {
			return page, err
		}
		page.Sections = append(page.Sections, section)
	}
	return page, nil
}

// slug makes a name for files of a title.
func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, title)
}

// Label is the scheme as [SS] calls it.
func (s Scheme) Label() string {
	switch s {
	case Sender:
		return "S-I"
	case Receiver:
		return "R-I"
	case Symmetric:
		return "Sy-I"
	case Local, Cycle, Central, Portal, Ideal, Configured:
	}
	return string(s)
}

// schemesSection shows [SchemesFigure], if the results have one.
func schemesSection(results []*Swept) (section report.Section, ok bool, err error) {
	drawn, ok, err := SchemesFigure("schemes", results)
	return report.Section{Title: "The schemes beside each other", Figures: []report.Figure{drawn}}, ok, err
}

// SchemesFigure is the figure of the schemes of all results that have one setting
// and the local scheme to compare with, as the first such one has them. It is not ok if there is no such result.
func SchemesFigure(name string, results []*Swept) (drawn report.Figure, ok bool, err error) {
	var runs []report.WorkloadRuns
	figure := 4
	for _, swept := range results {
		w := report.WorkloadRuns{Workload: swept.Experiment}
		for _, p := range swept.Points {
			w.Schemes = append(w.Schemes, report.SchemeRuns{Scheme: p.Scheme.Label(), Samples: p.samples()})
		}
		sameSchemes := len(runs) == 0 || slices.EqualFunc(runs[0].Schemes, w.Schemes,
			func(a, b report.SchemeRuns) bool { return a.Scheme == b.Scheme })
		if !swept.plain() || !sameSchemes {
			continue
		}
		if strings.HasSuffix(w.Workload, "month") || strings.HasSuffix(w.Workload, "months") {
			figure = 3
		}
		runs = append(runs, w)
	}
	if len(runs) == 0 {
		return drawn, false, nil
	}
	bars, err := report.PaperFigure(figure, report.Words{
		Name: name, Title: "The schemes",
		Caption: "Means over the seeds with 95 % intervals. Times are relative to the local scheme.",
	}, runs)
	if err != nil {
		return drawn, false, err
	}
	drawn, err = bars.Figure()
	return drawn, true, err
}

// plain says whether a sweep has one setting, several schemes, and local.
func (s *Swept) plain() bool {
	local := slices.ContainsFunc(s.Points, func(p Point) bool { return p.Scheme == Local })
	return len(s.varied()) == 0 && len(s.Joining) == 0 && local && len(s.Points) > 1
}

// varied are the axes with more than one value.
func (s *Swept) varied() []Axis {
	return slices.DeleteFunc(slices.Clone(s.Axes), func(a Axis) bool { return len(a.Values) < 2 })
}

func (p *Point) samples() []report.Sample {
	samples := make([]report.Sample, len(p.Metrics["mean_wait_s"].Values))
	at := func(key string, i int) float64 {
		if values := p.Metrics[key].Values; i < len(values) {
			return values[i]
		}
		return 0
	}
	for i := range samples {
		samples[i] = report.Sample{
			Wait: at("mean_wait_s", i), Response: at("mean_response_s", i), Deviation: at("wait_deviation_s", i),
			Efficiency: at("grid_efficiency", i), Transferred: at("fraction_transferred", i),
		}
	}
	return samples
}

// section shows one result.
func (s *Swept) section(name string) (report.Section, error) {
	section := report.Section{Title: s.Experiment, Text: s.lead(), Tables: s.tables()}
	bars, err := s.joiningBars(name)
	if err != nil {
		return section, err
	}
	section.Figures = bars
	policies, ok, err := s.PoliciesFigure(name + "-policies")
	if err != nil {
		return section, err
	}
	if ok {
		section.Figures = append(section.Figures, policies)
	}
	curves, err := s.curves(name)
	section.Figures = append(section.Figures, curves...)
	return section, err
}

func (s *Swept) lead() string {
	text := fmt.Sprintf("%d seeds, from %d on. Numbers are means over the seeds; ± is the half width of the 95 %% "+
		"confidence interval (Student's t), which figures cut off where no value can be: below 0 and above 100 %%.", len(s.Seeds), s.Seeds[0])
	if len(s.Seeds) == 1 {
		text = fmt.Sprintf("A single seed, %d: there are no confidence intervals.", s.Seeds[0])
	}
	if s.Constant() {
		text += " " + ConstantNotice
	}
	if len(s.Joining) > 0 {
		text += fmt.Sprintf("\n\n%s joins: \"apart\" means that the others are a grid and %[1]s is alone, \"joined\" that "+
			"all are one grid. Both have the same jobs. A difference is joined minus apart, from seed to seed.",
			strings.Join(s.Joining, " and ")) + " " + s.Window()
	}
	return strings.TrimSpace(text)
}

// ConstantNotice says what ± is where [Swept.Constant] holds.
const ConstantNotice = "All seeds gave the same results, so ± 0 is no confidence interval: nothing that matters is sampled, as the jobs are those of traces."

// Constant says whether several seeds have the same results at every point.
func (s *Swept) Constant() bool {
	if len(s.Seeds) < 2 {
		return false
	}
	for i := range s.Points {
		for _, average := range s.Points[i].Metrics {
			if slices.ContainsFunc(average.Values, func(x float64) bool { return x != average.Values[0] }) {
				return false
			}
		}
	}
	return true
}

// column is a metric of tables, curves and bars.
type column struct {
	key, title string
	scale      float64 // to the numbers that are shown
	kind       report.Kind
	partial    bool // not under every scheme, nor in every experiment
}

// text prints an estimate of the metric, or of a difference of it.
func (c *column) text(e report.Average) string {
	if c.kind == report.Time {
		return e.Clock()
	}
	return e.Text(c.scale)
}

// shown are the metrics of all sites together.
func (s *Swept) shown() []column {
	all := []column{
		{key: "mean_wait_s", title: "mean wait", scale: 1, kind: report.Time},
		{key: "mean_response_s", title: "mean response", scale: 1, kind: report.Time},
		{key: "bounded_slowdown", title: "bounded slowdown", scale: 1, kind: report.NonNegative},
		{key: "utilization", title: "utilization, %", scale: 100, kind: report.Percent},
		{key: "grid_efficiency", title: "grid efficiency, %", scale: 100, kind: report.Percent},
		{key: "fraction_transferred", title: "jobs transferred, %", scale: 100, kind: report.Percent},
	}
	all = append(all, s.those([]column{{key: "utilization_allocated", title: "allocated, %", scale: 100, kind: report.Percent, partial: true}})...)
	return append(append(all, s.electricity()...), s.ofApplications()...)
}

// electricity are the metrics of electricity that some point has.
func (s *Swept) electricity() []column {
	all := []column{
		{key: "energy_cost", title: "electricity, " + s.Currency, scale: 1, partial: true},
		{key: "energy_mwh", title: "electricity, MWh", scale: 1, kind: report.NonNegative, partial: true},
		{key: "fairness", title: "fairness", scale: 1, kind: report.NonNegative, partial: true},
	}
	return s.those(all)
}

// those are the columns of metrics that some point has.
func (s *Swept) those(all []column) []column {
	return slices.DeleteFunc(all, func(c column) bool {
		return !slices.ContainsFunc(s.Points, func(p Point) bool { return len(p.Metrics[c.key].Values) > 0 })
	})
}

// titles are the columns that tell points apart, and their cells.
func (s *Swept) titles() []string {
	if len(s.Joining) > 0 {
		return append(s.settingTitles(), "grid")
	}
	return s.settingTitles()
}

func (s *Swept) cells(p *Point) []string {
	if len(s.Joining) > 0 {
		return append(s.settingCells(p), string(p.Membership))
	}
	return s.settingCells(p)
}

// settingTitles are the columns of what was set, and their cells.
func (s *Swept) settingTitles() []string {
	var titles []string
	for _, axis := range s.Axes {
		titles = append(titles, axis.Key)
	}
	return append(titles, "scheme")
}

func (s *Swept) settingCells(p *Point) []string {
	var cells []string
	for _, axis := range s.Axes {
		cells = append(cells, p.Settings[axis.Key])
	}
	return append(cells, string(p.Scheme))
}

func (s *Swept) pointsTable() report.Table {
	t := report.Table{Title: "All sites together", Columns: s.titles(), Numbers: len(s.shown())}
	for _, m := range s.shown() {
		t.Columns = append(t.Columns, m.title)
	}
	for i := range s.Points {
		row := s.cells(&s.Points[i])
		for _, m := range s.shown() {
			row = append(row, m.text(s.Points[i].Metrics[m.key]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s *Swept) sitesTable() report.Table {
	t := report.Table{Title: "Each site", Columns: append(s.titles(),
		"site", "jobs submitted", "sent away", "run")}
	shown := append(siteShown(), s.electricity()...)
	for _, m := range shown {
		t.Columns = append(t.Columns, m.title)
	}
	for i := range s.Points {
		for _, site := range s.Points[i].Sites {
			row := append(s.cells(&s.Points[i]), site.Site)
			for _, key := range []string{"jobs_submitted", "jobs_sent", "jobs_run"} {
				row = append(row, site.Metrics[key].Text(1))
			}
			for _, m := range shown {
				row = append(row, m.text(site.Metrics[m.key]))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// Summary are the tables that say the most: all sites together, and what each
// gains by joining.
func (s *Swept) Summary() []report.Table {
	tables := []report.Table{s.pointsTable()}
	if len(s.Joining) > 0 {
		tables = append(tables, s.joiningTable())
	}
	return tables
}

// tables are those of the page.
func (s *Swept) tables() []report.Table { return append(s.Summary(), s.sitesTable()) }
