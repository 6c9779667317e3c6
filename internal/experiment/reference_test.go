package experiment_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
)

// keysOf lists the keys of a table's struct, without tables in it.
func keysOf(table reflect.Type) (keys []string) {
	if table == reflect.TypeFor[config.ExchangeRates]() {
		return []string{"CHF"} // an example of a name that the user chooses
	}
	if table == reflect.TypeFor[map[string]config.Devices]() {
		return []string{"gpu"} // the same
	}
	if table == reflect.TypeFor[map[string]config.ShareAccount]() {
		return []string{"physics"} // the same
	}
	for field := range table.Fields() {
		tag, kind := field.Tag.Get("toml"), field.Type.Kind()
		isTables := (kind == reflect.Slice || kind == reflect.Pointer) && field.Type.Elem().Kind() == reflect.Struct
		isText := reflect.PointerTo(field.Type).Implements(reflect.TypeFor[settings.Unmarshaler]())
		isRows := field.Type == reflect.TypeFor[config.ExchangeRates]() || field.Type == reflect.TypeFor[map[string]config.Devices]() ||
			field.Type == reflect.TypeFor[map[string]config.ShareAccount]()
		if tag != "" && !isRows && (kind != reflect.Struct || isText) && !isTables {
			keys = append(keys, tag)
		}
	}
	slices.Sort(keys)
	return keys
}

func TestReferenceHasEveryKeyWithItsDefault(t *testing.T) {
	t.Parallel()
	plan := experiment.Default()
	site, work, plugin := experiment.Site{}, experiment.Workload{}, experiment.Plugin{}
	eco, app, bgp, slurm := config.EcoCost{}, experiment.Application{}, config.BGP{}, config.Slurm{}
	bgp.SetDefaults()
	slurm.SetDefaults()
	tune, candidate := experiment.Tuning{}, experiment.Candidate{}
	tune.SetDefaults()
	candidate.SetDefaults()
	eco.SetDefaults()
	app.SetDefaults()
	plugin.SetDefaults()
	site.SetDefaults()
	work.SetDefaults()
	values := map[string]any{
		"": &plan, "[[site]]": &site, "[[workload]]": &work, "[policy]": &plan.Policy, "[policy.tc]": &plan.Policy.TC,
		"[policy.mcmf]": &plan.Policy.MCMF, "[policy.iss]": &plan.Policy.ISS, "[rounds]": &plan.Rounds, "[moves]": &plan.Moves, "[localsched]": &plan.LocalSched, "[network]": &plan.Network,
		"[[link]]": &experiment.Link{}, "[[cut]]": &experiment.Cut{}, "[[crash]]": &experiment.Crash{},
		"[[plugin]]": &plugin, "[site.power]": &site.Power, "[site.price_file]": &feeds.PriceFile{}, "[[site.period]]": &feeds.Period{},
		"[fairshare]": &plan.FairShare, "[fairshare.weights]": &plan.FairShare.Weights, "[fairshare.accounts]": &map[string]config.ShareAccount{},
		"[guest_limits]": &plan.GuestLimits, "[electricity]": &plan.Electricity, "[power]": &plan.Power, "[data]": &plan.Data,
		"[[data.link]]": &experiment.DataLink{}, "[[application]]": &app,
		"[site.cost]": &config.Cost{}, "[site.cost.cpu]": &config.CPUCost{}, "[[site.cost.cpu.period]]": &config.CostPeriod{},
		"[[site.cost.license]]": &config.LicenseCost{}, "[site.cost.eco]": &eco, "[site.cost.data]": &config.DataCost{},
		"[exchange_rates]": &plan.ExchangeRates, "[[waiting_cost]]": &config.WaitingCost{}, "[default_weights]": &plan.DefaultWeights,
		"[site.localsched]": &site.LocalSched, "[site.localsched.devices]": &map[string]config.Devices{}, "[[site.node_group]]": &experiment.NodeGroup{}, "[site.localsched.bgp]": &bgp, "[site.localsched.slurm]": &slurm, "[site.localsched.cpu_model]": &config.CPUModel{},
		"[site.tariff]": &site.Tariff, "[site.latency]": &site.Latency, "[site.power.series]": &site.Power.Series, "[site.prices]": &site.Prices, "[tune]": &tune, "[tune.goal]": &tune.Goal, "[[tune.axis]]": &experiment.TuneAxis{}, "[[candidate]]": &candidate,
	}
	for _, table := range experiment.Reference() {
		var keys []string
		var defaults strings.Builder
		for _, key := range table.Keys {
			keys = append(keys, key.Name)
			if !strings.HasSuffix(key.About, ".") {
				t.Errorf("%s %s: not a sentence: %q", table.Name, key.Name, key.About)
			}
			if key.Default != "" {
				defaults.WriteString(key.Name + " = " + key.Default + "\n")
			}
		}
		slices.Sort(keys)
		holder := values[table.Name]
		if want := keysOf(reflect.TypeOf(holder).Elem()); !slices.Equal(keys, want) {
			t.Errorf("%s: the reference has\n%v\nand the struct\n%v", table.Name, keys, want)
		}
		// Reading the documented defaults into a zero struct gives the real ones.
		zero := reflect.New(reflect.TypeOf(holder).Elem())
		r := settings.NewReader(zero.Interface())
		r.Text("defaults", "", defaults.String())
		if err := r.Err(); err != nil {
			t.Errorf("%s: %v", table.Name, err)
		}
		for _, key := range keys {
			got, _ := settings.Field(zero.Elem(), key)
			want, has := settings.Field(reflect.ValueOf(holder).Elem(), key)
			if !has { // an example of a row
				continue
			}
			if got.Kind() == reflect.Slice && got.Len() == 0 && want.Len() == 0 {
				continue
			}
			if !reflect.DeepEqual(got.Interface(), want.Interface()) {
				t.Errorf("%s %s: documented as %v, is %v", table.Name, key, got, want)
			}
		}
	}
}

// TestGuideHasTheReference: docs/simulator.md contains the reference as it is.
func TestGuideHasTheReference(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../docs/simulator.md", "<!-- keys -->\n", "<!-- /keys -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(text), begin)
	middle, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no section between %q and %q", file, begin, end)
	}
	want := settings.Reference("###", experiment.Reference()) + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if middle != want {
		t.Errorf("%s is not what the program says; run go test ./internal/experiment -update", file)
	}
}
