package bluegene_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/bluegene"
)

// shared is the folder of the data that are shared beside the checkout.
func shared(tb testing.TB) string {
	tb.Helper()
	data := filepath.Join("..", "..", "..", "..", "shared", "data")
	if _, err := os.Stat(filepath.Join(data, "traces")); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	return data
}

// run makes exhibits.
func run(t *testing.T, o reproduce.Size, names ...string) []reproduce.Report {
	t.Helper()
	reports, err := bluegene.Paper().Run(t.Context(), reproduce.Options{Size: o}, names, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// value is ours in a row and column.
func value(t *testing.T, table *reproduce.Table, row, column string) float64 {
	t.Helper()
	for c := range table.Columns {
		if table.Columns[c].Title != column {
			continue
		}
		for _, r := range table.Rows {
			if r.Label == row {
				return r.Cells[c].Ours.Mean
			}
		}
	}
	t.Fatalf("%s has no %s of %s", table.Title, column, row)
	return 0
}
