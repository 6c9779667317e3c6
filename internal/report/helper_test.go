package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var update = flag.Bool("update", false, "write the golden figures anew; look at them before you commit them")

// sampleRuns are two workloads under the six schemes, three seeds each.
func sampleRuns() []report.WorkloadRuns {
	schemes := []string{report.Local, "S-I", "R-I", "Sy-I", "central", "ideal"}
	var all []report.WorkloadRuns
	for w, name := range []string{"heavy", "light"} {
		run := report.WorkloadRuns{Workload: name}
		for k, scheme := range schemes {
			one := report.SchemeRuns{Scheme: scheme}
			for seed := range 3 {
				wait := float64(1000*(w+1)) / float64(k+1) * (1 + 0.1*float64(seed*k))
				one.Samples = append(one.Samples, report.Sample{
					Wait: wait, Response: wait + 500, Deviation: 2 * wait,
					Efficiency: 0.6 + 0.05*float64(k), Transferred: 0.1 * float64(k),
				})
			}
			run.Schemes = append(run.Schemes, one)
		}
		all = append(all, run)
	}
	return all
}

func sampleBars(t *testing.T) report.Bars {
	t.Helper()
	bars, err := report.PaperFigure(4, report.Words{Name: "bars", Title: "Figure 4", Caption: "Three seeds."}, sampleRuns())
	if err != nil {
		t.Fatal(err)
	}
	return bars
}

func sampleCurves() report.Curves {
	at := func(x, mean, half float64) report.Point {
		return report.Point{X: x, Y: report.Estimate{Mean: mean, Half: half, N: 10}}
	}
	return report.Curves{
		Words: report.Words{Name: "curves", Title: "Wait over load", Caption: "Ten seeds."},
		X:     "load", Y: "mean wait (s)",
		Curves: []report.Curve{
			{Name: "local", Points: []report.Point{at(0.7, 900, 100), at(1, 4000, 300), at(1.3, 20000, 4000)}},
			{Name: "S-I", Points: []report.Point{at(0.7, 90, 10), at(1.3, 2000, 0), at(1, 400, 30)}},
		},
	}
}

func sampleGantt() report.Gantt {
	return report.Gantt{
		Words: report.Words{Name: "gantt", Title: "Schedule", Caption: "Seed 1."},
		Sites: []report.GanttSite{{Name: "aurora", CPUs: 16}, {Name: "borealis", CPUs: 4}},
		Jobs: []report.GanttJob{
			{Site: 0, Origin: 0, CPUs: 8, Start: 0, End: hours(2)},
			{Site: 0, Origin: 1, CPUs: 4, Start: hours(1), End: hours(4)},
			{Site: 1, Origin: 1, CPUs: 4, Start: hours(1), End: hours(3)},
			{Site: 0, Origin: 0, CPUs: 12, Start: hours(2), End: hours(5)},
			{Site: -1, Origin: 1, CPUs: 64},
		},
	}
}

func hours(n int64) protocol.Instant { return protocol.Instant(n * 3600 * int64(protocol.Second)) }

// drawn is the figure of a description, or the end of the test.
func drawn(t *testing.T, d interface{ Figure() (report.Figure, error) }) report.Figure {
	t.Helper()
	f, err := d.Figure()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// texts are what an SVG says, by element; it must be well-formed.
func texts(t *testing.T, svg []byte) map[string][]string {
	t.Helper()
	said := map[string][]string{}
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	element := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return said
		}
		if err != nil {
			t.Fatalf("the SVG is not well-formed: %v\n%.2000s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			element = token.Name.Local
			said[element] = append(said[element], "")
		case xml.CharData:
			if element != "" {
				said[element][len(said[element])-1] += string(token)
			}
		case xml.EndElement:
			element = ""
		}
	}
}

// golden compares with testdata/NAME: words and shapes exactly, numbers within a
// twentieth of a point, because machines round the last digit differently. With
// -update it writes the file instead.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := alike(string(got), string(want)); err != nil {
		t.Errorf("%s: %v; if it is meant, look at the figure and run go test ./internal/report -update", path, err)
	}
}

func alike(got, want string) error {
	numbers := regexp.MustCompile(`-?\d+(\.\d+)?(e[+-]\d+)?`)
	g, w := numbers.FindAllString(got, -1), numbers.FindAllString(want, -1)
	gotWords, wantWords := numbers.Split(got, -1), numbers.Split(want, -1)
	for i := range min(len(gotWords), len(wantWords)) {
		if gotWords[i] != wantWords[i] {
			return fmt.Errorf("after %d numbers it has %q, want %q", i, gotWords[i], wantWords[i])
		}
	}
	if len(g) != len(w) {
		return fmt.Errorf("it has %d numbers, want %d", len(g), len(w))
	}
	for i := range g {
		a, errA := strconv.ParseFloat(g[i], 64)
		b, errB := strconv.ParseFloat(w[i], 64)
		if errA != nil || errB != nil || math.Abs(a-b) > 0.05 {
			return fmt.Errorf("number %d, after %q, is %s, want %s", i, strings.TrimSpace(gotWords[i]), g[i], w[i])
		}
	}
	return nil
}
