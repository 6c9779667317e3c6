package settings

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// Places are where the keys were set that are set. A key here is dotted, and an
// element of a list has its number: "partner[0].url". The empty key stands for
// the first file.
type Places map[string]problems.Place

// Find returns the place of the key, or of the table or list that it belongs to.
func (p Places) Find(key string) problems.Place {
	for ; key != ""; key = parentKey(key) {
		if at, ok := p[key]; ok {
			return at
		}
	}
	return p[""]
}

// Join is the dotted key of a name in a table; the empty table is the top.
func Join(table, name string) string {
	if table == "" || name == "" {
		return table + name
	}
	return table + "." + name
}

// parentKey cuts the last name or number off: "a.b" and "a[0]" give "a".
func parentKey(key string) string {
	return key[:max(0, strings.LastIndexAny(key, ".["))]
}
