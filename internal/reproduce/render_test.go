package reproduce_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

func TestRendering(t *testing.T) {
	t.Parallel()
	half, paper, rare := 3.5, 477.5, -1234567.5
	r := reproduce.Report{
		Name: "table4", Title: "overall results", Paper: "[MC] Table IV", Seeds: []uint64{1, 2}, Waits: "adaptive", Prices: "all known ahead",
		Notes: []string{"A note."},
		Tables: []reproduce.Table{
			{
				Stub:    "strategy",
				Columns: []reproduce.Column{{Key: "response", Title: "response", Unit: "min", Digits: 1}, {Key: "moved", Title: "moved"}},
				Rows: []reproduce.Row{
					{Label: "MCMF", Cells: []reproduce.Cell{
						{Ours: &report.Average{Mean: 418.04, CI95: &half}, Paper: &paper},
						{Ours: &report.Average{Mean: 12345}},
					}},
					{Label: "baseline", Cells: []reproduce.Cell{{Paper: &rare}, {Ours: &report.Average{Mean: -0.4}}}},
				},
			},
			{
				Title: "Beside another", Stub: "who", Beside: "prototype", Columns: []reproduce.Column{{Key: "x", Title: "x"}},
				Rows: []reproduce.Row{{Label: "it", Cells: []reproduce.Cell{{Ours: &report.Average{Mean: 1}, Paper: &half}}}},
			},
		},
	}
	for name, style := range map[string]reproduce.Style{"report.md": reproduce.Markdown, "report.txt": reproduce.Plain} {
		var text bytes.Buffer
		if err := r.Write(&text, style); err != nil {
			t.Fatal(err)
		}
		golden(t, name, text.Bytes())
	}
}

var update = flag.Bool("update", false, "write the golden reports anew; look at them before you commit them")

// golden compares with a file, which -update writes.
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
	if !bytes.Equal(got, want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}
