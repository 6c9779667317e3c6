package experiment_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// notShared are the tables and keys of a site's configuration that an experiment does not
// have, with the reason.
func notShared() map[string]string {
	return map[string]string{
		"site":        "name, number, paths and identity of a peer; an experiment names its sites in [[site]] name, and has currency there",
		"nats":        "addresses and secrets; messages of an experiment go by [network]",
		"gossip":      "addresses and secrets; sites of an experiment know each other's load at once",
		"submit":      "variables of the environment, which jobs of traces do not have",
		"limits":      "protects the API of a live peer; jobs of an experiment are all submitted",
		"results":     "output files, which simulated jobs do not write",
		"retention":   "what a live database keeps",
		"accounts":    "accounts of an operating system",
		"association": "accounts and partitions of a batch system, which simulated sites do not have; jobs with a QOS go by qos_factors",
		"api":         "rights of the users of a live peer",
		"metrics":     "an address",
		"mail":        "to users of a live peer",
		"notify":      "programs beside a live peer",
		"tracing":     "programs beside a live peer",
		"staging":     "files, which simulated jobs do not have",
		"transfer":    "connections for output files, which simulated jobs do not write",
		"log":         "output of a live peer",
		"audit":       "who changed what at a live peer",
		"partner":     "addresses and keys; an experiment says how many partners a site has in partners, and links in [data] and [[link]]",
		"roster":      "keys and files; an experiment names its sites",
		"handoff":     "pauses of live messages; the simulator has the defaults",
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

// TestKeysOfFormerVersionsNameTheTables: a site of an experiment has one way to write each
// thing; the keys that were another one are errors with the present name.
func TestKeysOfFormerVersionsNameTheTables(t *testing.T) {
	t.Parallel()
	_, err := experiment.Read(write(t, "old.toml", "[[site]]\nname = \"a\"\nnodes = 4\ncpus_per_node = 8\nwhole_node = true\nmesh = true\ncpu_hour = 0.5\n"+
		"watts_per_cpu = 3\nzone = \"UTC\"\n[site.cpu_model]\nbus = true\n[[candidate]]\nname = \"c\"\n[candidate.site]\nmhz = 3\n"))
	at := func(line int, key, now string) problemstest.Want { return problemstest.At("old.toml", line, key, now) }
	problemstest.Check(t, err,
		at(3, "site[a].nodes", "nodes in [site.localsched]"), at(4, "site[a].cpus_per_node", "cpus in [site.localsched]"),
		at(5, "site[a].whole_node", `"whole-node"`), at(6, "site[a].mesh", "mesh in [site.localsched.bgp]"),
		at(7, "site[a].cpu_hour", "cpu_hour in [site.tariff]"), at(8, "site[a].watts_per_cpu", "watts_per_cpu in [site.power]"),
		at(9, "site[a].zone", "time_zone in [site.prices]"), at(10, "site[a].cpu_model", "[site.localsched.cpu_model]"),
		at(0, "candidate[c].site.mhz", "mhz in [site.localsched]"))
	plan := opened(t, "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 32\n[[workload]]\nsite = \"a\"\nmodel = \"M1\"\nscale = true\nspan = \"6h\"\n")
	if changed := set(t, plan, experiment.Setting{Key: "site.a.localsched.cpus", Value: "64"}); changed.CPUs(0) != 64 || plan.CPUs(0) != 32 {
		t.Errorf("%d CPUs, and %d before", changed.CPUs(0), plan.CPUs(0))
	}
}

// TestTablesOfASiteAreChecked as they are in its configuration, under their keys here.
func TestTablesOfASiteAreChecked(t *testing.T) {
	t.Parallel()
	_, err := experiment.Read(write(t, "bad.toml", "[[site]]\nname = \"a\"\nmhz = 4\n[site.localsched]\ncpus = 3\nnodes = 2\nplugin = \"slurm\"\n"+
		"[site.power]\nbudget_kw = 3\n[site.power.series]\nfeed = \"file\"\n[site.prices]\nspan = \"1d\"\narea = \"x\"\n"))
	at := func(line int, key, word string) problemstest.Want {
		return problemstest.At("bad.toml", line, key, word)
	}
	problemstest.Check(t, err,
		at(3, "site[a].mhz", "mhz in [site.localsched]"), at(7, "site[a].localsched.plugin", "slurm"),
		at(9, "site[a].power.budget_kw", "watts_per_cpu"), at(11, "site[a].power.series.feed", ""),
		at(13, "site[a].prices.span", "horizon"), at(0, "site[a].prices.feed", "missing"))
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
