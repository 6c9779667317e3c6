package report

import (
	"cmp"
	"fmt"
)

// Local is the scheme that the others are measured against.
const Local = "local"

// Sample is one run of a scheme, judged by [SS 3.2].
type Sample struct {
	Wait, Response, Deviation float64 // seconds
	Efficiency, Transferred   float64 // shares, 0 to 1
}

// SchemeRuns are the runs of one scheme, one for each seed.
type SchemeRuns struct {
	Scheme  string
	Samples []Sample
}

// WorkloadRuns are the runs of all schemes on one workload. [Local] is among them; the
// i-th samples of all schemes are of the same seed.
type WorkloadRuns struct {
	Workload string
	Schemes  []SchemeRuns
}

// metric is a panel of the paper's figures.
type metric struct {
	key   string
	title string
	value func(Sample) float64
	scale float64 // 0: relative to the local run of the same seed
	kind  Kind
}

func metrics() []metric {
	return []metric{
		{"wait", "average wait, local = 1", func(s Sample) float64 { return s.Wait }, 0, NonNegative},
		{"response", "average response, local = 1", func(s Sample) float64 { return s.Response }, 0, NonNegative},
		{"deviation", "wait deviation, local = 1", func(s Sample) float64 { return s.Deviation }, 0, NonNegative},
		{"efficiency", "grid efficiency, %", func(s Sample) float64 { return s.Efficiency }, 100, Percent},
		{"transferred", "jobs transferred, %", func(s Sample) float64 { return s.Transferred }, 100, Percent},
	}
}

// claim is a value that [SS] states in its text or tables; of what its figures show
// beyond that, no numbers are printed.
type claim struct {
	figure                   int
	metric, workload, scheme string
	mark                     Mark
}

// claims are those of [SS 4.1] on Figure 3, [SS 4.2] on Figure 4 and [SS 4.3] on
// Figure 5, as parts of the local run and per cent.
func claims() []claim {
	return []claim{
		{3, "wait", "six months", "S-I", Mark{1 / 2.5, About}},
		{3, "wait", "six months", "R-I", Mark{0.5, About}},
		{3, "deviation", "six months", "S-I", Mark{0.7, About}},
		{3, "response", "six months", "S-I", Mark{1 / 1.5, About}},
		{3, "transferred", "six months", "S-I", Mark{40, AtLeast}},
		{3, "transferred", "six months", "R-I", Mark{10, AtMost}},
		{4, "wait", "heavy", "S-I", Mark{1 / 5.9, About}},
		{4, "response", "heavy", "S-I", Mark{1 / 5.0, About}},
		{4, "efficiency", "heavy", Local, Mark{65, About}},
		{4, "efficiency", "heavy", "S-I", Mark{85, About}},
		{4, "efficiency", "heavy", "ideal", Mark{100, About}},
		{4, "wait", "light", "S-I", Mark{1 / 21.0, About}},
		{4, "response", "light", "S-I", Mark{1 / 1.5, About}},
		{5, "response", "one month", "FCFS+BF", Mark{0.5, AtMost}},
		{5, "response", "one month", "FF", Mark{0.5, AtMost}},
		{5, "response", "one month", "SJF", Mark{0.5, AtMost}},
	}
}

// PaperFigure arranges runs as [SS] Figure 3, 4 or 5 does: a panel for each metric, in
// it the schemes in their order, the times relative to the [Local] run of the same
// seed. The paper's values stand where its text gives them, for the workloads "one
// month", "six months", "heavy" and "light" and the schemes "S-I", "R-I", "ideal" and
// [Local]; in Figure 5 the schemes are the local policies "FCFS+BF", "FF" and "SJF"
// under S-I, and grid efficiency is not shown.
func PaperFigure(figure int, words Words, runs []WorkloadRuns) (Bars, error) {
	if figure < 3 || figure > 5 {
		return Bars{}, fmt.Errorf("[SS] has results in Figures 3, 4 and 5, not in %d", figure)
	}
	if len(runs) == 0 {
		return Bars{}, fmt.Errorf("figure %s: no workload was run", words.Name)
	}
	bars := Bars{Words: words, Of: [2]string{"scheme", "workload"}}
	if figure == 5 {
		bars.Of[0] = "local policy"
	}
	for _, s := range runs[0].Schemes {
		bars.Groups = append(bars.Groups, s.Scheme)
	}
	bases := make([][]Sample, len(runs))
	for i, w := range runs {
		bars.Series = append(bars.Series, w.Workload)
		base, err := w.check(bars.Groups)
		if err != nil {
			return Bars{}, fmt.Errorf("figure %s: workload %q: %w", words.Name, w.Workload, err)
		}
		bases[i] = base
	}
	for _, m := range metrics() {
		if figure == 5 && m.key == "efficiency" {
			continue
		}
		panel := Panel{Title: m.title, Kind: m.kind}
		for i, w := range runs {
			values, marks := w.column(figure, m, bases[i])
			panel.Values = append(panel.Values, values)
			panel.Marks = append(panel.Marks, marks)
		}
		bars.Panels = append(bars.Panels, panel)
	}
	return bars, nil
}

// check wants the schemes given and returns the local samples.
func (w WorkloadRuns) check(schemes []string) ([]Sample, error) {
	if len(w.Schemes) != len(schemes) {
		return nil, fmt.Errorf("%d schemes, where the first workload has %d", len(w.Schemes), len(schemes))
	}
	var base []Sample
	for i, s := range w.Schemes {
		if s.Scheme != schemes[i] {
			return nil, fmt.Errorf("scheme %d is %q, in the first workload %q", i, s.Scheme, schemes[i])
		}
		if s.Scheme == Local {
			base = s.Samples
		}
	}
	if base == nil {
		return nil, fmt.Errorf("there are no runs of %q to compare with", Local)
	}
	for _, s := range w.Schemes {
		if len(s.Samples) != len(base) {
			return nil, fmt.Errorf("scheme %q has %d runs and %q %d; run the same seeds", s.Scheme, len(s.Samples), Local, len(base))
		}
	}
	return base, nil
}

// column is one metric of one workload: a value and a mark for each scheme.
func (w WorkloadRuns) column(figure int, m metric, base []Sample) ([]Estimate, []Mark) {
	values, marks := make([]Estimate, len(w.Schemes)), make([]Mark, len(w.Schemes))
	for i, s := range w.Schemes {
		var samples []float64
		for k, one := range s.Samples {
			x := m.value(one) * cmp.Or(m.scale, 1)
			if m.scale == 0 {
				local := m.value(base[k])
				if local == 0 {
					continue // relative to nothing; N tells how many seeds remain
				}
				x /= local
			}
			samples = append(samples, x)
		}
		values[i], marks[i] = Interval(samples), Stated(figure, m.key, w.Workload, s.Scheme)
	}
	return values, marks
}

// Stated is the value of [SS] for a panel of Figure 3, 4 or 5, a workload and a scheme, or a local policy, as
// [PaperFigure] has them: "wait", "response" and "deviation" over local, "efficiency" and "transferred" in per cent.
func Stated(figure int, metric, workload, scheme string) (m Mark) {
	for _, c := range claims() {
		if c.figure == figure && c.metric == metric && c.workload == workload && c.scheme == scheme {
			m = c.mark
		}
	}
	return m
}
