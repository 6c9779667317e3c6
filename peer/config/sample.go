package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/association"
)

// sampleHead begins the sample.
const sampleHead = `## The configuration of a Switchyard peer, with every key.
##
## Lines with ## explain. Lines with # show a key's default or, where there is
## none, an example; remove the # to set it. Durations are "500ms", "30s", "2h",
## "7d" or "1h30m"; sizes are "512MB" or "4GB". A relative path begins at the
## directory of this file. Several files add up: a key has the value of the last
## file that sets it. Check with: switchyard config check
`

// Sample returns a configuration in TOML with every key, its default and what it
// means. All that need not be set is commented out. [Load] reads it.
func Sample() string {
	var b strings.Builder
	b.WriteString(sampleHead)
	for _, s := range reference() {
		off := ""
		if s.optional {
			off = "# "
		}
		b.WriteString("\n" + prose(s.about) + off + s.header() + "\n")
		values := defaultsOf(s)
		for _, e := range s.keys {
			mark := "# "
			if e.required && !s.optional {
				mark = ""
			}
			b.WriteString("\n" + prose(e.about) + mark + e.name + " = " + shown(e, values) + "\n")
		}
	}
	return b.String()
}

func (s section) header() string {
	if s.array {
		return "[[" + s.name + "]]"
	}
	return "[" + s.name + "]"
}

// shown is the key's default, or the example when it has none.
func shown(e entry, table reflect.Value) string {
	return cmp.Or(e.initial(table), e.example)
}

// entries are the keys of a table: those of its section or, if users choose the names, those
// that it has.
func (s section) entries(table reflect.Value) []entry {
	if !s.rows {
		return s.keys
	}
	var rows []entry
	for _, key := range table.MapKeys() {
		row := s.keys[0]
		row.name = key.String()
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return rows
}

// defaultsOf returns the struct of a section as it is when no key is set.
func defaultsOf(s section) reflect.Value {
	c := Default()
	c.Gossip = new(Gossip)
	c.Gossip.SetDefaults()
	c.Mail = new(Mail)
	c.Mail.SetDefaults()
	c.Notify = new(Notify)
	c.Tracing = new(Tracing)
	c.LocalSched.Slurm = new(Slurm)
	c.LocalSched.Slurm.SetDefaults()
	c.LocalSched.BGP = new(BGP)
	c.LocalSched.BGP.SetDefaults()
	c.LocalSched.CPUModel = new(CPUModel)
	c.Cost.CPU, c.Cost.Eco = &CPUCost{Periods: []CostPeriod{{}}}, new(EcoCost)
	c.Cost.Eco.SetDefaults()
	c.Cost.Licenses, c.WaitingCosts = []LicenseCost{{}}, []WaitingCost{{}}
	c.Partners, c.Plugins, c.Associations = []Partner{{}}, []Plugin{{}}, []association.Rule{{}}
	c.API.Clients, c.API.OIDC = []APIClient{{}}, []OIDC{{Users: []OIDCUser{{}}}}
	c.API.OIDC[0].SetDefaults()
	c.Plugins[0].SetDefaults()
	return c.tables(s)[0].fields
}

// setTable is a table of a section.
type setTable struct {
	key     string // as places have it: "api.oidc[0].user[1]"
	label   string // as people know it: "api.oidc[hpc].user[2]"
	element string // name or number of the array's element; empty: the section is no array
	fields  reflect.Value
}

// tables returns those of a section: one, or one for each element of an
// array, or none for a table that is not there and may be absent.
func (c *Config) tables(s section) []setTable {
	tables := []setTable{{fields: reflect.ValueOf(c).Elem()}}
	for name := range strings.SplitSeq(s.name, ".") {
		var inner []setTable
		for _, t := range tables {
			t.key, t.label, t.element = settings.Join(t.key, name), settings.Join(t.label, name), ""
			t.fields, _ = settings.Field(t.fields, name)
			inner = append(inner, t.elements()...)
		}
		tables = inner
	}
	return tables
}

// elements are the tables of which this one is an array, or itself, or none if it is not there.
func (t setTable) elements() (all []setTable) {
	switch {
	case t.fields.Kind() == reflect.Pointer && t.fields.IsNil():
		return nil
	case t.fields.Kind() == reflect.Pointer:
		t.fields = t.fields.Elem()
	case t.fields.Kind() == reflect.Slice:
		for i := range t.fields.Len() {
			fields := t.fields.Index(i)
			element := strconv.Itoa(i + 1)
			if named, has := settings.Field(fields, "name"); has {
				element = named.String()
			}
			all = append(all, setTable{fmt.Sprintf("%s[%d]", t.key, i), fmt.Sprintf("%s[%s]", t.label, element), element, fields})
		}
		return all
	}
	return []setTable{t}
}

// within reports whether the tables of a section are within the elements of another, which is an array.
func (s section) within(other section) bool {
	return other.array && strings.HasPrefix(s.name, other.name+".")
}

// proseWidth is where lines of prose end.
const proseWidth = 88

// prose breaks a text into lines of comment.
func prose(text string) string {
	var b strings.Builder
	line := "##"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > proseWidth {
			b.WriteString(line + "\n")
			line = "##"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}
