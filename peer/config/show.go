package config

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// Sets reports whether a file of the configuration sets a key, such as "localsched.plugin"; otherwise it has its default.
func (c *Config) Sets(key string) bool {
	_, set := c.places[key]
	return set
}

// Show prints the configuration as TOML that [Load] reads again, with a comment
// that tells where each value comes from. Effective: also the values that no file
// sets.
func (c *Config) Show(w io.Writer, effective bool) error {
	out := bufio.NewWriter(w)
	separator := ""
	show := func(s section, table setTable) {
		lines := c.showKeys(s, table.fields, table.key, effective)
		if _, set := c.places[table.key]; len(lines) == 0 && !set {
			return
		}
		_, _ = fmt.Fprintf(out, "%s%s\n%s", separator, s.header(), strings.Join(lines, ""))
		separator = "\n"
	}
	sections := reference()
	for _, s := range sections {
		if slices.ContainsFunc(sections, s.within) {
			continue // follows each table that it is within
		}
		for _, table := range c.tables(s) {
			show(s, table)
			for _, inner := range sections {
				for _, one := range c.tables(inner) {
					if inner.within(s) && strings.HasPrefix(one.key, table.key+".") {
						show(inner, one)
					}
				}
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	return nil
}

// showKeys prints the keys of one table.
func (c *Config) showKeys(s section, table reflect.Value, key string, effective bool) (lines []string) {
	for _, e := range s.entries(table) {
		value, _ := settings.Field(table, e.name)
		from, name := "default", settings.Join(key, e.name)
		if at, set := c.places[name]; set {
			from = at.String()
		} else if !effective || value.IsZero() || c.useless(name) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s = %s # %s\n", e.name, settings.Format(value), from))
	}
	return lines
}

// SetTables are those of the tables that a file says something of.
func (c *Config) SetTables(of ...string) (set []string) {
	for _, name := range of {
		if _, isSet := c.places[name]; isSet {
			set = append(set, name)
		}
	}
	return set
}

// useless says whether a key must not be set here, as it is the batch system's own business.
func (c *Config) useless(key string) bool {
	return c.LocalSched.Plugin != Process && slices.Contains(machineKeys(), key)
}
