package gridcost_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/gridcost"
)

// park is the directory of the machines.
var park = filepath.Join("..", "..", "..", "examples", "iss")

// run makes exhibits from the machines of a directory.
func run(t *testing.T, machines string, names ...string) ([]reproduce.Report, error) {
	t.Helper()
	return gridcost.Paper().Run(t.Context(), reproduce.Options{Size: reproduce.Size{Machines: machines}}, names, nil)
}

// columns are our values in the rows of an exhibit's table, one list for each row.
func columns(t *testing.T, name string, table int) map[string][]float64 {
	t.Helper()
	reports, err := run(t, park, name)
	if err != nil || len(reports) != 1 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	rows := map[string][]float64{}
	for _, row := range reports[0].Tables[table].Rows {
		for _, cell := range row.Cells {
			value := -1.0
			if cell.Ours != nil {
				value = cell.Ours.Mean
			}
			rows[row.Label] = append(rows[row.Label], value)
		}
	}
	return rows
}

// Each by hand: 100 CPUs for 12 hours, and waiting since Monday 8:00.
func TestRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, row string
		want      []float64
	}{
		{"is-fig1", "Monday 8:00", []float64{4, 100 * 12 * 4}},
		{"is-fig1", "Monday 14:00", []float64{4, 100 * (6*4 + 6*2)}},
		{"is-fig1", "Friday 20:00", []float64{2, 100 * (4*2 + 8*1)}},
		{"is-fig1", "Saturday 8:00", []float64{1, 100 * 12}},
		{"is-fig2", "Monday 17:00", []float64{8 * 60, 9 * 10}},
		{"is-fig2", "Tuesday 8:00", []float64{8 * 60, 24 * 10}},
		{"is-fig2", "Thursday 12:00", []float64{(3*8 + 4) * 60, 64*10 + 12*1000}},
		{"is-fig2", "next Monday 8:00", []float64{5 * 8 * 60, 64*10 + 104*1000}},
	} {
		if got := columns(t, c.name, 0)[c.row]; !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: %v, want %v", c.name, c.row, got, c.want)
		}
	}
}

// [IS 4.2]: 2 GHz to 800 MHz costs a memory-bound code 10 % and saves it a factor of 6 of the energy, of which the
// longer run takes a tenth; what computes at the peak saves as much as its frequency falls.
func TestFrequencies(t *testing.T) {
	t.Parallel()
	for table, want := range [][]float64{{10, 6.25, 6.25 / 1.1}, {150, 6.25, 2.5}} {
		got := columns(t, "is-energy", table)["800"]
		for i := range want {
			if len(got) != len(want) || got[i] < want[i]*(1-1e-4) || got[i] > want[i]*(1+1e-4) {
				t.Fatalf("table %d: %v, want %v", table, got, want)
			}
		}
	}
}

// Γ of every machine is within the range of [IS 2.2].
func TestGammaRanges(t *testing.T) {
	t.Parallel()
	rows := columns(t, "is-gamma", 0)
	if len(rows) != 5 {
		t.Errorf("%d machines, want 5", len(rows))
	}
	for label, values := range rows {
		if values[2] != 1 {
			t.Errorf("%s: Γ is %.3g", label, values[0])
		}
	}
}

// Of the machines that suit a component that communicates, the most expensive costs less than ten times as much as the cheapest,
// and no class has the same cheapest machine as all others.
func TestMachineCosts(t *testing.T) {
	t.Parallel()
	cheapest := map[int]bool{}
	for class, values := range columns(t, "is-cost", 0) {
		costs := values[:6]
		least := -1
		for i, value := range costs {
			if value > 0 && (least < 0 || value < costs[least]) {
				least = i
			}
		}
		cheapest[least] = true
		if ratio := values[6]; class != "farmed" && (ratio <= 2 || ratio > 10) {
			t.Errorf("%s: the most expensive adequate machine costs %.1f times the cheapest", class, ratio)
		}
	}
	if len(cheapest) != 4 {
		t.Errorf("four classes have %d cheapest machines", len(cheapest))
	}
}

func TestNamesAndMistakes(t *testing.T) {
	t.Parallel()
	reports, err := run(t, park, "is")
	if err != nil || len(reports) != len(gridcost.Paper().Exhibits) {
		t.Fatalf("%d reports of %d exhibits, %v", len(reports), len(gridcost.Paper().Exhibits), err)
	}
	page, err := reproduce.Page("ISS", reports, report.Source{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = page.HTML(); err != nil {
		t.Error(err)
	}
	if _, err = run(t, park, "is-fig9"); err == nil || !strings.Contains(err.Error(), `nothing is called "is-fig9"; choose from is-fig1`) {
		t.Error(err)
	}
	if _, err = run(t, t.TempDir(), "is-gamma"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "--machines") {
		t.Error(err)
	}
	wrong := t.TempDir()
	for name, text := range map[string]string{"park.csv": "site,cpus\nfarm,many\n", "classes.csv": "class,cpus\nneighbours,1\n"} {
		if err = os.WriteFile(filepath.Join(wrong, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = run(t, wrong, "is-cost"); err == nil || !strings.Contains(err.Error(), `park.csv: cpus "many" is no number`) {
		t.Error(err)
	}
}

// TestParkWithoutMachines: a park that has none, or none that suits a class, leaves cells empty.
func TestParkWithoutMachines(t *testing.T) {
	t.Parallel()
	full := strings.SplitAfter(content(t, filepath.Join(park, "park.csv")), "\n")
	for rows := 1; rows < len(full); rows++ {
		dir := t.TempDir()
		for name, text := range map[string]string{"park.csv": strings.Join(full[:rows], ""), "classes.csv": content(t, filepath.Join(park, "classes.csv"))} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if reports, err := run(t, dir, "is-cost"); err == nil && len(reports) != 1 {
			t.Errorf("%d rows: %d reports", rows, len(reports))
		}
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
