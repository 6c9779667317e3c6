package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

func TestInterval(t *testing.T) {
	t.Parallel()
	// Half intervals for samples that alternate between −1 and 1, from Student's t
	// as printed in tables: t(n−1) · √(n/(n−1)) / √n for even n.
	for n, quantile := range map[int]float64{2: 12.7062, 4: 3.1824, 10: 2.2622, 12: 2.2010, 30: 2.0452, 100: 1.9842} {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = float64(1 - 2*(i%2))
		}
		got := report.Interval(samples)
		want := quantile / math.Sqrt(float64(n-1))
		if got.Mean != 0 || got.N != n || math.Abs(got.Half-want) > 0.0005 {
			t.Errorf("%d samples: %+v, want a half interval of %.4f", n, got, want)
		}
	}
	if got := report.Interval([]float64{7}); got != (report.Estimate{Mean: 7, N: 1}) {
		t.Errorf("one sample: %+v", got)
	}
	if got := report.Interval(nil); got.N != 0 {
		t.Errorf("no sample: %+v", got)
	}
}

func TestPaperFigureComparesSeedBySeed(t *testing.T) {
	t.Parallel()
	runs := []report.WorkloadRuns{{Workload: "six months", Schemes: []report.SchemeRuns{
		{Scheme: report.Local, Samples: []report.Sample{{Wait: 100, Response: 10}, {Wait: 1000, Response: 10}, {}}},
		{Scheme: "R-I", Samples: []report.Sample{{Wait: 50, Transferred: 0.05}, {Wait: 500, Transferred: 0.05}, {Wait: 3, Transferred: 0.05}}},
	}}}
	bars, err := report.PaperFigure(3, report.Words{Name: "f"}, runs)
	if err != nil {
		t.Fatal(err)
	}
	wait, moved := bars.Panels[0], bars.Panels[4]
	if got := wait.Values[0][1]; got != (report.Estimate{Mean: 0.5, N: 2}) {
		t.Errorf("wait under R-I: %+v; half of local in each of the two seeds where local has a wait", got)
	}
	if got := wait.Marks[0][1]; got != (report.Mark{Value: 0.5, Bound: report.About}) {
		t.Errorf("the paper's wait under R-I: %+v", got)
	}
	if got := moved.Marks[0][1]; got != (report.Mark{Value: 10, Bound: report.AtMost}) {
		t.Errorf("the paper's transfers under R-I: %+v", got)
	}
	if got := moved.Values[0][1].Mean; math.Abs(got-5) > 1e-9 {
		t.Errorf("transfers under R-I: %g %%, want 5", got)
	}
	if got := wait.Marks[0][0].Bound; got != report.Unstated {
		t.Errorf("the paper's wait under local is marked as %v", got)
	}
}

func TestPaperFigure5HasNoEfficiency(t *testing.T) {
	t.Parallel()
	bars, err := report.PaperFigure(5, report.Words{Name: "f"}, sampleRuns())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range bars.Panels {
		if strings.Contains(p.Title, "efficiency") {
			t.Errorf("Figure 5 has a panel %q", p.Title)
		}
	}
}

func TestPaperFigureRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func([]report.WorkloadRuns) []report.WorkloadRuns{
		"no workload":        func([]report.WorkloadRuns) []report.WorkloadRuns { return nil },
		`no runs of "local"`: func(r []report.WorkloadRuns) []report.WorkloadRuns { r[0].Schemes[0].Scheme = "x"; return r },
		`"heavy": scheme "S-I" has`: func(r []report.WorkloadRuns) []report.WorkloadRuns {
			r[0].Schemes[1].Samples = r[0].Schemes[1].Samples[:2]
			return r
		},
		`"light": scheme 1 is "x"`: func(r []report.WorkloadRuns) []report.WorkloadRuns { r[1].Schemes[1].Scheme = "x"; return r },
		`"light": 5 schemes`: func(r []report.WorkloadRuns) []report.WorkloadRuns {
			r[1].Schemes = r[1].Schemes[:5]
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := report.PaperFigure(3, report.Words{}, spoil(sampleRuns())); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("error %v, want one that says %q", err, name)
			}
		})
	}
	if _, err := report.PaperFigure(2, report.Words{}, sampleRuns()); err == nil {
		t.Error("Figure 2 is pseudo-code, yet it was accepted")
	}
}
