package config_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAssociationsAreChecked: all that is wrong with all tables is said at once, with its place.
func TestAssociationsAreChecked(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{"site.toml": reloadBase + `currency = "CHF"
[localsched]
plugin = "slurm"
[localsched.slurm]
partitions = ["batch", "long"]
[cost]
qos_factors = { low = 0.5 }
` + partner("south", south, "") + `[[association]]
account = "*"
[[association]]
origin = "east"
account = "a*b*c*d*e"
partition = "` + strings.Repeat("x", 65) + `"
as_partition = "gpu"
as_qos = "high"
[[association]]
origin = "south"
as_account = "two words"
as_partition = "batch,long"
as_qos = "low"
ignore = ["qos", "account", "user"]
[[association]]
origin = "s*"
refuse = "closed"
as_account = "phys"
ignore = ["qos"]
[[association]]
origin = "north"
accounts = "*"
`})
	_, err := config.Load(filepath.Join(dir, "site.toml"))
	at := func(line int, key string, words ...string) problemstest.Want {
		return problemstest.At("site.toml", line, key, words...)
	}
	problemstest.Check(t, err,
		at(16, "association[1].origin", "is missing", `"north" for jobs of this site`),
		at(19, "association[2].origin", `"east" is neither this site nor a [[partner]]`),
		at(20, "association[2].account", "more than 3 stars"),
		at(21, "association[2].partition", "65 bytes"),
		at(22, "association[2].as_partition", `"gpu" is not among [localsched.slurm] partitions`),
		at(23, "association[2].as_qos", `"high" is not among [cost] qos_factors (low)`),
		at(26, "association[3].as_account", `"two words" is not one name`),
		at(27, "association[3].as_partition", `"batch,long" names several partitions`),
		at(28, "association[3].as_qos", `excludes "qos" in ignore`),
		at(29, "association[3].ignore", `"user" is unknown`),
		at(33, "association[4].as_account", "no effect beside refuse"),
		at(34, "association[4].ignore", "no effect beside refuse"),
		at(37, "association[5].accounts", "unknown key"),
	)
}

// TestAssociationTables: a job gets what the tables of the file say, in their order, and QOS with a price are known.
func TestAssociationTables(t *testing.T) {
	t.Parallel()
	c := loaded(t, "currency = \"CHF\"\n[cost]\nqos_factors = { low = 0.5 }\n"+partner("south", south, "")+
		"[[association]]\norigin = \"south\"\naccount = \"chem\"\nrefuse = \"closed\"\n"+
		"[[association]]\norigin = \"s*\"\nuser = \"a*\"\naccount = \"?*\"\nas_account = \"guests\"\nas_qos = \"low\"\nignore = [\"partition\"]\n")
	table := c.AssociationTable()
	got, err := table.Map("south", "alice", protocol.Association{Account: "phys", Partition: "gpu", QOS: "high"})
	if want := (protocol.Association{Account: "guests", QOS: "low"}); err != nil || got.Association != want || got.Note != `partition "gpu" is not used at this site` {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err = table.Map("south", "alice", protocol.Association{Account: "chem"}); err == nil || !strings.Contains(err.Error(), "refused: closed") {
		t.Error(err)
	}
	if _, err = table.Map("north", "alice", protocol.Association{QOS: "low"}); err != nil {
		t.Error(err)
	}
	if _, err = table.Map("north", "alice", protocol.Association{QOS: "high"}); err == nil {
		t.Error("a QOS that the site does not have")
	}
}

// TestRefusedPartition: a refusal by name keeps no job out that names no partition, which is said, unless such jobs get
// another one.
func TestRefusedPartition(t *testing.T) {
	t.Parallel()
	const refuse = "[[association]]\norigin = \"s*\"\npartition = \"gpu*\"\nrefuse = \"for the staff\"\n"
	const slurm = "[localsched]\nplugin = \"slurm\"\n[localsched.slurm]\npartitions = "
	for name, c := range map[string]struct {
		partitions, more string
		warned           bool
	}{
		"jobs get any":             {"[\"batch\", \"gpu1\"]\n", "[[association]]\norigin = \"south\"\npartition = \"*\"\n", true},
		"jobs get another":         {"[\"batch\", \"gpu1\"]\n", "[[association]]\norigin = \"south\"\nas_partition = \"batch\"\n", false},
		"the site has it not":      {"[\"batch\"]\n", "", false},
		"such jobs are refused":    {"[\"batch\", \"gpu1\"]\n", "[[association]]\norigin = \"*\"\nrefuse = \"name one\"\n", false},
		"another is for its users": {"[\"gpu1\"]\n", "[[association]]\norigin = \"south\"\nuser = \"ada\"\nas_partition = \"gpu1\"\n", true},
	} {
		warnings := loaded(t, slurm+c.partitions+partner("south", south, "")+refuse+c.more).Warnings
		warned := strings.Contains(fmt.Sprint(warnings), `jobs of south that name no partition are put in any of [localsched.slurm] partitions, also in "gpu1"`)
		if warned != c.warned {
			t.Errorf("%s: %v", name, warnings)
		}
	}
}

// TestQOSInCapitals: case does not count in the names of QOS, so that one may not have two prices.
func TestQOSInCapitals(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{"site.toml": reloadBase + `currency = "CHF"
[cost]
qos_factors = { Low = 0.5, high = 2, low = 0.6 }
[[association]]
origin = "*"
as_qos = "HIGH"
`})
	_, err := config.Load(filepath.Join(dir, "site.toml"))
	problemstest.Check(t, err, problemstest.At("site.toml", 6, "cost.qos_factors.low", `is the same QOS as "Low"`))
}

// TestAssociationsNeedARestart: tables that need what changes with a restart only wait for that too.
func TestAssociationsNeedARestart(t *testing.T) {
	t.Parallel()
	const slurm, costs = "[localsched]\nplugin = \"slurm\"\n[localsched.slurm]\npartitions = ", "currency = \"CHF\"\n[cost]\nqos_factors = "
	for name, c := range map[string]struct{ before, after, rule string }{
		"a QOS":       {costs + "{ low = 0.5 }\n", costs + "{ low = 0.5, high = 2 }\n", "as_qos = \"high\"\n"},
		"a partition": {slurm + "[\"batch\"]\n", slurm + "[\"batch\", \"long\"]\n", "as_partition = \"long\"\n"},
	} {
		const own = "[[association]]\norigin = \"north\"\n"
		before, after := loaded(t, c.before+own+"account = \"*\"\n"), loaded(t, c.after+own+c.rule)
		if got := before.With(after).Associations; len(got) != 1 || got[0].Account != "*" {
			t.Errorf("%s: the running site has %+v", name, got)
		}
		changes := before.Changes(after)
		if len(changes) < 2 || slices.ContainsFunc(changes, func(c config.Change) bool { return c.Live }) {
			t.Errorf("%s: %+v", name, changes)
		}
		if back := after.With(before).Associations; back[0].Account != "*" {
			t.Errorf("%s: back the site has %+v", name, back)
		}
	}
}

// TestPartnersWaitForTheirAssociations: a new partner whose rules wait for a restart would be refused nothing.
func TestPartnersWaitForTheirAssociations(t *testing.T) {
	t.Parallel()
	const costs = "currency = \"CHF\"\n[cost]\nqos_factors = "
	before := loaded(t, costs+"{ low = 0.5 }\n")
	after := loaded(t, costs+"{ low = 0.5, high = 2 }\n"+partner("south", south, "")+
		"[[association]]\norigin = \"south\"\nqos = \"low\"\nrefuse = \"not here\"\n[[association]]\norigin = \"south\"\nas_qos = \"high\"\n")
	if mixed := before.With(after); len(mixed.Partners) > 0 || len(mixed.Associations) > 0 {
		t.Errorf("the running site has %+v and %+v", mixed.Partners, mixed.Associations)
	}
	if changes := before.Changes(after); slices.ContainsFunc(changes, func(c config.Change) bool { return c.Live }) {
		t.Errorf("%+v", changes)
	}
}

// TestAssociationsChange: a reload replaces all tables, since their order counts.
func TestAssociationsChange(t *testing.T) {
	t.Parallel()
	const closed, open = "[[association]]\norigin = \"south\"\nrefuse = \"closed\"\n", "[[association]]\norigin = \"south\"\naccount = \"*\"\n"
	before, after := loaded(t, partner("south", south, "")+closed), loaded(t, partner("south", south, "")+open+closed)
	changes := before.Changes(after)
	for _, change := range changes {
		if !change.Live {
			t.Errorf("%+v needs a restart", change)
		}
	}
	if !slices.ContainsFunc(changes, func(c config.Change) bool {
		return c.Key == "association[1].refuse" && c.From == `"closed"` && c.To == `""`
	}) ||
		!slices.ContainsFunc(changes, func(c config.Change) bool { return c.Key == "association[2].refuse" && c.To == `"closed"` }) {
		t.Errorf("%v", changes)
	}
	mixed := before.With(after)
	if !slices.EqualFunc(mixed.Associations, after.Associations, func(a, b association.Rule) bool {
		return a.Account == b.Account && a.Refuse == b.Refuse
	}) {
		t.Errorf("%+v", mixed.Associations)
	}
	if left := mixed.Changes(after); len(left) > 0 {
		t.Errorf("left to change: %v", left)
	}
	if len(before.Associations) != 1 || before.Associations[0].Refuse != "closed" {
		t.Errorf("the old configuration has changed: %+v", before.Associations)
	}
	if back := mixed.With(before); len(back.Associations) != 1 {
		t.Errorf("%+v", back.Associations)
	}
}
