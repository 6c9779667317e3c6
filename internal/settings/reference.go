package settings

import (
	"fmt"
	"strings"
)

// Table describes a table of a configuration, for its reference.
type Table struct {
	Name  string // as in the file: "[site]" or "[[partner]]"; empty: the keys above all tables
	About string
	Keys  []Key
}

// Key describes a key of a [Table].
type Key struct {
	Name     string
	Default  string // in TOML; empty: none
	Required bool   // there is no default and there must be a value
	Live     bool   // a reload changes it while the peer runs
	Example  string // of a value, in TOML; empty: none
	About    string // what it means; and what it is when it is not set, if that is not a value
}

// Reference prints tables in Markdown, each below a heading that begins with these marks, such as "##".
func Reference(marks string, tables []Table) string {
	var b strings.Builder
	for _, table := range tables {
		title := "Above all tables"
		if table.Name != "" {
			title = "`" + table.Name + "`"
		}
		fmt.Fprintf(&b, "\n%s %s\n\n%s\n\n| key | default | meaning |\n|---|---|---|\n", marks, title, table.About)
		for _, key := range table.Keys {
			key.print(&b)
		}
	}
	return b.String()
}

// print prints the row of a key.
func (k Key) print(b *strings.Builder) {
	mark, initial, about := "", "none", strings.ReplaceAll(k.About, "|", `\|`)
	if k.Live {
		mark = " ⟳"
	}
	switch {
	case k.Default != "":
		initial = "`" + k.Default + "`"
	case k.Required:
		initial = "**required**"
	}
	if k.Example != "" {
		about += " For example `" + k.Name + " = " + k.Example + "`."
	}
	fmt.Fprintf(b, "| `%s`%s | %s | %s |\n", k.Name, mark, initial, about)
}
