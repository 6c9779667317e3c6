package experiment_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// notShared are the tables and keys of a site's configuration that an experiment does not
// have, with the reason.
func notShared() map[string]string {
	return map[string]string{
		"site":      "name, number, paths and identity of a peer; an experiment names its sites in [[site]] name, and has currency there",
		"nats":      "addresses and secrets; messages of an experiment go by [network]",
		"gossip":    "addresses and secrets; sites of an experiment know each other's load at once",
		"submit":    "variables of the environment, which jobs of traces do not have",
		"limits":    "protects the API of a live peer; jobs of an experiment are all submitted",
		"results":   "output files, which simulated jobs do not write",
		"retention": "what a live database keeps",
		"accounts":  "accounts of an operating system",
		"api":       "rights of the users of a live peer",
		"metrics":   "an address",
		"log":       "output of a live peer",
		"partner":   "addresses and keys; an experiment says how many partners a site has in partners, and links in [data] and [[link]]",
		"handoff":   "pauses of live messages; the simulator has the defaults",
	}
}

// TestASiteAndAnExperimentShareEveryKey: each key of a site's configuration is one of an
// experiment, above its sites or below [[site]], of the same type.
func TestASiteAndAnExperimentShareEveryKey(t *testing.T) {
	t.Parallel()
	grid, site := leaves(reflect.TypeFor[experiment.Plan](), ""), leaves(reflect.TypeFor[experiment.Site](), "")
	used := map[string]bool{}
	peer := leaves(reflect.TypeFor[config.Config](), "")
	for _, key := range slices.Sorted(maps.Keys(peer)) {
		if grid[key] == peer[key] || site[key] == peer[key] {
			continue
		}
		table, _, _ := strings.Cut(key, ".")
		excused := ""
		for _, name := range []string{key, table} {
			if _, has := notShared()[name]; has && excused == "" {
				excused = name
			}
		}
		if used[excused] = true; excused == "" {
			t.Errorf("%s is a key of a site's configuration and none of an experiment", key)
		}
	}
	for name := range notShared() {
		if !used[name] {
			t.Errorf("%s is excused and needs no excuse", name)
		}
	}
}

// TestTablesOfASiteSayWhatShortKeysSay: an experiment whose sites have the tables of their
// configurations places jobs as one with the short keys.
func TestTablesOfASiteSayWhatShortKeysSay(t *testing.T) {
	t.Parallel()
	const more = "[[workload]]\nsite = \"a\"\nmodel = \"M1\"\nscale = true\nspan = \"6h\"\n"
	short := opened(t, "currency = \"EUR\"\n[[site]]\nname = \"a\"\nnodes = 4\ncpus_per_node = 8\nmhz = 500\nmemory = \"4GB\"\npolicy = \"sjf\"\n"+
		"max_wall_time = \"2d\"\nwhole_node = true\ncpu_hour = 0.5\n"+more)
	tables := opened(t, "currency = \"EUR\"\n[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 32\nnodes = 4\nmhz = 500\nmemory = \"4GB\"\n"+
		"policy = \"sjf\"\nmax_wall_time = \"2d\"\nmachine = \"whole-node\"\nkill_grace = \"30s\"\n[site.tariff]\ncpu_hour = 0.5\ncurrency = \"EUR\"\n"+more)
	got, want := run(t, tables, experiment.Sender, 1), run(t, short, experiment.Sender, 1)
	if len(want.Result.Placements) == 0 || !reflect.DeepEqual(got.Result.Placements, want.Result.Placements) {
		t.Error("the jobs are placed in other ways")
	}
	if changed := set(t, tables, experiment.Setting{Key: "site.a.localsched.cpus", Value: "64"}); changed.CPUs(0) != 64 || tables.CPUs(0) != 32 {
		t.Errorf("%d CPUs, and %d before", changed.CPUs(0), tables.CPUs(0))
	}
}

// TestTablesOfASiteAreChecked as they are in its configuration, under their keys here.
func TestTablesOfASiteAreChecked(t *testing.T) {
	t.Parallel()
	_, err := experiment.Read(write(t, "bad.toml", "[[site]]\nname = \"a\"\nmhz = 4\n[site.localsched]\ncpus = 3\nnodes = 2\nplugin = \"slurm\"\n"+
		"[site.power]\nbudget_kw = 3\n[site.power.series]\nfeed = \"file\"\n[site.prices]\nspan = \"1d\"\narea = \"x\"\n"))
	for _, want := range []string{
		"bad.toml:3: site[a].mhz: stands beside a table [site.localsched]", "bad.toml:7: site[a].localsched.plugin: \"slurm\" is not simulated",
		"bad.toml:9: site[a].power.budget_kw: needs watts_per_cpu", "bad.toml:11: site[a].power.series.feed: ",
		"bad.toml:13: site[a].prices.span: is now horizon", "site[a].prices.feed: is missing",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in\n%v", want, err)
		}
	}
}

// leaves are the keys of a struct and of its tables, dotted, with their types.
func leaves(of reflect.Type, table string) map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for field := range of.Fields() {
		name := field.Tag.Get("toml")
		if name == "" {
			continue
		}
		inner := field.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		key := settings.Join(table, name)
		if inner.Kind() == reflect.Struct && !reflect.PointerTo(inner).Implements(reflect.TypeFor[settings.Unmarshaler]()) {
			maps.Copy(keys, leaves(inner, key))
			continue
		}
		keys[key] = field.Type
	}
	return keys
}
