package reproduce_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
)

func TestEveryExhibitIsWhole(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Waits = waitpredict.Plan
	var printed reproduce.Printed
	for _, r := range run(t, o, reproduce.MCMF().Names...) {
		if len(r.Tables) == 0 || r.Paper == "" || r.Title == "" {
			t.Errorf("%s has no table, title or counterpart", r.Name)
		}
		for _, table := range r.Tables {
			checkTable(t, r.Name, table)
		}
		var text bytes.Buffer
		if err := r.Write(&text, reproduce.Markdown); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		printed.Add(r.Name, text.String())
	}
	for _, c := range reproduce.Claims() {
		if _, verdict, err := c.Judge(&printed); err != nil || verdict == reproduce.NotMade {
			t.Errorf("%s: %s %v", c.Says, verdict, err)
		}
	}
}

func checkTable(t *testing.T, name string, table reproduce.Table) {
	t.Helper()
	var keys []string
	for _, c := range table.Columns {
		if c.Key == "" || c.Title == "" || slices.Contains(keys, c.Key) {
			t.Errorf("%s, %s: column %+v has no title, or no key of its own", name, table.Title, c)
		}
		keys = append(keys, c.Key)
	}
	for _, row := range table.Rows {
		if len(row.Cells) != len(table.Columns) {
			t.Errorf("%s, %s: row %s has %d cells for %d columns", name, table.Title, row.Label, len(row.Cells), len(table.Columns))
		}
		for c, cell := range row.Cells {
			if cell.Ours == nil || math.IsNaN(cell.Ours.Mean) || math.IsInf(cell.Ours.Mean, 0) {
				t.Errorf("%s, %s: %s of %s is no number", name, table.Title, keys[c], row.Label)
			}
		}
	}
}

func TestMoneyAndTime(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Jobs, o.Waits = 300, waitpredict.Plan
	r := run(t, o, "fig4")[0]
	overall, dollars, sweep := r.Tables[0], r.Tables[1], r.Tables[2]

	honest, authors, most := values(t, dollars, "cost"), values(t, dollars, "cost_authors"), values(t, dollars, "most")
	for who := range honest {
		if honest[who] > most[who] {
			t.Errorf("%s costs %v, more than all CPUs at full power, %v", who, honest[who], most[who])
		}
		if authors[who] <= honest[who] {
			t.Errorf("%s: the authors' way gives %v, no more than the exact %v", who, authors[who], honest[who])
		}
	}
	cost, response := values(t, sweep, "cost_rel"), values(t, sweep, "response_rel")
	if cost["w = 0 %"] >= cost["w = 100 %"] || response["w = 100 %"] >= response["w = 0 %"] {
		t.Errorf("w trades nothing: cost %v, response %v", cost, response)
	}
	if cost["baseline"] != 100 || response["baseline"] != 100 {
		t.Errorf("the baseline costs %v of itself and takes %v", cost["baseline"], response["baseline"])
	}
	if moved := values(t, overall, "moved_pct"); moved["baseline"] != 0 || moved["MCMF w = 25 %"] == 0 {
		t.Errorf("moved: %v", moved)
	}
	if a, b := values(t, overall, "response_min")["MCMF w = 25 %"], values(t, sweep, "response_min")["w = 25 %"]; a != b {
		t.Errorf("the same trial gives %v and %v", a, b)
	}
}

func TestLocalUsersArePartOfTheGrid(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Waits = waitpredict.Plan
	all := values(t, run(t, o, "fig12")[0].Tables[0], "response_rel_w50")
	if all["10 %"] <= all["100 %"] || all["10 %"] > 101 {
		t.Errorf("a tenth of the jobs gains as much as all: %v", all)
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Seeds = 2
	var texts [2][]byte
	for i, workers := range []int{1, 5} {
		o.Workers = workers
		text, err := json.Marshal(run(t, o, "table6", "fig7"))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = text
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("one worker and five give other reports")
	}
}

func TestPerturbedWaitsAreWorse(t *testing.T) {
	t.Parallel()
	o := small(t)
	errors := values(t, run(t, o, "table5")[0].Tables[1], "error_min")
	if errors["0"] >= errors["12"] || errors["12"] >= errors["24"] {
		t.Errorf("mean errors of waits: %v", errors)
	}
}

func TestSeriesAreByTheHour(t *testing.T) {
	t.Parallel()
	r := run(t, small(t), "fig9")[0]
	if r.Name != "fig7" || len(r.Series) != 20 {
		t.Fatalf("%s has %d series", r.Name, len(r.Series))
	}
	for _, s := range r.Series {
		if len(s.Values) != len(r.Series[0].Values) || len(s.Values) == 0 {
			t.Errorf("%s has %d values, the first %d", s.Label, len(s.Values), len(r.Series[0].Values))
		}
	}
}

func TestProgressCountsToTheEnd(t *testing.T) {
	t.Parallel()
	last, total := 0, 0
	_, err := reproduce.MCMF().Run(t.Context(), small(t), []string{"table6", "fig5"}, func(done, of int) {
		if done != last+1 {
			t.Errorf("%d follows %d", done, last)
		}
		last, total = done, of
	})
	if err != nil || last != total || total != 4+2 { // four trials, two exhibits
		t.Errorf("%d of %d are done, %v", last, total, err)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	whole := small(t)
	tests := map[string]struct {
		change func(o *reproduce.Options)
		names  []string
		want   string
	}{
		"name":     {func(*reproduce.Options) {}, []string{"table99"}, `nothing is called "table99"; choose from table3`},
		"seeds":    {func(o *reproduce.Options) { o.Seeds = 0 }, nil, "seeds: 0 is not from 1 to 100"},
		"jobs":     {func(o *reproduce.Options) { o.Jobs = 7 }, nil, "jobs: 7; give 200 or more"},
		"workers":  {func(o *reproduce.Options) { o.Workers = -1 }, nil, "workers: -1 is negative"},
		"waits":    {func(o *reproduce.Options) { o.Waits = "guess" }, nil, `waits: "guess" is none of plan, auto`},
		"forecast": {func(o *reproduce.Options) { o.Forecast = "tea" }, nil, `no forecaster is called "tea"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := whole
			test.change(&o)
			if _, err := reproduce.MCMF().Run(t.Context(), o, test.names, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestMissingDataAreNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"fig5":      filepath.Join("prices", "xsede-2014-06", "Texas.csv"),
		"fig3":      filepath.Join("prices", "nordpool", "elspot-prices_2014_hourly_eur.csv.gz"),
		"table3":    filepath.Join("traces", "SDSC-Par-1996-3.1-cln.swf.gz"),
		"quoted":    filepath.Join("traces", "KTH-SP2-1996-2.1-cln.swf.gz"),
		"sample":    filepath.Join("traces", "xsede-sample-4100.swf.gz"),
		"nordugrid": filepath.Join("prices", "nordu-2014", "SE3.csv.gz"),
	}
	for name, missing := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := small(t)
			if err := os.Remove(filepath.Join(o.Data, missing)); err != nil {
				t.Fatal(err)
			}
			_, err := reproduce.MCMF().Run(t.Context(), o, []string{name}, nil)
			if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "--data") {
				t.Errorf("%v, want one that names %s", err, missing)
			}
		})
	}
}

func TestMalformedPricesAreRefused(t *testing.T) {
	t.Parallel()
	o := small(t)
	put(t, []byte("\"price\"\n25\ncheap\n"), o.Data, "prices", "xsede-2014-06", "Texas.csv")
	_, err := reproduce.MCMF().Run(t.Context(), o, []string{"fig5"}, nil)
	if err == nil || !strings.Contains(err.Error(), "Texas.csv:3:") {
		t.Errorf("%v, want the file and the line", err)
	}
}
