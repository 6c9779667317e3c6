package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

const hostile = `</title><script>alert("1")</script>&'` + "\x00\x1b[31m\u202e\xff"

func samplePage(t *testing.T, word string) report.Page {
	t.Helper()
	bars, curves, gantt := sampleBars(t), sampleCurves(), sampleGantt()
	bars.Title, bars.Caption, bars.Groups[1], bars.Series[0], bars.Panels[0].Title = word, word, word, word, word
	curves.Title, curves.X, curves.Y, curves.Curves[0].Name = word, word, word, word
	gantt.Caption, gantt.Sites[0].Name = word, word
	return report.Page{
		Title: word, Lead: "One.\n\n" + word,
		Sections: []report.Section{
			{Title: word, Text: word, Figures: []report.Figure{drawn(t, bars), drawn(t, curves), drawn(t, gantt)}},
			{Title: "Claims", Tables: []report.Table{{Title: word, Columns: []string{word, "ours"}, Rows: [][]string{{word, "1.5 ± 0.2"}}}}},
		},
		Source: report.Source{
			Command: "switchyard sim report " + word, Version: "v1",
			Inputs: []report.Input{report.NewInput(word, []byte("abc"))},
		},
	}
}

func page(t *testing.T, p report.Page) string {
	t.Helper()
	html, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

func TestPageEscapesHostileNames(t *testing.T) {
	t.Parallel()
	p := samplePage(t, hostile)
	html := page(t, p)
	for _, never := range []string{"<script", "\x00", "\x1b", "\u202e", "\xff", `"1"`} {
		if strings.Contains(html, never) {
			at := strings.Index(html, never)
			t.Errorf("the page has %q: …%q…", never, html[max(0, at-80):at+40])
		}
	}
	for _, f := range p.Sections[0].Figures {
		texts(t, f.SVG()) // well-formed
	}
}

func TestPageIsWholeAndSaysWhereItCameFrom(t *testing.T) {
	t.Parallel()
	html := page(t, samplePage(t, "plain"))
	for _, want := range []string{
		"<title>plain</title>", "<p>One.</p>", `<figure id="bars">`, `<figure id="gantt">`, `aria-label="plain"`,
		`<a href="#section-1">Claims</a>`, "<td class=\"n\">1.5 ±\u00a00.2</td>", "0.1695", "prefers-color-scheme:dark", "@media print",
		"<code>switchyard sim report plain</code>",
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", // SHA-256 of "abc"
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"<script", "src=", "@import", "url(", "<link", "ZgotmplZ", "<?xml"} {
		if strings.Contains(html, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if strings.Count(html, "</svg>") != 3 {
		t.Errorf("%d figures, want 3", strings.Count(html, "</svg>"))
	}
}

func TestPageIsTheSameTwice(t *testing.T) {
	t.Parallel()
	first, again := page(t, samplePage(t, "x")), page(t, samplePage(t, "x"))
	if first != again {
		t.Error("the same content gave two pages")
	}
}

func TestPageRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*report.Page){
		`two figures are named "bars"`: func(p *report.Page) { p.Sections[0].Figures[1] = p.Sections[0].Figures[0] },
		"is not drawn":                 func(p *report.Page) { p.Sections[1].Figures = []report.Figure{{}} },
		"row 0 has 1 cells, want 2":    func(p *report.Page) { p.Sections[1].Tables[0].Rows[0] = []string{"1"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := samplePage(t, "x")
			spoil(&p)
			if _, err := p.HTML(); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("error %v, want one that says %q", err, name)
			}
		})
	}
}

func FuzzNames(f *testing.F) {
	f.Add(hostile)
	f.Add("]]>\n\u2028 Σ δ σ φ ε")
	f.Fuzz(func(t *testing.T, word string) {
		p := samplePage(t, word)
		html := page(t, p)
		if strings.Contains(html, "<script") || strings.Count(html, "</svg>") != 3 {
			t.Fatal("a name became markup")
		}
		for _, fig := range p.Sections[0].Figures {
			if texts(t, fig.SVG()); bytes.Count(fig.SVG(), []byte("<svg ")) != 1 {
				t.Fatal("a name became an element")
			}
		}
	})
}

func BenchmarkPage(b *testing.B) {
	gantt := crowd(10_000)
	runs := sampleRuns()
	size := 0
	for b.Loop() {
		section := report.Section{Title: "all"}
		for _, name := range []string{"figure-3", "figure-4", "figure-5"} {
			bars, err := report.PaperFigure(4, report.Words{Name: name}, runs)
			if err != nil {
				b.Fatal(err)
			}
			section.Figures = append(section.Figures, mustDraw(b, bars))
		}
		for _, name := range []string{"load", "delta", "sigma", "phi", "epsilon"} {
			curves := sampleCurves()
			curves.Name = name
			section.Figures = append(section.Figures, mustDraw(b, curves))
		}
		section.Figures = append(section.Figures, mustDraw(b, gantt))
		html, err := report.Page{Title: "t", Sections: []report.Section{section}}.HTML()
		if err != nil {
			b.Fatal(err)
		}
		size = len(html)
	}
	b.ReportMetric(float64(size), "bytes/page")
}

func mustDraw(b *testing.B, d interface{ Figure() (report.Figure, error) }) report.Figure {
	b.Helper()
	f, err := d.Figure()
	if err != nil {
		b.Fatal(err)
	}
	return f
}
