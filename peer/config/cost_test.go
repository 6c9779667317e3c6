package config_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/accounts"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// brokered is a site that sets all that applications are chosen by.
const brokered = `
[site]
name = "north"
number = 1
currency = "CHF"

[prices]
time_zone = "Europe/Zurich"

[power]
watts_per_cpu = 100

[localsched]
mhz = 2000

[localsched.licenses]
solver = 4

[localsched.cpu_model]
peak_gflops = 4.8
memory_bandwidth = "6400MB/s"
network_bandwidth = "100Mbit/s"
latency_us = 60.25
bus = true

[cost]
holidays = ["2026-08-01..2026-08-02", "12-25"]
[cost.qos_factors]
urgent = 1.5

[cost.cpu]
price = 0.04
guest_price = 0.08
[[cost.cpu.period]]
name = "night"
days = "mon-fri"
hours = "20:00-08:00"
price = 0.02
[[cost.cpu.period]]
name = "weekend"
days = "sat-sun, holiday"
price = 0.01
guest_price = 0.0

[[cost.license]]
name = "solver"
per_hour = 2.0

[cost.eco]
cooling = 1.5
price = 200.0
frequencies = [2000, 800]

[cost.data]
per_gb_in = 0.5

[[waiting_cost]]
name = "both"
kind = "sum"
parts = ["launch", "salary"]
[[waiting_cost]]
name = "salary"
kind = "salary"
rate = 60.0
holidays = ["2026-03-05"]
[[waiting_cost]]
name = "launch"
kind = "steps"
rate = 1.0
steps = { "2026-03-04 10:00" = 100.0, "2026-06-01" = 1000.0, "9000d" = 0.0 }

[default_weights]
objective = "cheapest"
wait_weight = 0.25
waiting_cost = "both"

[[partner]]
name = "south"
public_key = "UB3AOV7WTGXIUCE46224XH5OQQN3QCFCZVLDIPKZHTRYU3HWK27LJZZQ"
url = "nats://south.example.org:7501"
per_gb = 0.01
per_hour = 0.5
`

// common is a file that all sites of a grid have.
const common = "[exchange_rates]\nCHF = 1.0\nEUR = 0.94\n"

// reported is what the state machine of the site is told.
func reported(t *testing.T) rules.Config {
	t.Helper()
	dir := t.TempDir()
	site, grid := filepath.Join(dir, "site.toml"), filepath.Join(dir, "exchange.toml")
	writeFile(t, site, brokered)
	writeFile(t, grid, common)
	c, err := config.Load(grid, site)
	if err != nil {
		t.Fatal(err)
	}
	return c.Peer(config.Parts{Accounts: accounts.New(accounts.Tables{}), Policy: policy.Describe(c.BuiltIn("tc"))})
}

func TestMachineAndWeighing(t *testing.T) {
	t.Parallel()
	got := reported(t)
	machine := protocol.Machine{Flops: 4_800_000_000, Words: 800_000_000, Network: 1_562_500, Latency: 60_250, Bus: true}
	if got.Capacity.Machine != machine {
		t.Errorf("the machine is %+v", got.Capacity.Machine)
	}
	if want := (rules.DefaultWeights{Alpha: 1_000_000, Beta: 250_000, Gamma: 1_000_000, Delta: 1_000_000, WaitingCost: "both"}); got.DefaultWeights != want {
		t.Errorf("the weights are %+v", got.DefaultWeights)
	}
	if want := map[string]protocol.Micro{"CHF": 1_000_000, "EUR": 940_000}; got.Currency != "CHF" || !reflect.DeepEqual(got.Exchange, want) {
		t.Errorf("money is in %s, exchanged by %v", got.Currency, got.Exchange)
	}
	if p := got.Partners[0]; p.PerGB != 10_000 || p.PerHour != 500_000 {
		t.Errorf("the link costs %+v", p)
	}
}

func TestWhatASiteCharges(t *testing.T) {
	t.Parallel()
	costs := reported(t).Costs
	zurich, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day, hour int) protocol.Instant {
		return protocol.InstantOf(time.Date(2026, month, day, hour, 0, 0, 0, zurich))
	}
	spec := protocol.Spec{Request: protocol.Request{CPUs: 100, WallTime: protocol.Day}}
	rush := spec
	rush.QOS, rush.Resources, rush.Data = "urgent", []protocol.Resource{protocol.NewLicense("solver", 1)}, 2_000_000_000
	slow := spec
	slow.PredictedRunTime, slow.Intensity, slow.Computing = protocol.Hour, 440_000, protocol.PPM
	eco := protocol.Term{Name: cost.EcoTerm, Amount: 3_000_000} // 10 kW for an hour, cooled
	for name, c := range map[string]struct {
		work cost.Work
		want []protocol.Term
	}{
		"by day":              {cost.Work{Spec: &spec, Start: at(3, 4, 12)}, []protocol.Term{{Name: "cpu", Amount: 4_000_000}, eco}},
		"at night":            {cost.Work{Spec: &spec, Start: at(3, 4, 20)}, []protocol.Term{{Name: "cpu", Amount: 2_000_000}, eco}},
		"on a holiday":        {cost.Work{Spec: &spec, Start: at(12, 25, 12)}, []protocol.Term{{Name: "cpu", Amount: 1_000_000}, eco}},
		"a guest's":           {cost.Work{Spec: &spec, Start: at(3, 4, 12), Guest: true}, []protocol.Term{{Name: "cpu", Amount: 8_000_000}, eco, {Name: "data"}}},
		"a guest's at night":  {cost.Work{Spec: &spec, Start: at(3, 4, 20), Guest: true}, []protocol.Term{{Name: "cpu", Amount: 2_000_000}, eco, {Name: "data"}}},
		"a guest's on Sunday": {cost.Work{Spec: &spec, Start: at(3, 8, 12), Guest: true}, []protocol.Term{{Name: "cpu"}, eco, {Name: "data"}}},
		"in a hurry": {
			cost.Work{Spec: &rush, Start: at(3, 4, 12), Guest: true},
			[]protocol.Term{{Name: "cpu", Amount: 12_000_000}, {Name: "license", Amount: 2_000_000}, eco, {Name: "data", Amount: 1_000_000}},
		},
		"bound by memory": {cost.Work{Spec: &slow, Start: at(3, 4, 12)}, []protocol.Term{{Name: "cpu", Amount: 4_400_000}, {Name: "eco", Amount: 528_000}}},
	} {
		c.work.Run, c.work.Power = protocol.Hour, 10_000_000
		got, reason := costs.Bill(c.work)
		if reason != "" || got.Currency != "CHF" || !slices.Equal(got.Terms, c.want) {
			t.Errorf("%s: got %+v, %q; want %v", name, got, reason, c.want)
		}
	}
}

func TestWhatWaitingCosts(t *testing.T) {
	t.Parallel()
	curves := reported(t).WaitingCosts
	if len(curves) != 3 {
		t.Fatalf("%d curves", len(curves))
	}
	now := protocol.InstantOf(time.Date(2026, 3, 4, 8, 0, 0, 0, time.UTC)) // nine o'clock there
	for name, want := range map[string]protocol.Micro{
		"salary": 7 * 60_000_000, "launch": (1 + 23*100) * 1_000_000, "both": (7*60 + 1 + 23*100) * 1_000_000,
	} {
		rates, currency := curves[name].Rates(now, now, protocol.Day) // the next day is a vacation
		a := policy.Application{WaitingCost: rates}
		if got := a.WaitCost(protocol.Day); got != want || currency != "CHF" {
			t.Errorf("%s: %d %s, want %d", name, got, currency, want)
		}
	}
}

// A site that charges nothing, or by [tariff], says so to the core.
func TestWithoutCosts(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "site.toml")
	writeFile(t, file, "[site]\nname = \"north\"\nnumber = 1\n[tariff]\ncpu_hour = 0.04\ncurrency = \"EUR\"\n")
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Peer(config.Parts{Policy: policy.Describe(c.BuiltIn("tc"))})
	if got.Costs != nil || got.Currency != "EUR" || len(got.WaitingCosts) > 0 || got.Capacity.Machine.Stated() {
		t.Errorf("%v, %q, %v, %+v", got.Costs, got.Currency, got.WaitingCosts, got.Capacity.Machine)
	}
	if want := (rules.DefaultWeights{Alpha: 1_000_000, Beta: 1_000_000, Gamma: 1_000_000, Delta: 1_000_000}); got.DefaultWeights != want {
		t.Errorf("the weights are %+v", got.DefaultWeights)
	}
}

// The tables mean the same in other files than a peer's.
func TestTablesElsewhere(t *testing.T) {
	t.Parallel()
	var plan struct {
		Sites []struct {
			Name string      `toml:"name"`
			Cost config.Cost `toml:"cost"`
		} `toml:"site"`
	}
	r := settings.NewReader(&plan)
	r.Text("plan.toml", ".", `[[site]]
name = "alp"
[site.cost.cpu]
price = 2.0
[[site]]
name = "lake"
[site.cost]
qos_factors = { "a b" = 1.0 }
[site.cost.cpu]
price = -1.0
`)
	tables := config.Charging{Reader: r, Currency: "CHF", Zone: time.UTC}
	costs := tables.Costs("site[0].cost", &plan.Sites[0].Cost)
	got, reason := costs.Bill(cost.Work{Spec: &protocol.Spec{Request: protocol.Request{CPUs: 3}}, Run: protocol.Hour, Guest: true})
	if want := []protocol.Term{{Name: cost.CPUTerm, Amount: 6_000_000}}; reason != "" || !slices.Equal(got.Terms, want) {
		t.Errorf("got %+v, %q", got, reason)
	}
	tables.Costs("site[1].cost", &plan.Sites[1].Cost)
	want := `plan.toml:8: site[lake].cost.qos_factors.a b: invalid class name "a b"; use 1 to 32 letters, digits, '-', '_' and '.'
plan.toml:10: site[lake].cost.cpu.price: is negative; a price is 0 or more`
	if err := r.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
