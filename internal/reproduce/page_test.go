package reproduce_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

func TestPage(t *testing.T) {
	t.Parallel()
	columns := []reproduce.Column{{Key: "a", Title: "PB-50", Unit: "%"}, {Key: "b", Title: "PB-90", Unit: "%"}}
	rows := []reproduce.Row{
		{Label: "March", Cells: []reproduce.Cell{reproduce.Ours(20, 24), reproduce.Ours(7, 9)}},
		{Label: "April", Cells: []reproduce.Cell{reproduce.Ours(25, 26).Beside(23), reproduce.Ours(10, 11)}},
	}
	reports := []reproduce.Report{{
		Name: "bg-fig2", Title: "savings", Paper: "[BG] Figure 2", Seeds: []uint64{1, 2}, Notes: []string{"A <note>."},
		Tables: []reproduce.Table{
			{Title: "drawn", Stub: "month", Measure: "saving, %", Columns: columns, Rows: rows},
			{Title: "told", Stub: "month", Columns: columns, Rows: rows},
		},
		Series: []reproduce.Series{
			{Label: "power", Unit: "kW", Minutes: 720, Values: []float64{1, 2}},
			{Label: "less power", Unit: "kW", Minutes: 720, Values: []float64{1, 1}},
			{Label: "utilization", Unit: "%", Minutes: 720, Values: []float64{50, 60}},
			{Label: "by the hour", Unit: "%", Values: []float64{1, 2, 3}},
		},
	}}
	var pages [2][]byte
	for i := range pages {
		page, err := reproduce.Page("Again", reports, report.Source{})
		if err != nil {
			t.Fatal(err)
		}
		s := page.Sections[0]
		if len(s.Tables) != 1 || s.Tables[0].Title != "told" {
			t.Errorf("tables %+v", s.Tables)
		}
		if len(s.Figures) != 3 || len(s.Figures[1].Table.Columns) != 3 || len(s.Figures[2].Table.Columns) != 2 {
			t.Errorf("%d figures, the curves %v and %v", len(s.Figures), s.Figures[1].Table, s.Figures[2].Table)
		}
		if pages[i], err = page.HTML(); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"bg-fig2: savings", "A &lt;note&gt;.", "Means of 2 seeds", "the paper", "1 value of the papers beside ours; within a tenth of ours, or within the 95 % interval of our mean: 1."} {
		if !strings.Contains(string(pages[0]), want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if !bytes.Equal(pages[0], pages[1]) {
		t.Error("two pages of the same reports differ")
	}
}

func TestPageSaysWhichReportCannotBeDrawn(t *testing.T) {
	t.Parallel()
	_, err := reproduce.Page("Again", []reproduce.Report{{Name: "bg-fig9", Tables: []reproduce.Table{{Measure: "nothing"}}}}, report.Source{})
	if err == nil || !strings.HasPrefix(err.Error(), "bg-fig9: ") {
		t.Errorf("%v", err)
	}
}
