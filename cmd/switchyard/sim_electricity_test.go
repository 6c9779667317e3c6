package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// someElectricity is the built-in experiment with few jobs.
func someElectricity(t *testing.T) string {
	t.Helper()
	text := good(t, simulate(t, "show", "electricity"))
	few := strings.NewReplacer("jobs = 1200", "jobs = 100", "history = 300", "history = 30").Replace(text)
	if few == text {
		t.Fatal("the experiment has other numbers of jobs")
	}
	return tempFile(t, "few.toml", few)
}

// TestSimRunElectricity: what it costs stands between the schemes and the sites.
func TestSimRunElectricity(t *testing.T) {
	t.Parallel()
	few := someElectricity(t)
	out := good(t, simulate(t, "run", few))
	lines := strings.Split(out, "\n")
	for at, want := range map[int]string{
		2: "SCHEME", 3: "local", 4: "cycle", 5: "portal", 7: "Electricity, in USD:", 9: "SCHEME", 10: "local", 11: "cycle", 12: "portal",
		14: "Sites under scheme cycle:", 16: "SITE",
	} {
		if at >= len(lines) || !strings.HasPrefix(lines[at], want) {
			t.Fatalf("line %d does not begin with %s:\n%s", at, want, out)
		}
	}
	for _, want := range []string{"COST", "MWH", "FAIRNESS", "BLACKLIGHT"} {
		if !strings.Contains(lines[9], want) {
			t.Errorf("no column %s in %q", want, lines[9])
		}
	}
	if cells := strings.Fields(lines[10]); cells[2] != "-" || cells[4] != "-" {
		t.Errorf("local is compared with itself: %q", lines[10])
	}
	var shown struct {
		Currency string
		Cost     float64 `json:"energy_cost"`
		Fairness *float64
		Compare  []struct {
			Scheme   string
			Fairness *float64
		}
	}
	if err := json.Unmarshal([]byte(good(t, simulate(t, "run", few, "--json"))), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Currency != "USD" || shown.Cost <= 0 || shown.Fairness == nil || shown.Compare[0].Fairness != nil || shown.Compare[1].Fairness == nil {
		t.Errorf("as JSON: %+v", shown)
	}
}

// TestSimSweepElectricity: the cost is in the table and on the page.
func TestSimSweepElectricity(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.html")
	out := good(t, simulate(t, "sweep", someElectricity(t), "--set", "delay_price=0,100", "--set", "scheme=cycle", "--seeds", "1", "--html", page))
	if !strings.Contains(out, "ELECTRICITY, USD") || strings.Contains(out, "FAIRNESS") {
		t.Errorf("printed\n%s", out)
	}
	if text := content(t, page); !strings.Contains(text, "electricity, USD over delay_price") {
		t.Error("the page has no curve of the cost")
	}
}

// TestSimRunCyclesNeedTheirPolicy: the mistake is told with its place.
func TestSimRunCyclesNeedTheirPolicy(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"cycle", "portal"} {
		got := simulate(t, "run", "light", "--scheme", scheme)
		if got.code != 2 || !strings.Contains(got.stderr, `"tc" does not decide in cycles, as the scheme "`+scheme+`" does; use "local", "mcmf"`) {
			t.Errorf("%s: %+v", scheme, got)
		}
	}
}
