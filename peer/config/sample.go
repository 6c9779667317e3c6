package config

import (
	"cmp"
	"reflect"
	"slices"
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
	c.API.Clients, c.API.OIDC = []APIClient{{}}, &OIDC{Users: []OIDCUser{{}}}
	c.API.OIDC.SetDefaults()
	c.Plugins[0].SetDefaults()
	return c.tables(s)[0]
}

// tables returns the structs of a section: one, or one for each element of an
// array, or none for a
// table that is not there and may be absent.
func (c *Config) tables(s section) []reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(s.name, ".") {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return nil
			}
			v = v.Elem()
		}
		v, _ = settings.Field(v, name)
	}
	switch {
	case v.Kind() == reflect.Slice:
		elements := make([]reflect.Value, v.Len())
		for i := range elements {
			elements[i] = v.Index(i)
		}
		return elements
	case v.Kind() != reflect.Pointer:
		return []reflect.Value{v}
	case v.IsNil():
		return nil
	}
	return []reflect.Value{v.Elem()}
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
