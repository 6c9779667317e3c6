package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// curves draws each metric over the first axis of numbers, see [Swept.CurvesFigure]. A sweep without such an axis
// has none.
func (s *Swept) curves(name string) ([]report.Figure, error) {
	if _, ok := s.numberAxis(); !ok {
		return nil, nil
	}
	var figures []report.Figure
	for _, m := range s.shown() {
		figure, err := s.CurvesFigure(name+"-"+slug(m.key), m.key)
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure)
	}
	return figures, nil
}

// CurvesFigure draws a metric, by its key in JSON, over the first axis of numbers: a curve for each combination of
// the rest.
func (s *Swept) CurvesFigure(name, key string) (report.Figure, error) {
	axis, ok := s.numberAxis()
	shown := s.shown()
	at := slices.IndexFunc(shown, func(m column) bool { return m.key == key })
	if !ok || at < 0 {
		return report.Figure{}, fmt.Errorf("%s of %s cannot be drawn: the sweep has no axis of numbers or not this metric", key, s.Experiment)
	}
	m := shown[at]
	curves := report.Curves{
		Words: report.Words{
			Name:  name,
			Title: m.title + " over " + axis,
			Caption: fmt.Sprintf("Experiment %s, means over %d seeds; the bands are 95 %% intervals.",
				s.Experiment, len(s.Seeds)),
		},
		X: axis, Y: m.title, KindX: axisKind(s.Axes, axis), KindY: m.kind,
	}
	index := map[string]int{}
	for i := range s.Points {
		p := &s.Points[i]
		if m.partial && len(p.Metrics[m.key].Values) == 0 {
			continue
		}
		x, err := axisNumber(p.Settings[axis])
		if err != nil {
			return report.Figure{}, err
		}
		title := s.curve(p, axis)
		at, known := index[title]
		if !known {
			at = len(curves.Curves)
			index[title] = at
			curves.Curves = append(curves.Curves, report.Curve{Name: title})
		}
		c := &curves.Curves[at]
		c.Points = append(c.Points, report.Point{X: x, Y: p.Metrics[m.key].Scaled(m.scale)})
	}
	return curves.Figure()
}

// curve names what tells a point apart but for its place on the axis.
func (s *Swept) curve(p *Point, axis string) string {
	words := []string{p.Scheme.Label()}
	if p.Membership != "" {
		words = append(words, string(p.Membership))
	}
	for _, other := range s.varied() {
		if other.Key != axis {
			words = append(words, other.Key+" "+p.Settings[other.Key])
		}
	}
	return strings.Join(words, ", ")
}

// numberAxis is the first axis of several numbers or durations.
func (s *Swept) numberAxis() (key string, ok bool) {
	for _, axis := range s.varied() {
		numbers := true
		for _, value := range axis.Values {
			_, err := axisNumber(value)
			numbers = numbers && err == nil
		}
		if numbers {
			return axis.Key, true
		}
	}
	return "", false
}

// axisKind is what the values of an axis are.
func axisKind(axes []Axis, key string) report.Kind {
	for _, axis := range axes {
		if axis.Key != key {
			continue
		}
		if _, err := strconv.ParseFloat(axis.Values[0], 64); err != nil {
			return report.Time
		}
	}
	return report.Number
}

// axisNumber is a value's place on an axis: durations count in seconds.
func axisNumber(value string) (float64, error) {
	if x, err := strconv.ParseFloat(value, 64); err == nil {
		return x, nil
	}
	d, err := settings.ParseDuration(value)
	return float64(d) / 1000, err
}

// PoliciesFigure shows the sender-initiated scheme under each local policy, as the
// paper's Figure 5: beside the local scheme under the first of them. Only a sweep of
// policies has it, and of nothing else, under both schemes; others are not ok.
func (s *Swept) PoliciesFigure(name string) (drawn report.Figure, ok bool, err error) {
	varied := s.varied()
	if len(varied) != 1 || varied[0].Key != "policy" || len(s.Joining) > 0 {
		return drawn, false, nil
	}
	runs := report.WorkloadRuns{Workload: s.Experiment}
	local := slices.IndexFunc(s.Points, func(p Point) bool { return p.Scheme == Local })
	for i := range s.Points {
		p := &s.Points[i]
		switch {
		case i == local:
			runs.Schemes = slices.Insert(runs.Schemes, 0, report.SchemeRuns{Scheme: report.Local, Samples: p.samples()})
		case p.Scheme == Sender:
			runs.Schemes = append(runs.Schemes, report.SchemeRuns{Scheme: PolicyLabel(p.Settings["policy"]), Samples: p.samples()})
		}
	}
	if local < 0 || len(runs.Schemes) < 2 {
		return drawn, false, nil
	}
	bars, err := report.PaperFigure(5, report.Words{
		Name: name, Title: "Local policies under S-I",
		Caption: fmt.Sprintf("Means over %d seeds with 95 %% intervals. Times are relative to the local scheme under %s.",
			len(s.Seeds), PolicyLabel(s.Points[local].Settings["policy"])),
	}, []report.WorkloadRuns{runs})
	if err != nil {
		return drawn, false, err
	}
	drawn, err = bars.Figure()
	return drawn, true, err
}

// PolicyLabel is a local policy as [SS] calls it.
func PolicyLabel(name string) string {
	switch name {
	case "easy", "fcfsbf":
		return "FCFS+BF"
	case "firstfit", "ff":
		return "FF"
	case "sjf":
		return "SJF"
	case "sjffit":
		return "SJF skipping"
	}
	return name
}

// joiningTable shows what each site gains.
func (s *Swept) joiningTable() report.Table {
	t := report.Table{
		Title: "What each site gains by joining", Numbers: 3 + 2*len(siteShown()),
		Columns: append(s.settingTitles(), "site", "jobs submitted", "sent away", "run"),
	}
	for _, m := range siteShown() {
		t.Columns = append(t.Columns, m.title, "difference")
	}
	for i := range s.Points {
		p := &s.Points[i]
		if p.Membership != Joined {
			continue
		}
		for _, site := range p.Sites {
			row := append(s.settingCells(p), site.Site, site.Metrics["jobs_submitted"].Text(1),
				site.Metrics["jobs_sent"].Text(1), site.Metrics["jobs_run"].Text(1))
			for _, m := range siteShown() {
				row = append(row, m.text(site.Metrics[m.key]), m.text(site.Gain[m.key]))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// joiningBars shows each site with both memberships, for the first setting and
// scheme that have both.
func (s *Swept) joiningBars(name string) ([]report.Figure, error) {
	at := slices.IndexFunc(s.Points, func(p Point) bool { return p.Membership == Joined })
	if at < 1 {
		return nil, nil
	}
	figure, err := s.joinedBars(name, &s.Points[at-1], &s.Points[at])
	return []report.Figure{figure}, err
}

func siteShown() []column {
	return []column{
		{key: "mean_wait_s", title: "mean wait", scale: 1, kind: report.Time},
		{key: "mean_response_s", title: "mean response", scale: 1, kind: report.Time},
		{key: "utilization", title: "utilization, %", scale: 100, kind: report.Percent},
	}
}

func (s *Swept) joinedBars(name string, apart, joined *Point) (report.Figure, error) {
	bars := report.Bars{
		Words: report.Words{
			Name: name + "-joining", Title: "Each site apart and joined",
			Caption: "Scheme " + string(joined.Scheme) + describe(s.Axes, joined.Settings) +
				". Waits and responses are those of the jobs submitted at the site, wherever they ran.",
		},
		Series: []string{string(Apart), string(Joined)}, Of: [2]string{"site", "grid"},
	}
	for _, site := range joined.Sites {
		bars.Groups = append(bars.Groups, site.Site)
	}
	for _, m := range siteShown() {
		panel := report.Panel{Title: m.title, Kind: m.kind, Values: make([][]report.Estimate, 2)}
		for series, p := range []*Point{apart, joined} {
			for _, site := range p.Sites {
				panel.Values[series] = append(panel.Values[series], site.Metrics[m.key].Scaled(m.scale))
			}
		}
		bars.Panels = append(bars.Panels, panel)
	}
	return bars.Figure()
}

func describe(axes []Axis, settings map[string]string) string {
	var b strings.Builder
	for _, axis := range axes {
		b.WriteString(", " + axis.Key + " " + settings[axis.Key])
	}
	return b.String()
}

// Gantt draws the schedule of an outcome.
func (o *Outcome) Gantt() (report.Figure, error) {
	chart := report.Gantt{Words: report.Words{
		Name: "schedule", Title: "Schedule of " + o.Experiment,
		Caption: fmt.Sprintf("Scheme %s, seed %d. Jobs have the colour of the site where they were submitted.",
			o.Scheme, o.Seed),
	}}
	for i := range o.Plan.Sites {
		chart.Sites = append(chart.Sites, report.GanttSite{Name: o.Plan.Sites[i].Name, CPUs: o.Plan.CPUs(i)})
	}
	for i, job := range o.Jobs {
		placed := o.Result.Placements[i]
		chart.Jobs = append(chart.Jobs, report.GanttJob{
			Site: placed.Site, Origin: job.Origin, CPUs: job.CPUs, Start: placed.Start, End: placed.End,
		})
	}
	return chart.Figure()
}
