package config

import (
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Settings are the settings of a configuration, also those that have their defaults, in TOML, by their table and their key there. The
// table of an element of an array is "partner[north]".
type Settings map[string]map[string]string

// Settings are those of all tables that there are.
func (c *Config) Settings() Settings {
	all := Settings{}
	for _, s := range reference() {
		for _, value := range c.values(s) {
			if all[value.table] == nil {
				all[value.table] = map[string]string{}
			}
			all[value.table][value.name] = value.text
		}
	}
	return all
}

// Since lists how the settings differ from earlier ones, in the order of the reference: keys with other values, and tables that are new
// or gone, whose value is how many keys they have. Keys that only another version of Switchyard has are no changes.
func (c *Config) Since(earlier Settings) (changes []Change) {
	now, seen := c.Settings(), map[string]bool{}
	for _, s := range reference() {
		values := c.values(s)
		for _, key := range orderedKeys(values, nil) {
			v := values[key]
			before, had := earlier[v.table]
			from, known := before[v.name]
			switch {
			case s.rows && !known, known && from != v.text:
				changes = append(changes, Change{Key: key, From: from, To: v.text})
			case !s.rows && !had && !seen[v.table]:
				changes = append(changes, Change{Key: v.table, To: wholeTable(now[v.table])})
			}
			seen[v.table] = true
		}
		if s.rows {
			changes = append(changes, rowsWithout(s.name, earlier[s.name], now[s.name])...)
			seen[s.name] = true
		}
	}
	for _, table := range slices.Sorted(maps.Keys(earlier)) {
		if !seen[table] {
			changes = append(changes, Change{Key: table, From: wholeTable(earlier[table])})
		}
	}
	return changes
}

// rowsWithout are the rows of a table that are not there any more.
func rowsWithout(table string, earlier, now map[string]string) (changes []Change) {
	for _, name := range slices.Sorted(maps.Keys(earlier)) {
		if _, there := now[name]; !there {
			changes = append(changes, Change{Key: settings.Join(table, name), From: earlier[name]})
		}
	}
	return changes
}

func wholeTable(keys map[string]string) string { return "{ " + protocol.Count(len(keys), "key") + " }" }
