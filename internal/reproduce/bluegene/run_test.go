package bluegene_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/bluegene"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
)

// Two seeds in one worker or in three give the same, and progress counts to the end.
func TestWorkersDoNotMatter(t *testing.T) {
	t.Parallel()
	var texts [2][]byte
	for i, workers := range []int{1, 3} {
		last, total := 0, 0
		reports, err := bluegene.Paper().Run(t.Context(), reproduce.Options{Size: reproduce.Size{Seeds: 2, Workers: workers}}, []string{"bg-fig5"}, func(done, of int) {
			if done != last+1 {
				t.Errorf("%d follows %d", done, last)
			}
			last, total = done, of
		})
		if err != nil || last != 4 || total != 4 { // default and budget, for two seeds
			t.Fatalf("%d of %d are done, %v", last, total, err)
		}
		if texts[i], err = json.Marshal(reports); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("one worker and three give other reports")
	}
}

// On-peak the budget holds, off-peak the machine makes up for it.
func TestTheDayOfMarch(t *testing.T) {
	t.Parallel()
	r := run(t, reproduce.Size{Seeds: 1}, "bg-fig5")[0]
	table := &r.Tables[0]
	if before, now := value(t, table, "default", "power on-peak"), value(t, table, "PB-50", "power on-peak"); now > 0.6*before {
		t.Errorf("on-peak %.0f kW are drawn, %.0f by default", now, before)
	}
	if before, now := value(t, table, "default", "off-peak"), value(t, table, "PB-50", "off-peak"); now < 1.1*before {
		t.Errorf("off-peak %.0f kW are drawn, %.0f by default", now, before)
	}
	if len(r.Series) != 4 {
		t.Fatalf("%d series", len(r.Series))
	}
	for _, s := range r.Series {
		if len(s.Values)*s.Minutes != 24*60 || slices.Min(s.Values) <= 0 {
			t.Errorf("%s: %d values, every %d minutes, from %v on", s.Label, len(s.Values), s.Minutes, slices.Min(s.Values))
		}
	}
	page, err := reproduce.Page("Again", []reproduce.Report{r}, report.Source{})
	if err != nil {
		t.Fatal(err)
	}
	html, err := page.HTML()
	if err != nil || strings.Count(string(html), "<svg ") != 2 {
		t.Errorf("%d figures, %v", strings.Count(string(html), "<svg "), err)
	}
}

// The paper's totals of both halves of its Figure 1.
func TestFigureOne(t *testing.T) {
	t.Parallel()
	r := run(t, reproduce.Size{Seeds: 1}, "bg-fig1")[0]
	table := &r.Tables[1]
	for row, want := range map[string][2]float64{
		"traditional: J1, J2":              {8, 140},
		"power-aware (window): J3, J4, J5": {9, 145},
	} {
		if nodes, watts := value(t, table, row, "nodes"), value(t, table, row, "power"); nodes != want[0] || watts != want[1] {
			t.Errorf("%s: %v nodes with %v W, want %v", row, nodes, watts, want)
		}
	}
	if r.Seeds != nil {
		t.Errorf("seeds %v, but nothing is drawn", r.Seeds)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		o     reproduce.Size
		names []string
	}{
		"seeds: 0 is not from 1":                           {reproduce.Size{}, []string{"bg-fig2"}},
		"workers: -1 is negative":                          {reproduce.Size{Seeds: 1, Workers: -1}, []string{"bg-fig2"}},
		`nothing is called "bg-fig9"; choose from bg-fig1`: {reproduce.Size{Seeds: 1}, []string{"bg-fig9"}},
	} {
		_, err := bluegene.Paper().Run(t.Context(), reproduce.Options{Size: c.o}, c.names, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestMissingDataAreNamed(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]string{
		"bg-real": filepath.Join("traces", "ANL-Intrepid-2009-1.first10000.swf.gz"),
		"bg-blue": filepath.Join("traces", "SDSC-BLUE-2000-4.2-cln.swf.gz"),
	} {
		_, err := bluegene.Paper().Run(t.Context(), reproduce.Options{Size: reproduce.Size{Data: t.TempDir(), Seeds: 1}}, []string{name}, nil)
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "--data") {
			t.Errorf("%s: %v, want one that names %s", name, err, missing)
		}
	}
}

// BenchmarkIntrepid is one run of the 10,000 jobs of the real log on all of Intrepid's
// partitions, within a budget of half the power.
func BenchmarkIntrepid(b *testing.B) {
	for _, mode := range engine.Modes() {
		b.Run(string(mode), func(b *testing.B) {
			again, jobs, err := bluegene.RealLog(shared(b), mode)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := again(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(jobs*b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
