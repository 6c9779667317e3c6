package experiment_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// electric is two of the XSEDE systems with their jobs: one has a contract, the other a
// file of prices.
const electric = `
name = "electric"
scheme = "cycle"
compare = ["local", "portal"]
seeds = 2
history = 40
currency = "USD"

[policy]
name = "mcmf"

[rounds]
max_jobs_per_cycle = 2

[electricity]
start = "2014-06-03 00:00"
zone = "America/New_York"

[[workload]]
model = "xsede"
jobs = 150

[[site]]
name = "steele"
price = 60

[site.localsched]
cpus = 4992
nodes = 4992
mflops = 13340

[site.power]
watts_per_cpu = 83.75

[[site.period]]
days = "sat-sun"
price = 30

[[site]]
name = "queenbee"
price_file = { path = "PRICES", format = "hourly", start = "2014-06-01 00:00" }

[site.localsched]
cpus = 5440
nodes = 5440
mflops = 9380

[site.power]
watts_per_cpu = 16.25

[site.prices]
time_zone = "America/Chicago"
`

// hours writes a file of hourly prices that are not the same from day to day.
func hours(t *testing.T, days int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("price\n")
	for hour := range 24 * days {
		fmt.Fprintf(&b, "%.2f\n", 45+20*math.Sin(float64(hour)/24*2*math.Pi)+15*math.Sin(float64(hour)/70))
	}
	return write(t, "prices.csv", b.String())
}

func electricPlan(t *testing.T, changes ...string) *experiment.Plan {
	t.Helper()
	text := strings.ReplaceAll(electric, "PRICES", hours(t, 40))
	return opened(t, strings.NewReplacer(changes...).Replace(text))
}

// TestCyclesPlaceByCost: at either kind of cycle, a policy that goes by cost alone has a
// smaller bill than no policy, and its fairness is reported.
func TestCyclesPlaceByCost(t *testing.T) {
	t.Parallel()
	plan := set(t, electricPlan(t), experiment.Setting{Key: "delay_price", Value: "0"})
	local := run(t, plan, experiment.Local, 1)
	if local.Currency != "USD" || local.Cost <= 0 || local.MWh <= 0 || local.Metrics.Jobs != 150 {
		t.Fatalf("local: %+v, %d jobs", local.Energy, local.Metrics.Jobs)
	}
	hashes := []string{local.Hash}
	for _, scheme := range []experiment.Scheme{experiment.Cycle, experiment.Portal} {
		got := run(t, plan, scheme, 1)
		if slices.Contains(hashes, got.Hash) || got.Unplaced > 0 {
			t.Errorf("%s is another scheme, or places not all", scheme)
		}
		hashes = append(hashes, got.Hash)
		if got.Cost > 0.9*local.Cost {
			t.Errorf("%s costs %g, local %g", scheme, got.Cost, local.Cost)
		}
		got.CompareWith(local)
		cost, least := 0.0, math.Inf(1)
		for _, bill := range got.Bills {
			cost += bill.Cost
			least = min(least, *bill.Fairness)
		}
		if math.Abs(cost-got.Cost) > 1e-6*cost || least != *got.Fairness {
			t.Errorf("%s: the sites pay %g, the grid %g; the least fairness is %g, told %g", scheme, cost, got.Cost, least, *got.Fairness)
		}
	}
	local.CompareWith(local)
	if local.Fairness != nil {
		t.Error("local is compared with itself")
	}
}

// TestBillByHand: at a fixed price every MWh costs it; power, run times and speeds are
// the site's.
func TestBillByHand(t *testing.T) {
	t.Parallel()
	plan := electricPlan(t, "price = 60\n\n[[site.period]]\ndays = \"sat-sun\"\nprice = 30\n", "price = 60\n")
	got := run(t, plan, experiment.Cycle, 1)
	if bill := got.Bills[0]; bill.MWh == 0 || math.Abs(bill.Cost-60*bill.MWh) > 1e-4*bill.Cost {
		t.Errorf("at 60 per MWh, %g MWh cost %g", bill.MWh, bill.Cost)
	}
	mwh := 0.0
	for i := plan.History; i < len(got.Jobs); i++ {
		p := got.Result.Placements[i]
		if watts := []float64{83.75, 16.25}[p.Site]; p.Site >= 0 {
			mwh += watts * float64(got.Jobs[i].CPUs) * float64(p.End-p.Start) / 3.6e12
		}
		run := float64(got.Jobs[i].Run) * []float64{13340, 9380}[got.Jobs[i].Origin] / []float64{13340, 9380}[p.Site]
		if took := float64(p.End - p.Start); math.Abs(took-run) > 2 {
			t.Fatalf("job %d takes %g ms, by its Mflops %g", i, took, run)
		}
	}
	if math.Abs(mwh-got.MWh) > 1e-6*mwh {
		t.Errorf("%g MWh, by hand %g", got.MWh, mwh)
	}
}

// TestPricesAreOnTheCalendar: the site pays the price of the hour in its zone. All but
// one day costs nothing, so that the bill is what runs on that day.
func TestPricesAreOnTheCalendar(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("price\n")
	const expensive = 2 // 3 June in Chicago
	for hour := range 24 * 40 {
		b.WriteString(map[bool]string{true: "50\n", false: "0\n"}[hour/24 == expensive])
	}
	text := strings.ReplaceAll(electric, "PRICES", write(t, "prices.csv", b.String()))
	got := run(t, opened(t, text), experiment.Local, 1)
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	last := got.Jobs[39].Submit
	begin := protocol.InstantOf(time.Date(2014, 6, 3, 0, 0, 0, 0, newYork)) - (last - last%protocol.Instant(protocol.Day))
	from := protocol.InstantOf(time.Date(2014, 6, 1+expensive, 0, 0, 0, 0, zone))
	until := from.Add(protocol.Day)
	want := 0.0
	for i := 40; i < len(got.Jobs); i++ {
		if p := got.Result.Placements[i]; p.Site == 1 {
			overlap := max(0, min(p.End+begin, until)-max(p.Start+begin, from))
			want += 50 * 16.25 * float64(got.Jobs[i].CPUs) * float64(overlap) / 3.6e12
		}
	}
	if is := got.Bills[1].Cost; want < 1 || math.Abs(is-want) > 1e-6*150 { // a millionth for each job
		t.Errorf("the bill is %g, by hand %g", is, want)
	}
}

// TestElectricSettingsReachTheSimulation: each key changes what happens, or the bill.
func TestElectricSettingsReachTheSimulation(t *testing.T) {
	t.Parallel()
	calm := electricPlan(t)
	plan := set(t, calm, experiment.Setting{Key: "load", Value: "12"})
	reported := func(o *experiment.Outcome) string { return fmt.Sprint(o.Hash, o.Cost, o.Metrics.Jobs) }
	base := reported(run(t, plan, experiment.Cycle, 1))
	for _, setting := range []experiment.Setting{
		{Key: "delay_price", Value: "100"},
		{Key: "normalise", Value: "round"},
		{Key: "max_jobs_per_cycle", Value: "1"},
		{Key: "cycle_interval", Value: "30m"},
		{Key: "history", Value: "60"},
		{Key: "grid_share", Value: "0.5"},
		{Key: "wait_prediction", Value: "ibl"},
		{Key: "perturb", Value: "12h"},
		{Key: "max_cpu_share", Value: "0.1"},
		{Key: "power_high", Value: "1.4"},
		{Key: "policy.name", Value: "inst"},
		{Key: "estimates", Value: "perfect"},
		{Key: "load", Value: "0.8"},
	} {
		if got := reported(run(t, set(t, plan, setting), experiment.Cycle, 1)); got == base {
			t.Errorf("%s = %s changes nothing", setting.Key, setting.Value)
		}
	}
	slowly := reported(run(t, set(t, calm, experiment.Setting{Key: "forecast", Value: "flat"}), experiment.Cycle, 1))
	if slowly == reported(run(t, calm, experiment.Cycle, 1)) {
		t.Error("the forecast changes nothing")
	}
	crowded, err := experiment.Preset("electricity")
	if err != nil {
		t.Fatal(err)
	}
	crowded.Workloads[0].Jobs = 200
	crowded = set(t, crowded, experiment.Setting{Key: "delay_price", Value: "0"}, experiment.Setting{Key: "history", Value: "30"})
	if err = crowded.Open(); err != nil {
		t.Fatal(err)
	}
	guarded := reported(run(t, set(t, crowded, experiment.Setting{Key: "max_owner_delay", Value: "1ms"}), experiment.Cycle, 1))
	if guarded == reported(run(t, crowded, experiment.Cycle, 1)) {
		t.Error("protect_delay changes nothing")
	}
	data := electricPlan(t, "history", "load = 12\nhistory", "[electricity]", "[data]\nsize = \"1TB\"\nbandwidth = \"50MB/s\"\n[[data.link]]\na = \"steele\"\nbandwidth = \"1Gbit/s\"\n[electricity]")
	one, two := reported(run(t, data, experiment.Cycle, 1)), reported(run(t, set(t, data, experiment.Setting{Key: "data_size", Value: "2TB"}), experiment.Cycle, 1))
	if one == base || one == two {
		t.Error("data change nothing")
	}
	drawn := electricPlan(t, "history", "load = 12\nhistory", "[electricity]", "[data]\nsizes = [\"0\", \"1kB\", \"1TB\", \"2TB\"]\nbandwidth = \"50MB/s\"\n[electricity]")
	if got := reported(run(t, drawn, experiment.Cycle, 1)); got == one || got == base {
		t.Error("sizes that are drawn change nothing")
	}
}

func TestSizesOfDataAreChecked(t *testing.T) {
	t.Parallel()
	at := func(line int, key, word string) problemstest.Want {
		return problemstest.At("sizes.toml", line, key, word)
	}
	for table, want := range map[string]problemstest.Want{
		"size = \"1TB\"\nsizes = [\"0\", \"1GB\"]\nbandwidth = \"1MB/s\"": at(3, "data.sizes", "with size"),
		"sizes = [\"0\", \"1 ton\"]\nbandwidth = \"1MB/s\"":               at(2, "data.sizes", "valid size"),
		"sizes = [\"0\", \"1GB\"]":                                        at(0, "data.bandwidth", "missing"),
		"sizes = [\"0\"]\nbandwidth = \"1MB/s\"":                          at(3, "data.bandwidth", "size 0"),
		"per_gb = 1.0":                                                    at(2, "data.per_gb", "size 0"),
		"per_hour = 1.0":                                                  at(2, "data.per_hour", "size 0"),
	} {
		_, err := experiment.Read(write(t, "sizes.toml", "[data]\n"+table+"\n"))
		problemstest.Check(t, err, want)
	}
}

// TestForecastIsOfPublishedPrices only: a contract is known whatever the forecast.
func TestForecastIsOfPublishedPrices(t *testing.T) {
	t.Parallel()
	plan := electricPlan(t, "price_file = { path", "price = 45\n#")
	known := set(t, plan, experiment.Setting{Key: "forecast", Value: priceforecast.Known})
	if a, b := run(t, plan, experiment.Cycle, 1), run(t, known, experiment.Cycle, 1); a.Hash != b.Hash {
		t.Error("contracts are forecast")
	}
}

// TestElectricSweep: its points are those of single runs, whatever the workers; what it
// prints reads back and has its columns.
func TestElectricSweep(t *testing.T) {
	t.Parallel()
	sweep := experiment.Sweep{Plan: electricPlan(t, "jobs = 150", "jobs = 60"), Seeds: 2, Workers: 1, Axes: []experiment.Axis{{Key: "delay_price", Values: []string{"0", "100"}}}}
	if err := sweep.Set("scheme=cycle,local,ideal"); err != nil {
		t.Fatal(err)
	}
	text := swept(t, sweep)
	sweep.Workers = 3
	if again := swept(t, sweep); again != text {
		t.Error("3 workers print other bytes")
	}
	got, err := experiment.ParseResults([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := json.Marshal(got); err != nil || string(back) != text {
		t.Errorf("%v: other JSON after reading it back", err)
	}
	point := got.Points[1]
	plan := set(t, sweep.Plan, experiment.Setting{Key: "delay_price", Value: "0"})
	one := run(t, plan, experiment.Cycle, 2)
	one.CompareWith(run(t, plan, experiment.Local, 2))
	for key, want := range map[string]float64{"energy_cost": one.Cost, "energy_mwh": one.MWh, "fairness": *one.Fairness} {
		if is := point.Metrics[key].Values[1]; is != want {
			t.Errorf("%s of %s is %g, run alone %g", key, point.Scheme, is, want)
		}
	}
	for i, bill := range one.Bills {
		if is := point.Sites[i].Metrics["fairness"].Values[1]; is != *bill.Fairness {
			t.Errorf("fairness of %s is %g, run alone %g", bill.Site, is, *bill.Fairness)
		}
	}
	checkElectricPage(t, got)
}

func checkElectricPage(t *testing.T, got *experiment.Swept) {
	t.Helper()
	columns := got.Summary()[0].Columns
	if want := []string{"electricity, USD", "electricity, MWh", "fairness"}; !slices.Equal(columns[len(columns)-3:], want) {
		t.Errorf("the columns are %q", columns)
	}
	if ideal := got.Summary()[0].Rows[2]; ideal[1] != "ideal" || ideal[len(ideal)-2] != "-" {
		t.Errorf("the row of ideal is %q", ideal)
	}
	page, err := experiment.Page("page", []*experiment.Swept{got}, report.Source{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, section := range page.Sections {
		for _, figure := range section.Figures {
			names = append(names, figure.Name)
		}
	}
	if !slices.Contains(names, "electric-1-energy_cost") || !slices.Contains(names, "electric-1-fairness") {
		t.Errorf("the figures are %q", names)
	}
	if _, err = page.HTML(); err != nil {
		t.Error(err)
	}
}

// TestWithoutElectricityNothingIsReported of it.
func TestWithoutElectricityNothingIsReported(t *testing.T) {
	t.Parallel()
	plan := opened(t, "currency = \"EUR\"\n"+smallPlan)
	text, err := json.Marshal(run(t, plan, experiment.Sender, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, printed := range []string{string(text), swept(t, experiment.Sweep{Plan: plan, Seeds: 1})} {
		for _, key := range []string{"energy", "currency", "fairness"} {
			if strings.Contains(printed, key) {
				t.Errorf("%s is told: %.300s", key, printed)
			}
		}
	}
}

// TestElectricSiteJoins: it says what it draws and pays, and the bills of apart are those
// of the same jobs.
func TestElectricSiteJoins(t *testing.T) {
	t.Parallel()
	plan := electricPlan(t)
	_, err := plan.Join("mine=512x1") // without electricity
	problemstest.Check(t, err, problemstest.Key("site[mine].power.watts_per_cpu", "missing"))
	joined, err := plan.Join("mine=512x1,mflops=9000,watts=12.5,price=35")
	if err != nil {
		t.Fatal(err)
	}
	if err = joined.Open(); err != nil {
		t.Fatal(err)
	}
	sweep := experiment.Sweep{Plan: joined, Joining: []string{"mine"}, Seeds: 1}
	got, err := sweep.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	alone := run(t, plan, experiment.Cycle, 1)
	for _, p := range got.Points {
		if p.Scheme == experiment.Cycle && p.Membership == experiment.Apart {
			if is := p.Metrics["energy_cost"].Mean; is != alone.Cost {
				t.Errorf("apart the bill is %g, in a grid without the new site %g", is, alone.Cost)
			}
		}
	}
	sweep.Plan = set(t, joined, experiment.Setting{Key: "grid_share", Value: "0.5"})
	if _, err = sweep.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "grid_share") {
		t.Errorf("drawn jobs apart and joined: %v", err)
	}
}

// TestElectricMistakes: each with its line, all at once.
func TestElectricMistakes(t *testing.T) {
	t.Parallel()
	const text = `scheme = "cycle"
history = -1
grid_share = 1.5
perturb = "1"
localsched = { wait_prediction = "guess" }
[rounds]
max_jobs_per_cycle = -2
[guest_limits]
max_cpu_share = 2
[electricity]
start = "2014-03-09 02:30"
zone = "America/New_York"
forecast = "weather"
[power]
low = 1.4
high = 0.6
[data]
size = "1 ton"
[[data.link]]
a = "c"
bandwidth = "fast"
[[workload]]
model = "xsede"
site = "a"
bias = 0.5
[[workload]]
trace = "x.swf"
split = "queue"
[[site]]
name = "a"
price = 2000000
[site.localsched]
cpus = 1
mflops = -1
[site.power]
watts_per_cpu = -3
[site.prices]
time_zone = "Olso"
[[site.period]]
hours = "6-7"
[[site]]
name = "b"
price = 3
price_file = { path = "x.csv", format = "hourly" }
[site.localsched]
cpus = 1
[site.power]
watts_per_cpu = 3
[[site]]
name = "c"

[site.localsched]
cpus = 1
`
	path := write(t, "bad.toml", text)
	_, err := experiment.Read(path)
	if err == nil {
		t.Fatal("it is read")
	}
	got := strings.ReplaceAll(err.Error(), path, "bad.toml")
	for _, want := range []string{
		"bad.toml:2: history: is -1; use 0 or more",
		"bad.toml:3: grid_share: 1.5 is outside 0 to 1",
		`policy.name: "tc" does not decide in cycles, as the scheme "cycle" does; use "local", "mcmf", "inst", "twoprice", "iss", "stable" or "random"`,
		`bad.toml:5: localsched.wait_prediction: "guess" is unknown; allowed are "plan", "auto", "median", "mean", "adaptive", "qbets", "ibl"`,
		"bad.toml:7: rounds.max_jobs_per_cycle: is -2; use 0 or more",
		"bad.toml:4: perturb: ",
		"bad.toml:9: guest_limits.max_cpu_share: 2 is outside 0 to 1",
		"bad.toml:11: electricity.start: 2014-03-09 02:30 does not exist in America/New_York",
		`bad.toml:13: electricity.forecast: no forecaster is called "weather"`,
		"bad.toml:16: power.high: 0.6 is less than low, 1.4",
		"bad.toml:18: data.size: is not a valid size",
		"bad.toml:21: data.link[1].bandwidth: is not a valid bandwidth",
		`bad.toml:23: workload[1].model: the systems of "xsede" are blacklight, darter, `,
		"bad.toml:24: workload[1].site: has no effect with jobs of several sites",
		"bad.toml:25: workload[1].bias: has no effect with the model of a grid",
		`bad.toml:28: workload[2].split: invalid field "queue"`,
		"currency: invalid currency \"\"; set the currency of electricity prices",
		"bad.toml:34: site[a].localsched.mflops: is -1; use 0 or more",
		"bad.toml:36: site[a].power.watts_per_cpu: is outside 0 to ",
		`bad.toml:38: site[a].prices.time_zone: invalid time zone "Olso"`,
		"bad.toml:31: site[a].price: is beyond ±1000000.00 per MWh",
		"bad.toml:39: site[a].period[1].price: is missing",
		"bad.toml:40: site[a].period[1].hours: ",
		"bad.toml:43: site[b].price: has no effect with a file of prices",
		"bad.toml:44: site[b].price_file.start: is missing; say when the first price begins",
		"site[c].power.watts_per_cpu: is missing; where one site pays for electricity, all do",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q in\n%s", want, got)
		}
	}
}

// TestPricesThatDoNotFit are refused when the plan is opened, or run.
func TestPricesThatDoNotFit(t *testing.T) {
	t.Parallel()
	const line = `price_file = { path = "PRICES", format = "hourly", start = "2014-06-01 00:00" }`
	nordpool := write(t, "np.csv", "datetime;Hours;SE1;FI\n01.06.2014;00 - 01;25,92;25,91\n")
	euros := write(t, "euros.csv", "start,area,price_eur_per_mwh\n2014-06-01T00:00:00-05:00,FI,41.5\n")
	gap := write(t, "gap.csv", "price\n40\n\n41\n")
	short, late := hours(t, 2), hours(t, 40)
	for want, prices := range map[string]string{
		"np.csv: site queenbee: the file has the prices of several areas; name one with area, of FI, SE1":   `price_file = { path = "` + nordpool + `", format = "nordpool", zone = "Europe/Oslo" }`,
		`the file has no prices of the area "NO1", but of FI, SE1`:                                          "area = \"NO1\"\n" + `price_file = { path = "` + nordpool + `", format = "nordpool", zone = "Europe/Oslo" }`,
		"euros.csv:1: the prices are in EUR":                                                                `price_file = { path = "` + euros + `", format = "csv" }`,
		"gap.csv:3: there is no price for":                                                                  strings.ReplaceAll(line, "PRICES", gap),
		"none.csv: no such file":                                                                            strings.ReplaceAll(line, "PRICES", filepath.Join(t.TempDir(), "none.csv")),
		"site queenbee: its prices are from 2014-06-01 05:00Z until 2014-06-03 05:00Z, and jobs come from ": strings.ReplaceAll(line, "PRICES", short),
		"fix electricity.start":                                                                             strings.Replace(strings.ReplaceAll(line, "PRICES", late), "06-01", "06-09", 1),
	} {
		plan, err := experiment.Read(write(t, "plan.toml", strings.ReplaceAll(electric, line, prices)))
		if err != nil {
			t.Fatal(err)
		}
		if err = plan.Open(); err == nil {
			_, err = plan.Run(t.Context(), experiment.Local, 1, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestPricesOfOtherAreas are not looked at: Nord Pool's tables have areas that were
// traded in some hours only.
func TestPricesOfOtherAreas(t *testing.T) {
	t.Parallel()
	table := "datetime;Hours;FI;FRE\n01.06.2014;00 - 01;25,92;1\n01.06.2014;01 - 02;26;\n01.06.2014;02 - 03;27;2\n"
	const line = `price_file = { path = "PRICES", format = "hourly", start = "2014-06-01 00:00" }`
	for area, want := range map[string]string{"FI": "", "FRE": "np.csv:4: FRE has no price from 2014-06-01 01:00"} {
		prices := fmt.Sprintf("area = %q\nprice_file = { path = %q, format = \"nordpool\", zone = \"Europe/Oslo\" }", area, write(t, "np.csv", table))
		plan, err := experiment.Read(write(t, "plan.toml", strings.ReplaceAll(electric, line, prices)))
		if err != nil {
			t.Fatal(err)
		}
		if err = plan.Open(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", area, err, want)
		}
	}
}

// TestXSEDEJobs: those of the generator for the whole grid, and of some systems the first.
func TestXSEDEJobs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("history = 30\n[[workload]]\nmodel = \"xsede\"\njobs = 120\n")
	for _, system := range workload.XSEDESystems() {
		fmt.Fprintf(&b, "[[site]]\nname = %q\n[site.localsched]\ncpus = %d\nnodes = %d\n", strings.ToLower(system.Name), system.Cores, system.Cores)
	}
	got, err := opened(t, b.String()).Jobs(3)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := workload.XSEDE(workload.XSEDEOptions{History: 30, Jobs: 120}, 3)
	if err != nil || !reflect.DeepEqual(got, grid.Jobs) {
		t.Errorf("%v: the %d jobs are not those of the generator, %d", err, len(got), len(grid.Jobs))
	}
	some, err := opened(t, "[[workload]]\nmodel = \"xsede\"\njobs = 50\n[[site]]\nname = \"mason\"\n\n[site.localsched]\ncpus = 576\nnodes = 576\n").Jobs(3)
	if err != nil || len(some) != 50 || !uniqueIDs(some) {
		t.Errorf("%d jobs of Mason alone, %v", len(some), err)
	}
}

// TestTraceOfAGrid: sites by their names in the header, or by their numbers.
func TestTraceOfAGrid(t *testing.T) {
	t.Parallel()
	const records = `1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 2 -1 -1 1
2 1 -1 6 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1 1
3 2 -1 7 1 -1 -1 1 9 -1 1 1 1 1 1 3 -1 -1 2
4 3 -1 8 1 -1 -1 1 -1 -1 1 1 1 1 1 2 -1 -1 4
`
	sites := "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 1\n[[site]]\nname = \"b\"\n[site.localsched]\ncpus = 1\n[[workload]]\ntrace = '%s'\nsplit = %q\n"
	named := write(t, "named.swf", "; Partition: 1 B\n; Partition: 2 A\n; Partition: 3 C\n"+records)
	for _, tt := range []struct {
		split, trace string
		origins      []int
		note         string
	}{
		{"partition", named, []int{0, 1, 0}, "named.swf: 1 records left out of what is no [[site]]: C"},
		{"site", named, []int{0, 0, 1}, "named.swf: 1 records left out of what is no [[site]]: 4"},
		{"partition", write(t, "bare.swf", records), []int{1, 0, 1}, "bare.swf: 1 records left out of what is no [[site]]: 3"},
	} {
		plan := opened(t, fmt.Sprintf(sites, tt.trace, tt.split))
		jobs, err := plan.Jobs(1)
		if err != nil {
			t.Fatal(err)
		}
		var origins []int
		for _, job := range jobs {
			origins = append(origins, job.Origin)
		}
		if !slices.Equal(origins, tt.origins) || !strings.Contains(strings.Join(plan.Notes(), "\n"), tt.note) {
			t.Errorf("by %s: origins %v, notes %q", tt.split, origins, plan.Notes())
		}
		outcome := run(t, plan, experiment.Sender, 1)
		if len(outcome.Records) != 2 || outcome.Records[0].Records+outcome.Records[1].Records != 3 {
			t.Errorf("records %+v", outcome.Records)
		}
		if trace := outcome.Trace("note"); len(trace.Records) != 3 {
			t.Errorf("%d records in the schedule", len(trace.Records))
		}
	}
	alone := strings.ReplaceAll(strings.ReplaceAll(sites, `"a"`, `"x"`), "[[site]]\nname = \"b\"\n[site.localsched]\ncpus = 1\n", "")
	plan, err := experiment.Read(write(t, "plan.toml", fmt.Sprintf(alone, named, "partition")))
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err == nil || !strings.Contains(err.Error(), "its jobs are of B, A, C, which is no [[site]]") {
		t.Errorf("a trace of other sites: %v", err)
	}
}

func TestHistoryLeavesJobsToMeasure(t *testing.T) {
	t.Parallel()
	plan := set(t, electricPlan(t, `model = "xsede"`, `model = "M1"`+"\nsite = \"steele\"\nspan = \"1h\"", "jobs = 150", ""),
		experiment.Setting{Key: "history", Value: "100000"})
	if _, err := plan.Jobs(1); err == nil || !strings.Contains(err.Error(), "none beside the history of 100000") {
		t.Errorf("got %v", err)
	}
}

// TestXSEDEExample runs a small part of the example with the prices that it names.
func TestXSEDEExample(t *testing.T) {
	t.Parallel()
	const example = "../../examples/experiments/xsede.toml"
	plan, err := experiment.Read(example)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = os.Stat("../../../shared/data/prices/xsede-2014-06"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	plan.Workloads[0].Jobs = 200
	plan = set(t, plan, experiment.Setting{Key: "history", Value: "100"})
	for _, scheme := range plan.All() {
		if got := run(t, plan, scheme, 1); got.Unplaced > 0 || got.Cost <= 0 || got.Metrics.Jobs != 200 {
			t.Errorf("%s: %d jobs, %d unplaced, %+v", scheme, got.Metrics.Jobs, got.Unplaced, got.Energy)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	var got experiment.Bytes
	for text, want := range map[string]experiment.Bytes{
		"0": 0, "0B": 0, "12B": 12, "1.5kB": 1500, "10 GB": 10_000_000_000, "1TB": 1_000_000_000_000, "1tb": 1_000_000_000_000, "10PB": 10_000_000_000_000_000,
	} {
		if err := got.UnmarshalTOML(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "TB", "-1GB", "1e3GB", "11PB", "1.2.3GB", "1GB/s", "..B"} {
		if err := got.UnmarshalTOML(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func FuzzBytes(f *testing.F) {
	f.Add("1TB")
	f.Add("1.25 MB")
	f.Fuzz(func(t *testing.T, text string) {
		var read, again experiment.Bytes
		if read.UnmarshalTOML(text) != nil {
			return
		}
		if err := again.UnmarshalTOML(strings.Trim(read.TOML(), `"`)); err != nil || again != read || read < 0 {
			t.Errorf("%q is %d, prints as %s and reads back as %d, %v", text, read, read.TOML(), again, err)
		}
	})
}
