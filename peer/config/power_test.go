package config_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const cards = `card,R00-M0-N00,32
card,R00-M0-N01,32
partition,SMALL,32,mesh,R00-M0-N00
partition,LARGE,64,torus,R00-M0
`

func packed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A machine in partitions has the nodes of its layout, wherever that comes from. A path
// begins at the directory of the configuration, and is the same when it is shown.
func TestMachinesInPartitions(t *testing.T) {
	t.Parallel()
	const table = "[localsched]\nmachine = \"bgp\"\ncpus = 163840\n[localsched.bgp]\n"
	for name, c := range map[string]struct {
		keys               string
		nodes, asked, held int
	}{
		"Intrepid":      {"partitions = \"intrepid\"\n", 40_960, 513, 1024},
		"small ones":    {"partitions = \"intrepid\"\nsmallest = 64\n", 40_960, 65, 128},
		"racks":         {"partitions = \"racks 2x8\"\n", 16_384, 1025, 2048},
		"a file":        {"partitions = \"cards.csv\"\nsmallest = 32\n", 64, 20, 32},
		"a torus":       {"partitions = \"cards.csv\"\nsmallest = 32\nmesh = false\n", 64, 20, 64},
		"a packed file": {"partitions = \"cards.csv.gz\"\nsmallest = 32\n", 64, 33, 64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t, map[string]string{"site.toml": reloadBase + table + c.keys, "cards.csv": cards, "cards.csv.gz": packed(t, cards)})
			cfg, err := config.Load(filepath.Join(dir, "site.toml"))
			if err != nil {
				t.Fatal(err)
			}
			machine, err := cfg.LocalSched.Engine(1)
			if err != nil {
				t.Fatal(err)
			}
			units, reason := machine.Units(protocol.Request{CPUs: 1, Nodes: c.asked, WallTime: protocol.Hour})
			if cfg.LocalSched.Nodes != c.nodes || units != c.held || reason != "" || machine.Capacity().Nodes != c.nodes {
				t.Errorf("%d nodes; for %d of them a job gets %d %s", cfg.LocalSched.Nodes, c.asked, units, reason)
			}
			var shown strings.Builder
			if err = cfg.Show(&shown, true); err != nil {
				t.Fatal(err)
			}
			elsewhere := directory(t, map[string]string{"site.toml": shown.String()})
			again, err := config.Load(filepath.Join(elsewhere, "site.toml"))
			if err != nil || again.LocalSched.BGP.Partitions != cfg.LocalSched.BGP.Partitions {
				t.Errorf("shown: %v\n%s", err, shown.String())
			}
		})
	}
}

func TestBudgetRules(t *testing.T) {
	t.Parallel()
	const base = "[power]\nwatts_per_cpu = 30.5\nidle_watts_per_cpu = 10\nbudget_kw = 12.5\nmode = \"filter\"\nwindow = 7\nreserve_after = \"2h\"\n"
	cfg := loaded(t, base+"on_peak = \"09:00-23:00\"\n[prices]\ntime_zone = \"Europe/Zurich\"\n")
	rules, err := cfg.BudgetRules()
	if err != nil || rules.Limit != 12_500_000 || rules.Above != nil || rules.Zone.String() != "Europe/Zurich" {
		t.Errorf("got %+v, %v", rules, err)
	}
	noon := protocol.Instant(1_790_000_000_000) // 21 September 2026, 14:13 UTC
	signal := rules.Signal(budget.Known{}, noon, noon.Add(protocol.Day))
	within := cfg.Power.Within(signal)
	if within.Rates != (power.Rates{Busy: 30_500_000, Idle: 10_000_000}) || within.Mode != "filter" || within.Window != 7 ||
		within.Bound != 2*protocol.Hour || within.Check() != nil {
		t.Errorf("got %+v", within)
	}
	if limit, until := within.Signal.At(noon); limit != 12_500_000 || until.Time().Hour() != 21 {
		t.Errorf("%d until %v", limit, until.Time())
	}
	priced := loaded(t, base+"price = -3.5\n[prices]\narea = \"here\"\nfeed = \"tariff\"\nconfig = \"x.toml\"\n")
	if rules, err = priced.BudgetRules(); err != nil || rules.Above == nil || *rules.Above != -3_500_000 {
		t.Errorf("got %+v, %v", rules, err)
	}
	none := loaded(t, "[power]\nwatts_per_cpu = 3\n[power.series]\nfeed = \"tariff\"\nconfig = \"x.toml\"\narea = \"a\"\n")
	if rules, err = none.BudgetRules(); err != nil || rules.Limit != power.Unlimited || !none.Power.Budgeted() {
		t.Errorf("a series alone: %+v, %v", rules, err)
	}
}

// The keys of the budget change while the peer runs; those by which power is counted, and
// the feed of the series, do not.
func TestBudgetsMayChange(t *testing.T) {
	t.Parallel()
	before := loaded(t, "[power]\nwatts_per_cpu = 3\nbudget_kw = 1\n")
	after := loaded(t, "[power]\nwatts_per_cpu = 4\nidle_watts_per_cpu = 1\nbudget_kw = 2\non_peak = \"09:00-10:00\"\nprice = 60\n"+
		"mode = \"filter\"\nwindow = 5\nreserve_after = \"0s\"\nlearn_job_power = true\n"+
		"[prices]\narea = \"here\"\nfeed = \"tariff\"\nconfig = \"x.toml\"\n[power.series]\nfeed = \"tariff\"\nconfig = \"x.toml\"\narea = \"a\"\n")
	var restart []string
	for _, change := range before.Changes(after) {
		if !change.Live {
			restart = append(restart, change.Key)
		}
	}
	want := []string{
		"power.watts_per_cpu", "power.learn_job_power", "power.series.feed", "power.series.config", "power.series.area",
		"prices.area", "prices.feed", "prices.config",
	}
	if !slices.Equal(restart, want) {
		t.Errorf("a restart is needed for %q, want %q", restart, want)
	}
	reported := loaded(t, "[power]\nwatts_per_cpu = 3\n[power.series]\nfeed = \"tariff\"\nconfig = \"x.toml\"\narea = \"a\"\nfallback_kw = 3\nmax_kw = 4\n")
	for _, change := range loaded(t, "[power]\nwatts_per_cpu = 3\n[power.series]\nfeed = \"tariff\"\nconfig = \"x.toml\"\narea = \"a\"\n").Changes(reported) {
		if !change.Live && strings.HasSuffix(change.Key, "_kw") {
			t.Errorf("%s needs a restart", change.Key)
		}
	}
	mixed := before.With(after).Power
	if mixed.Budget != 2_000_000 || mixed.Window != 5 || mixed.ReserveAfter != 0 || mixed.WattsPerCPU != 3_000_000 || mixed.LearnJobPower {
		t.Errorf("mixed: %+v", mixed)
	}
}

// TestUnexpectedBudgets: a budget in watts is asked about, and a limit of 0 is none.
func TestUnexpectedBudgets(t *testing.T) {
	t.Parallel()
	const machine = "[localsched]\ncpus = 4\n[power]\nwatts_per_cpu = 500\n"
	for keys, want := range map[string]string{
		"budget_kw = 2":               "",
		"budget_kw = 1000":            "is more than the power draw of all 4 CPUs, 2 kW; check that it is in kilowatts",
		"budget_kw = 1\nprice = 0":    "is 0; use 0.01",
		"budget_kw = 1\nprice = 0.01": "needs prices",
		"[power.series]\nfeed = \"tariff\"\nconfig = \"x.toml\"\narea = \"a\"\nfallback_kw = 5\nmax_kw = 4": "fallback_kw: is more than max_kw",
		"budget_kw = 1\non_peak = \"always\"\n": "",
	} {
		cfg, err := config.Load(filepath.Join(directory(t, map[string]string{"site.toml": reloadBase + machine + keys + "\n"}), "site.toml"))
		var reported string
		if err != nil {
			reported = err.Error()
		} else {
			reported = fmt.Sprint(cfg.Warnings)
		}
		if !strings.Contains(reported, want) || want == "" && strings.Contains(reported, "budget_kw") {
			t.Errorf("%q: %q is told, want %q", keys, reported, want)
		}
	}
}
