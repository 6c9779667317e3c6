package report_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestGanttSaysWhatItShows(t *testing.T) {
	t.Parallel()
	f := drawn(t, sampleGantt())
	said := texts(t, f.SVG())["text"]
	for _, want := range []string{"aurora", "borealis", "from aurora", "from borealis", "time since the first start (hours)"} {
		if !slices.Contains(said, want) {
			t.Errorf("the figure does not say %q; it says %q", want, said)
		}
	}
	if !strings.HasPrefix(f.Caption, "Seed 1. ") || !strings.Contains(f.Caption, "1 jobs never ran.") || strings.Contains(f.Caption, "merged") {
		t.Errorf("caption %q", f.Caption)
	}
	if got, want := f.Table.Rows[0], []string{"aurora", "16", "3", "1", "80.0 %"}; !slices.Equal(got, want) {
		t.Errorf("aurora: %q, want %q", got, want)
	}
}

func TestGanttRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*report.Gantt){
		`site 1, "borealis", has 0 CPUs`:   func(g *report.Gantt) { g.Sites[1].CPUs = 0 },
		"job 2 ran at site 7":              func(g *report.Gantt) { g.Jobs[2].Site = 7 },
		"job 1 ran at site 0 and came":     func(g *report.Gantt) { g.Jobs[1].Origin = -1 },
		"job 3 has -1 CPUs":                func(g *report.Gantt) { g.Jobs[3].CPUs = -1 },
		"job 0 ends at -1 ms":              func(g *report.Gantt) { g.Jobs[0].End = -1 },
		`site "aurora" at 3600000 ms, whe`: func(g *report.Gantt) { g.Jobs[1].CPUs = 9 },
		"none of the 1 jobs ran":           func(g *report.Gantt) { g.Jobs = g.Jobs[4:] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := sampleGantt()
			spoil(&g)
			if _, err := g.Figure(); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("error %v, want one that says %q", err, name)
			}
		})
	}
}

// A job has all its CPUs for all its time, and no CPU two jobs at once.
func TestGanttPacks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const cpus = 12
		g := report.Gantt{Sites: []report.GanttSite{{Name: "s", CPUs: cpus}}}
		var used [40]int
		for range rapid.IntRange(1, 60).Draw(t, "jobs") {
			start := rapid.IntRange(0, 39).Draw(t, "start")
			end := rapid.IntRange(start, 39).Draw(t, "end")
			n := rapid.IntRange(1, cpus).Draw(t, "cpus")
			if slices.Max(append(used[start:end:end], 0))+n > cpus {
				continue
			}
			for at := start; at < end; at++ {
				used[at] += n
			}
			g.Jobs = append(g.Jobs, report.GanttJob{CPUs: n, Start: protocol.Instant(start), End: protocol.Instant(end)})
		}
		blocks, err := g.Pack()
		if err != nil {
			t.Fatalf("a schedule that fits: %v", err)
		}
		var taken [40][cpus]bool
		for _, b := range blocks {
			for at := b.Start; at < b.End; at++ {
				for cpu := b.Low; cpu < b.High; cpu++ {
					if taken[at][cpu] {
						t.Fatalf("CPU %d has two jobs at %d", cpu, at)
					}
					taken[at][cpu] = true
					used[at]--
				}
			}
		}
		for at, left := range used {
			if left != 0 {
				t.Fatalf("at %d, %d CPUs in use are not shown", at, left)
			}
		}
	})
}

// crowd is a busy schedule of very many jobs, a fifth of them from the other site.
func crowd(jobs int) report.Gantt {
	const cpus = 1000
	random := rand.New(rand.NewPCG(3, 4))
	g := report.Gantt{
		Words: report.Words{Name: "crowd"},
		Sites: []report.GanttSite{{Name: "a", CPUs: cpus}, {Name: "b", CPUs: cpus}},
	}
	for i := range jobs {
		row := i % 20 // twenty rows of a hundred CPUs, each with one job after the other
		start := int64(i/20) * 1000
		origin := row % 2
		if random.IntN(5) == 0 {
			origin = 1 - origin
		}
		g.Jobs = append(g.Jobs, report.GanttJob{
			Site: row % 2, Origin: origin, CPUs: 100,
			Start: protocol.Instant(start), End: protocol.Instant(start + 900 + random.Int64N(100)),
		})
	}
	return g
}

func TestGanttOfManyJobsStaysSmallAndFair(t *testing.T) {
	t.Parallel()
	f := drawn(t, crowd(100_000))
	svg := f.SVG()
	if len(svg) > 700<<10 {
		t.Errorf("100,000 jobs take %d bytes", len(svg))
	}
	if !strings.Contains(f.Caption, "96000 smaller ones of 100000 are merged") {
		t.Errorf("caption %q", f.Caption)
	}
	// At site b, the lower half, a fifth of the area belongs to a's colour.
	a, b := area(t, svg, "#0072B2"), area(t, svg, "#E69F00")
	if share := a / (a + b); math.Abs(share-0.2) > 0.03 {
		t.Errorf("jobs from a have %.3f of what is busy at b, want 0.2", share)
	}
	if again := drawn(t, crowd(100_000)).SVG(); !bytes.Equal(svg, again) {
		t.Error("the same schedule was drawn differently")
	}
}

// area adds up the rectangles of a colour in the lower half of a Gantt chart.
func area(t *testing.T, svg []byte, colour string) float64 {
	t.Helper()
	one := regexp.MustCompile(`M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)L([\d.]+),([\d.]+)L([\d.]+),([\d.]+)Z`)
	sum := 0.0
	for line := range strings.Lines(string(svg)) {
		if !strings.Contains(line, "fill:"+colour) {
			continue
		}
		for _, m := range one.FindAllStringSubmatch(line, -1) {
			var v [8]float64
			for i := range v {
				var err error
				if v[i], err = strconv.ParseFloat(m[i+1], 64); err != nil {
					t.Fatal(err)
				}
			}
			const middle = 270 // points from the foot, between the two bands
			if x, y := v[4]-v[0], v[5]-v[1]; v[1] < middle {
				sum += math.Abs(x * y)
			}
		}
	}
	return sum
}

func TestGanttOfManySites(t *testing.T) {
	t.Parallel()
	g := report.Gantt{Words: report.Words{Name: "many"}}
	for i := range 100 {
		g.Sites = append(g.Sites, report.GanttSite{Name: "site" + strconv.Itoa(i), CPUs: 10})
		g.Jobs = append(g.Jobs, report.GanttJob{Site: i, Origin: i, CPUs: 1, End: protocol.Instant(1000 * (i + 1))})
	}
	f := drawn(t, g)
	said := texts(t, f.SVG())["text"]
	if !slices.Contains(said, "site99") || slices.Contains(said, "site0") || !slices.Contains(said, "from other sites") {
		t.Errorf("the busiest sites are not those shown: %q", said)
	}
	if !strings.Contains(f.Caption, "60 sites that ran less are left out.") || len(f.Table.Rows) != 100 {
		t.Errorf("caption %q, %d rows", f.Caption, len(f.Table.Rows))
	}
}

func BenchmarkGantt(b *testing.B) {
	g := crowd(10_000)
	for b.Loop() {
		if _, err := g.Figure(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestScheduleThatGoesOn(t *testing.T) {
	t.Parallel()
	hour := protocol.Instant(protocol.Hour)
	figure, err := report.Gantt{
		Words: report.Words{Name: "now", Title: "now"}, Now: 100 * hour, From: 94 * hour, To: 106 * hour,
		Sites: []report.GanttSite{{Name: "north", CPUs: 4}},
		Jobs: []report.GanttJob{
			{CPUs: 2, Start: 98 * hour, End: 102 * hour, Sure: 100 * hour},
			{CPUs: 2, Start: 95 * hour, End: 97 * hour, Sure: 97 * hour},
			{CPUs: 3, Start: 99 * hour, End: 103 * hour, Sure: 100 * hour}, // others have the CPUs
		},
	}.Figure()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`class="s0" d="M`, `class="s0 planned" d="M`, "hours from now", ">-6<", ">6<", "1 jobs are left out whose CPUs"} {
		if !strings.Contains(string(figure.SVG()), want) {
			t.Errorf("there is no %s in %s", want, figure.SVG())
		}
	}
	if _, err = (report.Gantt{Words: report.Words{Name: "now"}, Now: 5, From: 6, To: 7}).Figure(); err == nil {
		t.Error("a schedule without its present")
	}
}

func TestSmallDrawings(t *testing.T) {
	t.Parallel()
	spark := string(report.Sparkline([]float64{0, math.NaN(), 1, 0.5}, 1, `load "<now>"`))
	if !strings.Contains(spark, `aria-label="load &#34;&lt;now&gt;&#34;"`) || strings.Count(spark, "h.01") != 2 {
		t.Error(spark)
	}
	if level := string(report.Level(2)); !strings.Contains(level, "H72V8") || !strings.Contains(level, `aria-hidden="true"`) {
		t.Error(level)
	}
}
