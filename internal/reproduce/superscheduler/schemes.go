package superscheduler

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// figureThree are the schemes on the real log.
func figureThree() exhibit {
	sweeps := []sweep{{experiment: sixMonths}, {experiment: oneMonth}}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-fig3", Title: "the schemes on the real log and two modeled machines", Paper: "[SS] Figure 3"}, sweeps: sweeps,
		notes: schemesNotes(),
		build: func(s *study, r *reproduce.Report) error { return s.schemes(r, 3, sweeps) },
	}
}

// figureFour are the schemes on the synthetic workloads.
func figureFour() exhibit {
	sweeps := []sweep{{experiment: heavy}, {experiment: light}}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-fig4", Title: "the schemes under the heavy and the light workload", Paper: "[SS] Figure 4"}, sweeps: sweeps,
		notes: schemesNotes(),
		build: func(s *study, r *reproduce.Report) error {
			if err := s.schemes(r, 4, sweeps); err != nil {
				return err
			}
			r.Tables = append(r.Tables, s.intervals(sweeps))
			return nil
		},
	}
}

func schemesNotes() []string {
	return []string{
		"A gain is the mean under local over that of the row: of the means, and by seed with its least and largest. " +
			"The deviation of waits is the standard deviation, then the formula as printed in [SS 3.2], relative to local.",
	}
}

// schemes are the tables and the figure of sweeps over the schemes.
func (s *study) schemes(r *reproduce.Report, figure int, sweeps []sweep) error {
	var results []*experiment.Swept
	for _, w := range sweeps {
		swept := s.swept(w)
		results = append(results, swept)
		r.Tables = append(r.Tables, schemeTables(swept, figure, func(title string) string { return s.title(r, title, w) })...)
	}
	drawn, ok, err := experiment.SchemesFigure(r.Name, results)
	if ok {
		r.Figures = append(r.Figures, drawn)
	}
	return err
}

// title has the number of seeds where those of the exhibit differ.
func (s *study) title(r *reproduce.Report, title string, w sweep) string {
	if r.Seeds != nil {
		return title
	}
	return s.named(title, w)
}

// schemeTables are the schemes of one setting beside local: waits, then the rest, then the initiations beside S-I, if
// all are run.
func schemeTables(swept *experiment.Swept, figure int, title func(string) string) []reproduce.Table {
	stated := func(of measure, metric string, value func(mark float64) float64) measure {
		return measure{of.Column, func(r rival) reproduce.Cell {
			c := of.of(r)
			mark := report.Stated(figure, metric, swept.Experiment, r.own.Scheme.Label())
			if c.Ours == nil || mark.Bound == report.Unstated {
				return c
			}
			mark.Value = value(mark.Value)
			return c.Marked(mark)
		}}
	}
	inverse := func(x float64) float64 { return 1 / x }
	same := func(x float64) float64 { return x }
	waits := slices.Concat(
		[]measure{
			seconds("wait", "wait", waitKey), gainOfMeans("gain_means", "gain, of the means", waitKey),
			stated(gain("gain", "gain, by seed", waitKey), "wait", inverse),
		},
		extremes("gain", 1, func(r rival) []float64 { return r.gains(waitKey) }),
		[]measure{
			stated(compared(reproduce.Column{Key: "deviation", Title: "deviation", Unit: "%"},
				func(r rival) reproduce.Cell { return cell(r.more(deviationKey)) }), "deviation", func(x float64) float64 { return 100 * (x - 1) }),
			compared(reproduce.Column{Key: "deviation_printed", Title: "as printed", Unit: "%"},
				func(r rival) reproduce.Cell { return cell(r.more(printedKey)) }),
		},
	)
	rest := []measure{
		seconds("response", "response", responseKey), gainOfMeans("response_gain_means", "gain, of the means", responseKey),
		stated(gain("response_gain", "gain, by seed", responseKey), "response", inverse),
		stated(percent("efficiency", "efficiency", efficiencyKey), "efficiency", same),
		stated(percent("moved", "moved", movedKey), "transferred", same),
		messages(),
	}
	local := find(swept, experiment.Local)
	made := []reproduce.Table{
		{Title: title(swept.Experiment + ": waits"), Stub: "scheme", Columns: titles(waits)},
		{Title: title(swept.Experiment + ": responses, efficiency, moved jobs"), Stub: "scheme", Columns: titles(rest)},
	}
	for i := range swept.Points {
		p := &swept.Points[i]
		made[0].Rows = append(made[0].Rows, row(p.Scheme.Label(), rival{local, p}, waits))
		made[1].Rows = append(made[1].Rows, row(p.Scheme.Label(), rival{local, p}, rest))
	}
	if slices.ContainsFunc(swept.Points, func(p experiment.Point) bool { return p.Scheme == experiment.Symmetric }) {
		made = append(made, besideSender(swept, title))
	}
	return made
}

// besideSender compares the other schemes of [SS 2.1] and the central one with S-I.
func besideSender(swept *experiment.Swept, title func(string) string) reproduce.Table {
	over := func(r rival) []float64 {
		return bySeed(r.local.Metrics[waitKey].Values, r.own.Metrics[waitKey].Values, func(sender, own float64) float64 { return own / sender })
	}
	moved := func(r rival) []float64 { return r.points(movedKey) }
	columns := slices.Concat(
		[]measure{{reproduce.Column{Key: "wait", Title: "wait over S-I's", Digits: 2}, func(r rival) reproduce.Cell { return cell(over(r)) }}},
		extremes("wait", 2, over),
		[]measure{
			{reproduce.Column{Key: "longer", Title: "longer, seeds"}, func(r rival) reproduce.Cell { return reproduce.Ours(above(over(r), 1)) }},
			{reproduce.Column{Key: "moved", Title: "more moved, points", Digits: 1}, func(r rival) reproduce.Cell { return cell(moved(r)) }},
		},
		extremes("moved", 1, moved),
		[]measure{{reproduce.Column{Key: "more", Title: "more, seeds"}, func(r rival) reproduce.Cell { return reproduce.Ours(above(moved(r), 0)) }}},
	)
	t := reproduce.Table{Title: title(swept.Experiment + ": beside S-I, by seed"), Stub: "scheme", Columns: titles(columns)}
	sender := find(swept, experiment.Sender)
	for _, scheme := range []experiment.Scheme{experiment.Receiver, experiment.Symmetric, experiment.Central} {
		t.Rows = append(t.Rows, row(scheme.Label(), rival{sender, find(swept, scheme)}, columns))
	}
	return t
}

// above counts values.
func above(values []float64, bound float64) float64 {
	n := 0.0
	for _, x := range values {
		if x > bound {
			n++
		}
	}
	return n
}

// intervals are the values that the paper gives for the synthetic workloads, and where they lie.
func (s *study) intervals(sweeps []sweep) reproduce.Table {
	t := reproduce.Table{
		Title: "The paper's values and the 95 % intervals of ours", Stub: "value",
		Columns: []reproduce.Column{{Key: "value", Title: "ours", Digits: 1}, {Key: "outside", Title: "paper's outside our interval by", Digits: 1}},
	}
	for _, w := range sweeps {
		swept := s.swept(w)
		local := find(swept, experiment.Local)
		add := func(label string, scheme experiment.Scheme, metric string, of func(r rival) []float64, paper func(mark float64) float64) {
			mark := report.Stated(4, metric, swept.Experiment, scheme.Label())
			if mark.Bound == report.Unstated {
				return
			}
			t.Rows = append(t.Rows, placed(swept.Experiment+": "+label, cell(of(rival{local, find(swept, scheme)})), paper(mark.Value)))
		}
		inverse := func(x float64) float64 { return 1 / x }
		same := func(x float64) float64 { return x }
		efficiency := func(r rival) []float64 {
			return bySeed(r.own.Metrics[efficiencyKey].Values, r.own.Metrics[efficiencyKey].Values, func(x, _ float64) float64 { return 100 * x })
		}
		add("S-I's gain in wait", experiment.Sender, "wait", func(r rival) []float64 { return r.gains(waitKey) }, inverse)
		add("S-I's gain in response", experiment.Sender, "response", func(r rival) []float64 { return r.gains(responseKey) }, inverse)
		add("local efficiency, %", experiment.Local, "efficiency", efficiency, same)
		add("S-I's efficiency, %", experiment.Sender, "efficiency", efficiency, same)
		add("S-I's points of efficiency", experiment.Sender, "efficiency", func(r rival) []float64 { return r.points(efficiencyKey) }, func(x float64) float64 {
			return x - report.Stated(4, "efficiency", swept.Experiment, experiment.Local.Label()).Value
		})
		add("ideal efficiency, %", experiment.Ideal, "efficiency", efficiency, same)
	}
	return t
}

// placed is a row with our value, the paper's, and how far the paper's lies outside our interval; 0: inside.
func placed(label string, ours reproduce.Cell, paper float64) reproduce.Row {
	if ours.Ours == nil {
		return reproduce.Row{Label: label, Cells: []reproduce.Cell{ours.Beside(paper), {}}}
	}
	outside := max(0, math.Abs(paper-ours.Ours.Mean)-ours.Ours.Half())
	return reproduce.Row{Label: label, Cells: []reproduce.Cell{ours.Beside(paper), reproduce.Ours(outside)}}
}
