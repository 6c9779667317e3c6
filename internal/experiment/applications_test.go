package experiment_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
)

const issDir = "../../examples/iss/"

// issRows are the rows of a file of the example, by the names of its columns.
func issRows(t testing.TB, name string) (all []map[string]string) {
	t.Helper()
	file, err := os.Open(issDir + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = record[i]
		}
		all = append(all, row)
	}
	return all
}

func park(t testing.TB) *experiment.Plan {
	t.Helper()
	plan, err := experiment.Read(issDir + "park.toml")
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	return plan
}

// landed runs the park and says of each class that went somewhere else than [IS 2] wants.
func landed(t *testing.T, plan *experiment.Plan, seed uint64, what string) {
	t.Helper()
	outcome, err := plan.Run(t.Context(), plan.Scheme, seed, nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	lands := map[string][]string{}
	for _, row := range issRows(t, "classes.csv") {
		lands[row["class"]] = strings.Fields(row["lands"])
	}
	if len(outcome.Applications.Each) != len(lands) {
		t.Fatalf("%d applications, %d classes", len(outcome.Applications.Each), len(lands))
	}
	for _, a := range outcome.Applications.Each {
		for _, c := range a.Components {
			if !slices.Contains(lands[a.Name], c.Site) || c.State != "COMPLETED" {
				t.Errorf("%s: a component of %s landed at %q instead of %v and is %s (%s)", what, a.Name, c.Site, lands[a.Name], c.State, c.Reason)
				break
			}
		}
	}
}

// TestParkIsThatOfTheTables: the experiment has the machines and classes of the CSV files.
func TestParkIsThatOfTheTables(t *testing.T) {
	t.Parallel()
	plan := park(t)
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	machines := issRows(t, "park.csv")
	if len(machines) != len(plan.Sites) {
		t.Fatalf("%d machines, %d sites", len(machines), len(plan.Sites))
	}
	for i, row := range machines {
		s := &plan.Sites[i]
		l := &s.LocalSched
		got := []float64{
			float64(plan.CPUs(i)), float64(l.CPUs / l.Nodes), float64(l.Memory), float64(l.CPUModel.PeakGflops) / 1e6,
			float64(l.CPUModel.MemoryBandwidth) / 1e9, float64(l.CPUModel.NetworkBandwidth) / 1e6, float64(l.CPUModel.Latency) / 1e6,
			float64(s.Power.WattsPerCPU.Milliwatts()) / 1e3, float64(s.Cost.CPU.Price) / 1e6,
		}
		for k, column := range []string{
			"cpus", "cpus_per_node", "memory_mb_per_node", "peak_gflops", "memory_gb_s", "network_mb_s", "latency_us", "watts_per_cpu", "chf_per_cpu_hour",
		} {
			if math.Abs(got[k]-number(row[column])) > 1e-9 {
				t.Errorf("%s: %s is %v, and %s in the table", row["site"], column, got[k], row[column])
			}
		}
		if s.Name != row["site"] || strconv.FormatBool(s.LocalSched.CPUModel.Bus) != row["bus"] {
			t.Errorf("%s is called %s, or is no bus", row["site"], s.Name)
		}
	}
	for _, row := range issRows(t, "classes.csv") {
		text, err := os.ReadFile(issDir + row["class"] + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{
			"cpus": number(row["cpus"]), "memory": number(row["memory_mb_per_cpu"]), "operations": 1e6 * number(row["mflop"]),
			"accesses": 1e6 * number(row["mwords"]), "sent": number(row["sent_words"]), "messages": number(row["messages"]),
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			key, value, _ := strings.Cut(line, " = ")
			if n, counts := want[key]; counts && number(value) != n {
				t.Errorf("%s: %s is %s, and %g in the table", row["class"], key, value, n)
			}
		}
		if scaling := row["scaling"]; scaling != "" && !strings.Contains(string(text), fmt.Sprintf("scaling = %q", scaling)) {
			t.Errorf("%s does not scale as %s", row["class"], scaling)
		}
	}
}

// parameters are the prices and parameters of a site's machine.
func parameters() []string {
	return []string{
		"localsched.cpu_model.peak_gflops", "localsched.cpu_model.memory_bandwidth", "localsched.cpu_model.network_bandwidth", "localsched.cpu_model.latency_us", "power.watts_per_cpu",
		"cost.cpu.price", "cost.eco.price", "cost.eco.cooling",
	}
}

// changed is a parameter of a site, multiplied.
func changed(s *experiment.Site, parameter string, by float64) experiment.Setting {
	rate := func(of float64) string { return fmt.Sprintf("\"%.0fB/s\"", by*of) }
	money := func(of float64) string { return fmt.Sprintf("%.6f", by*of/1e6) }
	value := map[string]string{
		"localsched.cpu_model.peak_gflops":       money(float64(s.LocalSched.CPUModel.PeakGflops)),
		"localsched.cpu_model.memory_bandwidth":  rate(float64(s.LocalSched.CPUModel.MemoryBandwidth)),
		"localsched.cpu_model.network_bandwidth": rate(float64(s.LocalSched.CPUModel.NetworkBandwidth)),
		"localsched.cpu_model.latency_us":        money(float64(s.LocalSched.CPUModel.Latency)),
		"power.watts_per_cpu":                    fmt.Sprintf("%.3f", by*float64(s.Power.WattsPerCPU.Milliwatts())/1e3),
		"cost.cpu.price":                         money(float64(s.Cost.CPU.Price)),
		"cost.eco.price":                         money(float64(s.Cost.Eco.Price)),
		"cost.eco.cooling":                       money(max(1e6/by, float64(s.Cost.Eco.Cooling))),
	}[parameter]
	return experiment.Setting{Key: "site." + s.Name + "." + parameter, Value: value}
}

// The four classes land where [IS 2] wants them under the objective balanced, by real peers
// and the real policy.
func TestClassesLand(t *testing.T) {
	t.Parallel()
	plan := park(t)
	for seed := range uint64(3) {
		landed(t, plan, seed, fmt.Sprintf("seed %d", seed))
	}
}

// The landings survive 20 % on every price and every parameter of a machine, one by one.
func TestLandingsSurviveEachChange(t *testing.T) {
	t.Parallel()
	plan := park(t)
	directions := []float64{0.8, 1.2}
	for i := range plan.Sites {
		for j, parameter := range parameters() {
			both := directions
			if testing.Short() { // one of the two each, in turn
				both = directions[(i+j)%2:][:1]
			}
			for _, by := range both {
				one := changed(&plan.Sites[i], parameter, by)
				landed(t, set(t, plan, one), 1, one.Key+" = "+one.Value)
			}
		}
	}
	for _, rate := range []string{"48.0", "72.0"} {
		landed(t, set(t, plan, experiment.Setting{Key: "waiting_cost.engineer.rate", Value: rate}), 1, "a salary of "+rate)
	}
}

// They survive all of these at once, in random directions.
func TestLandingsSurviveAllChanges(t *testing.T) {
	t.Parallel()
	plan := park(t)
	corners := uint64(20)
	if testing.Short() {
		corners = 5
	}
	for seed := range corners {
		random := rand.New(rand.NewPCG(seed, 20))
		var settings []experiment.Setting
		for i := range plan.Sites {
			for _, parameter := range parameters() {
				settings = append(settings, changed(&plan.Sites[i], parameter, 0.8+0.4*float64(random.IntN(2))))
			}
		}
		landed(t, set(t, plan, settings...), seed, fmt.Sprintf("corner %d", seed))
	}
}

// TestApplicationsHaveWeights of their own, and a curve: the simulator submits an application with them.
func TestApplicationsHaveWeights(t *testing.T) {
	t.Parallel()
	const prefix = "application.shared."
	plan := set(t, park(t),
		experiment.Setting{Key: prefix + "compute_weight", Value: "1.5"}, experiment.Setting{Key: prefix + "wait_weight", Value: "0.5"},
		experiment.Setting{Key: prefix + "energy_weight", Value: "2"}, experiment.Setting{Key: prefix + "data_weight", Value: "1"},
		experiment.Setting{Key: prefix + "waiting_cost", Value: "engineer"})
	landed(t, plan, 1, "with weights")
}

// TestSettingsByPath change a copy alone, and are checked as a file is.
func TestSettingsByPath(t *testing.T) {
	t.Parallel()
	plan := park(t)
	before := *plan.Sites[0].Cost.CPU
	other := set(t, plan,
		experiment.Setting{Key: "site.farm.cost.cpu.price", Value: "9.5"}, experiment.Setting{Key: "default_weights.wait_weight", Value: "0.5"},
		experiment.Setting{Key: "application.shared.objective", Value: "cheapest"}, experiment.Setting{Key: "exchange_rates.CHF", Value: "1.0"},
		experiment.Setting{Key: "waiting_cost.engineer.rate", Value: "1"})
	if c := other.Sites[0].Cost.CPU; c.Price != 9_500_000 || c.GuestPrice != 9_500_000 || !reflect.DeepEqual(*plan.Sites[0].Cost.CPU, before) {
		t.Errorf("the price is %v for own and %v for guests, and was %+v", c.Price, c.GuestPrice, *plan.Sites[0].Cost.CPU)
	}
	if other.DefaultWeights.WaitWeight != 500_000 || plan.DefaultWeights.WaitWeight != 1_000_000 || other.Applications[3].Objective != "cheapest" ||
		plan.Applications[3].Objective != "" || plan.WaitingCosts[0].Rate != 60_000_000 || len(plan.ExchangeRates) != 0 {
		t.Error("a setting is not there, or changed the plan that it was made of")
	}
	for _, c := range []struct{ key, value, at, word string }{
		{"site.nowhere.mhz", "5", "", "nowhere"},
		{"site.farm.cost.cpu.prise", "5", "", "unknown key"},
		{"site.farm.cost.cpu.price", "-5", "site[farm].cost.cpu.price", "negative"},
		{"site.farm.localsched.cpu_model.bus", "maybe", "", "true or false"},
		{"application.shared.objective", "best", "application[4].objective", "best"},
		{"default_weights.waiting_cost", "lunch", "default_weights.waiting_cost", "lunch"},
		{"waiting_cost.engineer.kind", "steps", "waiting_cost[engineer].steps", "missing"},
		{"site.farm.watts_per_cpu", "5", "", "watts_per_cpu in [site.power]"},
		{"site.farm.cpu_model.bus", "true", "", "[site.localsched.cpu_model]"},
	} {
		_, err := plan.With(experiment.Setting{Key: c.key, Value: c.value})
		at := c.at
		if at == "" { // of the setting itself
			at = c.key
		}
		problemstest.Check(t, err, problemstest.Key(at, c.word))
	}
}

// grid is an experiment with an application, in a directory of its own.
func grid(t *testing.T, text, application string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"grid.toml": text, "app.toml": application, "run.sh": "#!/bin/sh\n#SWITCHYARD --time=2h\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "grid.toml")
}

const two = `
scheme = "cycle"
currency = "CHF"
[policy]
name = "iss"
[exchange_rates]
CHF = 1.0
EUR = 2.0
[[site]]
name = "home"
[site.localsched]
cpus = 4
nodes = 4
[site.localsched.cpu_model]
peak_gflops = 1.0
memory_bandwidth = "8GB/s"
network_bandwidth = "100MB/s"
[site.cost.cpu]
price = 1.0
[[site]]
name = "away"
currency = "EUR"
[site.localsched]
cpus = 4
nodes = 4
[site.localsched.cpu_model]
peak_gflops = 1.0
memory_bandwidth = "8GB/s"
network_bandwidth = "100MB/s"
[site.cost.cpu]
price = 0.4
`

const solver = `
[application]
objective = "cheapest"
max_cost = "10 CHF"
[[component]]
name = "solve"
script = "run.sh"
cpus = 4
[component.behavior]
operations = 1.44e13
accesses = 1e9
`

// TestMoneyOfSeveralSites: an hour on four CPUs costs 1.60 EUR away, which are 3.20 CHF and
// less than at home.
func TestMoneyOfSeveralSites(t *testing.T) {
	t.Parallel()
	outcome := issRun(t, grid(t, two+"[[application]]\nfile = \"app.toml\"\nsite = \"home\"\n", solver))
	a := outcome.Applications
	c := a.Each[0].Components[0]
	if c.Site != "away" || math.Abs(c.Cost-3.2) > 1e-9 || c.Run != 3600 || c.PredictedRun != 3600 || c.PredictedCost != c.Cost || a.LimitsMet != 1 {
		t.Errorf("got %+v", a)
	}
	if a.Sites[1].Income != c.Cost || a.Sites[1].Components != 1 || a.Sites[0].Income != 0 || a.Currency != "CHF" {
		t.Errorf("the sites: %+v", a.Sites)
	}
	if again := issRun(t, grid(t, two+"[[application]]\nfile = \"app.toml\"\nsite = \"home\"\n", solver)); again.Hash != outcome.Hash {
		t.Error("another run of the same differs")
	}
}

func issRun(t *testing.T, file string) *experiment.Outcome {
	t.Helper()
	plan, err := experiment.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	outcome, err := plan.Run(t.Context(), plan.Scheme, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// TestUsersErr: what users state five times too much is believed only until the first runs,
// and what grows from run to run stays a little behind.
func TestUsersErr(t *testing.T) {
	t.Parallel()
	again := "[[application]]\nfile = \"app.toml\"\nsite = \"home\"\ncount = 8\nevery = \"12h\"\nmax_cost = \"100 CHF\"\n"
	errors := func(keys string) (of []float64) {
		for _, a := range issRun(t, grid(t, two+again+keys, solver)).Applications.Each {
			c := a.Components[0]
			of = append(of, math.Abs(c.PredictedRun/c.Run-1))
		}
		return of
	}
	wrong := errors("misstated = 3\nnoise = 0.02\n")
	if wrong[0] < 0.2 || slices.Max(wrong[5:]) > 0.10 {
		t.Errorf("errors of what was stated wrong: %v", wrong)
	}
	silent := errors("unstated = true\n")
	if silent[0] < 0.5 || slices.Max(silent[1:]) > 0.01 {
		t.Errorf("errors without a statement: %v", silent)
	}
	if right := errors(""); slices.Max(right) > 1e-3 {
		t.Errorf("errors of what was stated right: %v", right)
	}
	if grows := errors("growth = 0.02\n"); grows[7] < 0.01 || grows[7] > 0.15 {
		t.Errorf("errors of what grows: %v", grows)
	}
}

// TestFaultyApplicationTables: all problems at once, with their lines.
func TestFaultyApplicationTables(t *testing.T) {
	t.Parallel()
	text := strings.Replace(two, "EUR = 2.0", "USD = 2.0", 1) + `
[[application]]
site = "nowhere"
count = 3
misstated = 0.5
unmeasured = ["joy"]
objective = "best"
wait_weight = 1.0
[[application]]
file = "app.toml"
site = "home"
cases = 0
rate = 2.0
every = "1h"
growth = 7.0
[[application]]
file = "app.toml"
site = "home"
noise = 1.0
[default_weights]
waiting_cost = "lunch"
`
	text = strings.Replace(text, "[site.localsched.cpu_model]\npeak_gflops = 1.0\n", "[site.localsched.cpu_model]\n", 1)
	text = strings.Replace(text, "[site.cost.cpu]\nprice = 0.4\n", "[site.cost.cpu]\nprice = -0.4\n[site.cost.eco]\nprice = 5.0\n", 1)
	_, err := experiment.Read(grid(t, text, solver))
	if err == nil {
		t.Fatal("no error")
	}
	at := func(key, word string) problemstest.Want { return problemstest.At("grid.toml", 0, key, word) }
	problemstest.Check(t, err,
		at("application[1].file", "missing"), at("application[1].site", "nowhere"), at("application[1].every", "missing"),
		at("application[1].misstated", "factor"), at("application[1].unmeasured", "joy"), at("application[1].objective", "best"),
		at("application[1].wait_weight", "objective"), at("application[2].cases", "0 is outside"), at("application[2].every", "rate"),
		at("application[2].growth", "7"), at("application[3].name", ""), at("application[3].noise", "run time"),
		at("default_weights.waiting_cost", "lunch"), at("site[home].localsched.cpu_model.peak_gflops", "missing"),
		at("site[away].currency", "exchange rate"), at("site[away].cost.cpu.price", "negative"), at("site[away].cost.eco", "watts_per_cpu"))
	for _, problem := range problems.Of(err) {
		if problem.Line == 0 {
			t.Errorf("without a line: %s", problem)
		}
	}
}

// TestCurrencyOfTheSums: money of sites in several currencies is added up in one that is
// named and has an exchange rate.
func TestCurrencyOfTheSums(t *testing.T) {
	t.Parallel()
	named := strings.Replace(two, "name = \"home\"\n", "name = \"home\"\ncurrency = \"USD\"\n", 1)
	named = strings.Replace(named, "EUR = 2.0", "EUR = 2.0\nUSD = 1.0", 1)
	named += "[[application]]\nfile = \"app.toml\"\nsite = \"home\"\n"
	_, err := experiment.Read(grid(t, named, solver))
	problemstest.Check(t, err)
	_, err = experiment.Read(grid(t, strings.Replace(named, "currency = \"CHF\"\n[policy]", "[policy]", 1), solver))
	problemstest.Check(t, err, problemstest.At("grid.toml", 0, "currency", "missing"))
	_, err = experiment.Read(grid(t, strings.Replace(named, "CHF = 1.0\n", "", 1), solver))
	problemstest.Check(t, err, problemstest.At("grid.toml", 3, "currency", "exchange rate"))
}

// TestFaultyApplicationFiles: errors in the users' files are reported when they are
// opened.
func TestFaultyApplicationFiles(t *testing.T) {
	t.Parallel()
	table := "[[application]]\nfile = \"app.toml\"\nsite = \"home\"\n"
	at := problemstest.At
	for name, c := range map[string]struct {
		table, application string
		want               problemstest.Want
	}{
		"no behavior": {table, strings.Split(solver, "[component.behavior]")[0], at("app.toml", 0, "component[solve].behavior", "missing")},
		"no script":   {table, strings.Replace(solver, "run.sh", "gone.sh", 1), at("app.toml", 0, "component[solve].script", "gone.sh")},
		"no such key": {table, solver + "colour = 1\n", at("app.toml", 12, "component[solve].behavior.colour", "unknown key")},
		"no amount":   {table + "max_cost = \"lots\"\n", solver, at("command line", 0, "--max-cost", "lots")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := experiment.Read(grid(t, two+c.table, c.application))
			if err == nil {
				err = plan.Open()
			}
			problemstest.Check(t, err, c.want)
		})
	}
	plan, err := experiment.Read(grid(t, two+strings.Replace(table, "app.toml", "gone.toml", 1), solver))
	if err != nil {
		t.Fatal(err)
	}
	missing := new(fs.PathError)
	if err = plan.Open(); !errors.As(err, &missing) || filepath.Base(missing.Path) != "gone.toml" {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestApplicationsBesideJobs: a trace's jobs run beside applications, and sites tell both.
func TestApplicationsBesideJobs(t *testing.T) {
	t.Parallel()
	outcome := issRun(t, grid(t, two+"[[workload]]\nsite = \"home\"\nmodel = \"M1\"\nspan = \"1d\"\njobs = 40\nscale = true\n"+
		"[[application]]\nfile = \"app.toml\"\nsite = \"away\"\nrate = 12.0\ncount = 5\n", solver))
	a := outcome.Applications
	if outcome.Metrics.Jobs == 0 || a.Components != 5 || a.Completed == 0 || a.Utilization <= 0 || a.Sites[0].Income <= 0 {
		t.Errorf("%d jobs, %+v", outcome.Metrics.Jobs, a)
	}
	for _, scheme := range []experiment.Scheme{experiment.Local, experiment.Central, experiment.Portal, experiment.Sender} {
		plan := outcome.Plan
		other, err := plan.Run(t.Context(), scheme, 1, nil)
		if err != nil {
			t.Errorf("%s: %v", scheme, err)
		} else if other.Applications.Components != 5 {
			t.Errorf("%s: %+v", scheme, other.Applications)
		}
	}
}
