package report_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
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
		values := rapid.SliceOfN(estimate, 1, 5).Draw(t, "values")
		bars := report.Bars{
			Words: report.Words{Name: "b"}, Series: []string{"s"}, Groups: make([]string, len(values)),
			Panels: []report.Panel{{Title: "p", Values: [][]report.Estimate{values}}},
		}
		_, _ = bars.Figure() // either is right
		curves := report.Curves{Words: report.Words{Name: "c"}, Curves: []report.Curve{{}}}
		curves.LogX, curves.LogY = rapid.Bool().Draw(t, "log x"), rapid.Bool().Draw(t, "log y")
		for _, v := range values {
			curves.Curves[0].Points = append(curves.Curves[0].Points, report.Point{X: rapid.Float64().Draw(t, "x"), Y: v})
		}
		_, _ = curves.Figure()
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
