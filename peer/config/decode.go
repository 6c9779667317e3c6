package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// decoder puts the values of one file where they belong. The library's own
// decoding stops at the first value of a wrong type.
type decoder struct {
	*report
	file  string
	dir   string
	lines map[string]int
}

func (d *decoder) decode(tree map[string]any) {
	d.table(reflect.ValueOf(d.config).Elem(), tree, "")
}

// table fills in a struct.
func (d *decoder) table(dst reflect.Value, tree map[string]any, table string) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		key := join(table, name)
		d.config.origins[key] = origin{d.file, d.line(key)}
		field, ok := fieldOf(dst, name)
		if !ok {
			d.problem(key, "unknown key; %s", suggest(dst.Type(), name))
			continue
		}
		d.value(field, tree[name], key)
	}
}

// line is where the key stands, or what it belongs to.
func (d *decoder) line(key string) int {
	for ; key != ""; key = parentKey(key) {
		if line, ok := d.lines[key]; ok {
			return line
		}
	}
	return 0
}

// value fills in one field.
func (d *decoder) value(dst reflect.Value, raw any, key string) {
	var err error
	switch to := dst.Addr().Interface().(type) {
	case *protocol.Duration:
		*to, err = decodeDuration(raw)
	case *Megabytes:
		*to, err = decodeMegabytes(raw)
	case *Path:
		*to, err = d.path(raw)
	case *[]string:
		d.list(to, raw, key)
	case *map[string]string:
		d.names(to, raw, key)
	case **Gossip:
		if *to == nil {
			gossip := defaultGossip()
			*to = &gossip
		}
		d.value(dst.Elem(), raw, key)
	case *[]Partner:
		d.partners(to, raw, key)
	default:
		err = d.plain(dst, raw, key)
	}
	if err != nil {
		d.problem(key, "%v", err)
	}
}

// plain fills in a field of a kind that needs no type of its own.
func (d *decoder) plain(dst reflect.Value, raw any, key string) error {
	switch dst.Kind() { //nolint:exhaustive // the structs have no other kinds, and the tests read every key
	case reflect.Struct:
		tree, ok := raw.(map[string]any)
		if !ok {
			return mismatch(raw, fmt.Sprintf("a table, [%s]", key))
		}
		d.table(dst, tree, key)
	case reflect.String:
		text, ok := raw.(string)
		if !ok {
			return mismatch(raw, `a text in quotes`)
		}
		dst.SetString(text)
	case reflect.Int:
		number, ok := raw.(int64)
		if !ok || dst.OverflowInt(number) {
			return mismatch(raw, "a whole number, as 12")
		}
		dst.SetInt(number)
	case reflect.Uint16:
		number, ok := raw.(int64)
		if !ok {
			return mismatch(raw, "a whole number, as 12")
		}
		if number < 0 || dst.OverflowUint(uint64(number)) {
			return fmt.Errorf("%d is outside 1 to %d", number, protocol.MaxSiteNumber)
		}
		dst.SetUint(uint64(number))
	default:
		return fmt.Errorf("keys of type %s cannot be read; this is a mistake in the program", dst.Type())
	}
	return nil
}

// partners appends the tables [[partner]] of this file.
func (d *decoder) partners(to *[]Partner, raw any, key string) {
	tables, ok := tablesOf(raw)
	if !ok {
		d.problem(key, "%v", mismatch(raw, "a table for each partner, with two brackets: [[partner]]"))
		return
	}
	for _, tree := range tables {
		key := fmt.Sprintf("partner[%d]", len(*to))
		d.config.origins[key] = origin{d.file, d.line(key)}
		*to = append(*to, Partner{})
		d.table(reflect.ValueOf(&(*to)[len(*to)-1]).Elem(), tree, key)
	}
}

// tablesOf reads an array of tables, in either way of writing it.
func tablesOf(raw any) (tables []map[string]any, ok bool) {
	if tables, ok = raw.([]map[string]any); ok {
		return tables, true
	}
	list, ok := raw.([]any)
	for _, one := range list {
		tree, isTable := one.(map[string]any)
		if !isTable {
			return nil, false
		}
		tables = append(tables, tree)
	}
	return tables, ok
}

// path reads a path and makes it absolute.
func (d *decoder) path(raw any) (Path, error) {
	text, ok := raw.(string)
	switch {
	case !ok:
		return "", mismatch(raw, "a path in quotes")
	case isSeed(text) || strings.Contains(text, "-----BEGIN"):
		return "", errors.New("this is a secret itself; put it in a file with mode 0600 and write the file's path here")
	case text == "" || filepath.IsAbs(text):
		return Path(text), nil
	}
	return Path(filepath.Join(d.dir, text)), nil
}

// list reads a list of texts.
func (d *decoder) list(to *[]string, raw any, key string) {
	list, ok := raw.([]any)
	if !ok {
		d.problem(key, "%v", mismatch(raw, `a list of texts, as ["a", "b"]`))
		return
	}
	*to = make([]string, 0, len(list))
	for i, one := range list {
		text, isText := one.(string)
		if !isText {
			d.problem(fmt.Sprintf("%s[%d]", key, i), "an element %v", mismatch(one, "only texts in quotes"))
		}
		*to = append(*to, text)
	}
}

// names adds a table of names to what earlier files gave.
func (d *decoder) names(to *map[string]string, raw any, key string) {
	tree, ok := raw.(map[string]any)
	if !ok {
		d.problem(key, "%v", mismatch(raw, `a table of names, as { alice = "guest1" }`))
		return
	}
	if *to == nil {
		*to = make(map[string]string, len(tree))
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		row := join(key, name)
		d.config.origins[row] = origin{d.file, d.line(row)}
		text, isText := tree[name].(string)
		if !isText {
			d.problem(row, "%v", mismatch(tree[name], "the name of an account in quotes"))
		}
		(*to)[name] = text
	}
}

// mismatch says that a value has the wrong type. It does not show the value,
// which could be a secret.
func mismatch(raw any, want string) error {
	return fmt.Errorf("is %s; write %s", kindOf(raw), want)
}

func kindOf(raw any) string {
	switch raw.(type) {
	case string:
		return "a text"
	case int64:
		return "a number"
	case float64:
		return "a number with a point"
	case bool:
		return "true or false"
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "a list"
	}
	return "a date or time"
}
