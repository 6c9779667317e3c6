package report_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

func TestFiguresAreGolden(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]interface{ Figure() (report.Figure, error) }{
		"bars.svg": sampleBars(t), "curves.svg": sampleCurves(), "gantt.svg": sampleGantt(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, drawn(t, d).SVG())
		})
	}
}

func TestFiguresDrawnAtOnceAreEqual(t *testing.T) {
	t.Parallel()
	want := drawn(t, sampleBars(t)).SVG()
	var wait sync.WaitGroup
	got := make([][]byte, 8)
	for i := range got {
		bars := sampleBars(t)
		wait.Go(func() {
			if f, err := bars.Figure(); err == nil {
				got[i] = f.SVG()
			}
		})
	}
	wait.Wait()
	for i := range got {
		if !bytes.Equal(got[i], want) {
			t.Fatalf("drawing %d differs from the first", i)
		}
	}
}

func TestBarsShowIntervalsAndThePaper(t *testing.T) {
	t.Parallel()
	f := drawn(t, sampleBars(t))
	said := texts(t, f.SVG())
	for _, want := range []string{"heavy", "light", "the paper", "central", "grid efficiency, %"} {
		if !slices.Contains(said["text"], want) {
			t.Errorf("the figure does not say %q; it says %q", want, said["text"])
		}
	}
	if slices.Contains(said["text"], "the paper: less than") {
		t.Error("the legend explains a mark that is not there")
	}
	if got := said["title"][0]; got != "Figure 4" {
		t.Errorf("title %q", got)
	}
	row := slices.IndexFunc(f.Table.Rows, func(r []string) bool { return r[0] == "S-I" && r[1] == "heavy" })
	if got := f.Table.Rows[row][3]; got != "0.1695" {
		t.Errorf("the paper's wait under S-I, heavy: %q, want 1/5.9", got)
	}
	if got := f.Table.Rows[row][2]; !strings.HasPrefix(got, "0.55 ± 0.124") {
		t.Errorf("wait under S-I, heavy: %q, want the mean of 0.5, 0.55 and 0.6 with t(2)·s/√3", got)
	}
}

func TestBarsRefuseWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*report.Bars){
		"groups":                   func(b *report.Bars) { b.Groups = nil },
		"want 2":                   func(b *report.Bars) { b.Panels[0].Values = b.Panels[0].Values[:1] },
		"not one value":            func(b *report.Bars) { b.Groups = b.Groups[:5] },
		"NaN cannot":               func(b *report.Bars) { b.Panels[1].Values[0][2].Mean = math.NaN() },
		"+Inf cannot":              func(b *report.Bars) { b.Panels[1].Values[0][2].Half = math.Inf(1) },
		"negative":                 func(b *report.Bars) { b.Panels[1].Values[0][2].Half = -1 },
		"-Inf cannot":              func(b *report.Bars) { b.Panels[1].Marks[0][2].Value = math.Inf(-1) },
		"what the groups and":      func(b *report.Bars) { b.Of[1] = "" },
		"has no name":              func(b *report.Bars) { b.Name = "" },
		`"a/b": '/' is neither`:    func(b *report.Bars) { b.Name = "a/b" },
		`"S-I": NaN cannot`:        func(b *report.Bars) { b.Panels[0].Values[1][1].Mean = math.NaN() },
		`series "light": group "l`: func(b *report.Bars) { b.Panels[0].Values[1][0].Mean = math.NaN() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bars := sampleBars(t)
			spoil(&bars)
			if _, err := bars.Figure(); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("error %v, want one that says %q", err, name)
			}
		})
	}
}

func TestCurvesDoNotDependOnTheOrderOfPoints(t *testing.T) {
	t.Parallel()
	sorted, reversed := sampleCurves(), sampleCurves()
	for _, c := range reversed.Curves {
		slices.Reverse(c.Points)
	}
	a, b := drawn(t, sorted), drawn(t, reversed)
	if !bytes.Equal(a.SVG(), b.SVG()) {
		t.Error("reversed points are drawn differently")
	}
	want := [][]string{{"0.7", "900 ± 100", "90 ± 10"}, {"1", "4\u202f000 ± 300", "400 ± 30"}, {"1.3", "20\u202f000 ± 4\u202f000", "2\u202f000"}}
	if got := fmt.Sprint(b.Table.Rows); got != fmt.Sprint(want) {
		t.Errorf("table %v, want %v", got, want)
	}
}

func TestCurvesOnLogarithmicAxes(t *testing.T) {
	t.Parallel()
	cs := sampleCurves()
	cs.LogX, cs.LogY = true, true
	cs.Curves[0].Points[0].Y.Half = 5000 // reaches below 0, where the axis has no place
	if said := texts(t, drawn(t, cs).SVG())["text"]; !slices.Contains(said, "100") || !slices.Contains(said, "200") {
		t.Errorf("the y axis lacks 100 or 200: %q", said)
	}
	cs.Curves[1].Points[0].Y.Mean = 0
	if _, err := cs.Figure(); err == nil || !strings.Contains(err.Error(), `curve "S-I" at 0.7`) {
		t.Errorf("a mean of 0 on a logarithmic axis: %v", err)
	}
}

// The label of the last tick is within the figure, however long it is.
func TestLastTickIsWithinTheFigure(t *testing.T) {
	t.Parallel()
	cs := sampleCurves()
	cs.KindX = report.Time
	for i := range cs.Curves {
		for j := range cs.Curves[i].Points {
			cs.Curves[i].Points[j].X *= 360_000
		}
	}
	svg := drawn(t, cs).SVG()
	at := regexp.MustCompile(`<text class="middle" x="([0-9.]+)"[^>]*>5-10:00:00</text>`).FindSubmatch(svg)
	if at == nil {
		t.Fatalf("no tick says 5-10:00:00:\n%s", svg)
	}
	x, err := strconv.ParseFloat(string(at[1]), 64)
	if half := float64(len("5-10:00:00")) * 8 * 0.56 / 2; err != nil || x+half > 732 {
		t.Errorf("the last label ends at %v, beyond the 732 points of the figure: %v", x+half, err)
	}
}

func TestCurvesWithoutPoints(t *testing.T) {
	t.Parallel()
	cs := sampleCurves()
	cs.Curves[0].Points = []report.Point{{X: 1}}
	cs.Curves = cs.Curves[:1]
	if _, err := cs.Figure(); err == nil || !strings.Contains(err.Error(), "no points") {
		t.Errorf("error %v", err)
	}
}

// Whatever numbers come, a figure is drawn or refused: no panic, no endless loop.
func TestFiguresOfAnyNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		estimate := rapid.Custom(func(t *rapid.T) report.Estimate {
			return report.Estimate{
				Mean: rapid.Float64().Draw(t, "mean"),
				Half: rapid.Float64().Draw(t, "half"),
				N:    rapid.IntRange(0, 3).Draw(t, "n"),
			}
		})
		kind := report.Kind(rapid.IntRange(int(report.Number), int(report.Time)).Draw(t, "kind"))
		values := rapid.SliceOfN(estimate, 1, 5).Draw(t, "values")
		bars := report.Bars{
			Words: report.Words{Name: "b"}, Series: []string{"s"}, Groups: make([]string, len(values)), Of: [2]string{"g", "s"},
			Panels: []report.Panel{{Title: "p", Kind: kind, Values: [][]report.Estimate{values}}},
		}
		_, _ = bars.Figure() // either is right
		curves := report.Curves{Words: report.Words{Name: "c"}, KindX: kind, KindY: kind, Curves: []report.Curve{{}}}
		curves.LogX, curves.LogY = rapid.Bool().Draw(t, "log x"), rapid.Bool().Draw(t, "log y")
		for _, v := range values {
			curves.Curves[0].Points = append(curves.Curves[0].Points, report.Point{X: rapid.Float64().Draw(t, "x"), Y: v})
		}
		_, _ = curves.Figure()
	})
}

// TestCurvesEndWhereNothingIsKnown: points that are far apart are not joined, and one that is alone is marked.
func TestCurvesEndWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	curve := report.Curve{Name: "north"}
	for _, x := range []float64{0, 1, 2, 9, 15, 16} {
		curve.Points = append(curve.Points, report.Point{X: x, Y: report.Estimate{Mean: 5, Half: 1, N: 2}})
	}
	for x := range 100 {
		curve.Points = append(curve.Points, report.Point{X: 20 + float64(x), Y: report.Estimate{Mean: 5, Half: 1, N: 2}})
	}
	for step, want := range map[float64][3]int{0: {1, 1, 0}, 1.5: {4, 4, 1}, 6: {2, 2, 0}} { // lines, bands and dots
		figure := drawn(t, report.Curves{Words: report.Words{Name: "c"}, Curves: []report.Curve{curve}, MaxStep: step})
		svg := string(figure.SVG())
		lines := strings.Count(svg, `class="curve dash0 s0"`) - 1 // without that of the legend
		bands := strings.Count(svg, `class="band s0"`)
		dots := strings.Count(svg, `class="s0"`)
		if got := [3]int{lines, bands, dots}; got != want {
			t.Errorf("steps of at most %g: %v lines, bands and dots, want %v", step, got, want)
		}
	}
}

// TestIntervalsEndWhereNumbersEnd: Student's interval is symmetric, and would tell of
// times below 0 and parts above all.
func TestIntervalsEndWhereNumbersEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mean, half float64
		kind       report.Kind
		low, high  float64
	}{
		{10, 20, report.Number, -10, 30},
		{10, 20, report.NonNegative, 0, 30},
		{10, 20, report.Time, 0, 30},
		{10, 200, report.Percent, 0, 100},
		{50, 5, report.Percent, 45, 55},
		{-1, 5, report.Time, -1, 4},       // as it should not be: the mean stays in its interval
		{101, 5, report.Percent, 96, 101}, // so does this one
		{100, 250, report.NonNegative, 0, 350},
	} {
		low, high := report.Estimate{Mean: c.mean, Half: c.half, N: 3}.Interval(c.kind)
		if low != c.low || high != c.high {
			t.Errorf("%g ± %g of kind %d: %g to %g, want %g to %g", c.mean, c.half, c.kind, low, high, c.low, c.high)
		}
	}
	figures := func(kind report.Kind, mean, half float64) [][]byte {
		e := report.Estimate{Mean: mean, Half: half, N: 3}
		bars := drawn(t, report.Bars{
			Words: report.Words{Name: "b"}, Groups: []string{"g"}, Series: []string{"s"}, Of: [2]string{"of", "of"},
			Panels: []report.Panel{{Title: "p", Kind: kind, Values: [][]report.Estimate{{e}}}},
		})
		curves := drawn(t, report.Curves{
			Words: report.Words{Name: "c"}, KindY: kind, Curves: []report.Curve{{Points: []report.Point{{X: 7, Y: e}, {X: 8, Y: e}}}},
		})
		return [][]byte{bars.SVG(), curves.SVG()}
	}
	for i, wide := range figures(report.Percent, 50, 140) {
		if !bytes.Equal(wide, figures(report.Percent, 50, 50)[i]) {
			t.Errorf("figure %d: an interval from 0 to 100 %% is drawn in two ways", i)
		}
	}
	ticks := func(kind report.Kind, mean, half float64) []string {
		both := figures(kind, mean, half)
		return slices.Concat(texts(t, both[0])["text"], texts(t, both[1])["text"])
	}
	if got := ticks(report.Number, 95, 140); !slices.Contains(got, "200") {
		t.Errorf("a number's axis has %q", got)
	}
	if got := ticks(report.Percent, 95, 140); slices.Contains(got, "200") || slices.Contains(got, "120") || slices.Contains(got, "-50") || !slices.Contains(got, "100") {
		t.Errorf("an axis of percent has %q", got)
	}
	if got := ticks(report.Time, 3600, 7300); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "-") }) ||
		!slices.Contains(got, "1:00:00") || !slices.Contains(got, "0:00:00") {
		t.Errorf("an axis of times has %q", got)
	}
}

// TestTablesOfFiguresSayWhatTheyHave: in the first columns what the groups and series
// are, times as times, and of the paper what it says.
func TestTablesOfFiguresSayWhatTheyHave(t *testing.T) {
	t.Parallel()
	f := drawn(t, report.Bars{
		Words: report.Words{Name: "b"}, Groups: []string{"m1"}, Series: []string{"apart"}, Of: [2]string{"site", "grid"},
		Panels: []report.Panel{
			{Title: "mean wait", Kind: report.Time, Values: [][]report.Estimate{{{Mean: 93784.4, Half: 59.6, N: 3}}}, Marks: [][]report.Mark{{{}}}},
			{Title: "utilization, %", Kind: report.Percent, Values: [][]report.Estimate{{{Mean: 50, N: 1}}}, Marks: [][]report.Mark{{{Value: 60, Bound: report.AtMost}}}},
		},
	})
	want := [][]string{{"site", "grid", "mean wait", "utilization, %", "the paper"}, {"m1", "apart", "1-02:03:04 ± 0:01:00", "50", "< 60"}}
	if got := fmt.Sprint(f.Table.Columns, f.Table.Rows); got != fmt.Sprint(want[0], want[1:]) {
		t.Errorf("got %s", got)
	}
	bars, err := report.PaperFigure(5, report.Words{Name: "f"}, sampleRuns())
	if err != nil || bars.Of != [2]string{"local policy", "workload"} {
		t.Errorf("Figure 5 has %q beside its bars, %v", bars.Of, err)
	}
}

func TestTimeTicks(t *testing.T) {
	t.Parallel()
	for want, span := range map[string][2]float64{
		"[0:00:00 0:00:01 0:00:02 0:00:03]":                                                             {0, 3},
		"[0:00:00 0:15:00 0:30:00 0:45:00 1:00:00]":                                                     {0, 4200},
		"[0:00:00 6:00:00 12:00:00 18:00:00]":                                                           {0, 75_000},
		"[0:00:00 1-00:00:00 2-00:00:00 3-00:00:00]":                                                    {0, 300_000},
		"[0:00:00 10-00:00:00 20-00:00:00 30-00:00:00 40-00:00:00 50-00:00:00 60-00:00:00 70-00:00:00]": {0, 70 * 86_400},
		"[0:00:00 100-00:00:00 200-00:00:00 300-00:00:00 400-00:00:00 500-00:00:00]":                    {0, 500 * 86_400},
	} {
		if got := fmt.Sprint(report.TimeTicks(span[0], span[1])); got != want {
			t.Errorf("ticks of %g to %g s: %s, want %s", span[0], span[1], got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(0, 1e6).Draw(t, "low")
		high := low + rapid.Float64Range(20, 1e12).Draw(t, "span")
		ticks := report.TimeTicks(low, high)
		if sorted := slices.Compact(slices.Clone(ticks)); len(ticks) < 2 || len(ticks) > 10 || len(sorted) != len(ticks) {
			t.Fatalf("ticks of %g to %g: %v", low, high, ticks)
		}
	})
}

func TestTicks(t *testing.T) {
	t.Parallel()
	if got := report.RoundTicks(0, 1); fmt.Sprint(got) != "[0 0.2 0.4 0.6000000000000001 0.8 1]" {
		t.Errorf("ticks of 0 to 1: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		high := low + rapid.Float64Range(1e-3, 1e12).Draw(t, "span")
		ticks := report.RoundTicks(low, high)
		if len(ticks) < 3 || len(ticks) > 10 || ticks[0] < low || ticks[len(ticks)-1] > high {
			t.Fatalf("ticks of %g to %g: %v", low, high, ticks)
		}
	})
}
