package settings

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Unmarshaler is a type that is read in a way of its own. The raw value is a
// string, int64, float64, bool, time.Time, []any or map[string]any. The error says
// what is wrong with it, as [Mismatch] does.
type Unmarshaler interface {
	UnmarshalTOML(raw any) error
}

// Defaulter is a table that does not begin empty, behind a pointer, in an array
// or in a map. SetDefaults is called before its keys are read.
type Defaulter interface {
	SetDefaults()
}

// Path is the path of a file. Reading makes it absolute, and refuses a text that
// is a secret itself.
type Path string

// decoder puts the values of one file where they belong. The library's own
// decoding stops at the first value of a wrong type.
type decoder struct {
	*Reader
	file  string
	dir   string
	lines map[string]int
}

// table fills in a struct.
func (d *decoder) table(dst reflect.Value, tree map[string]any, table string) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		key := Join(table, name)
		d.note(key)
		field, ok := Field(dst, name)
		if !ok {
			d.unknown(dst.Type(), key, name, tree[name])
			continue
		}
		if err := within(dst.Type(), name, tree[name]); err != nil {
			d.Problem(key, "%v", err)
			continue
		}
		d.value(field, tree[name], key)
	}
}

// unknown reports a key that its table does not have: under its new name if it had an
// earlier one. Of a table that was renamed its renamed keys are reported, too.
func (d *decoder) unknown(table reflect.Type, key, name string, raw any) {
	was := withoutIndices(key)
	now, isOld := d.renamed(was)
	if isOld {
		d.Problem(key, "%s", now.Text())
	}
	inner, _ := raw.(map[string]any)
	hasNew := func(name string) bool { _, ok := d.renamed(Join(was, name)); return ok }
	names := slices.Sorted(maps.Keys(inner))
	ofOld := slices.ContainsFunc(names, hasNew)
	for _, name := range names {
		if hasNew(name) || ofOld && !isOld {
			at := Join(key, name)
			d.note(at)
			d.unknown(table, at, name, inner[name])
		}
	}
	if !isOld && !ofOld {
		d.Problem(key, "unknown key; %s", d.suggest(table, name))
	}
}

// withoutIndices is the key of all elements of its arrays: "site.nodes" of "site[2].nodes".
func withoutIndices(key string) string {
	var b strings.Builder
	for key != "" {
		name, _, rest := step(key)
		if b.Len() > 0 && name != "" {
			b.WriteByte('.')
		}
		b.WriteString(name)
		key = rest
	}
	return b.String()
}

// note remembers where a key was set.
func (d *decoder) note(key string) { d.places[key] = problems.Place{File: d.file, Line: d.line(key)} }

// line is where the key stands, or what it belongs to.
func (d *decoder) line(key string) int {
	for ; key != ""; key = parentKey(key) {
		if line, ok := d.lines[key]; ok {
			return line
		}
	}
	return 0
}

// value fills in one value.
func (d *decoder) value(dst reflect.Value, raw any, key string) {
	var err error
	switch to := dst.Addr().Interface().(type) {
	case Unmarshaler:
		err = to.UnmarshalTOML(raw)
	case *protocol.Duration:
		*to, err = decodeDuration(raw)
	case *Path:
		*to, err = d.path(raw)
	default:
		err = d.byKind(dst, raw, key)
	}
	if err != nil {
		d.Problem(key, "%v", err)
	}
}

// byKind fills in a value that needs no type of its own. Mistakes within tables
// and lists are noted there.
func (d *decoder) byKind(dst reflect.Value, raw any, key string) error {
	switch dst.Kind() { //nolint:exhaustive // the rest is a mistake in the program
	case reflect.Pointer:
		if dst.IsNil() {
			dst.Set(fresh(dst.Type().Elem()))
		}
		d.value(dst.Elem(), raw, key)
		return nil
	case reflect.Struct:
		tree, ok := raw.(map[string]any)
		if !ok {
			return Mismatch(raw, fmt.Sprintf("a table, [%s]", key))
		}
		d.table(dst, tree, key)
		return nil
	case reflect.Slice:
		if tableType(dst.Type().Elem()) {
			return d.tables(dst, raw, key)
		}
		return d.list(dst, raw, key)
	case reflect.Map:
		return d.rows(dst, raw, key)
	}
	return plain(dst, raw)
}

// fresh is a pointer to a value with its defaults.
func fresh(of reflect.Type) reflect.Value {
	v := reflect.New(of)
	if d, ok := reflect.TypeAssert[Defaulter](v); ok {
		d.SetDefaults()
	}
	return v
}

// tableType says whether a type is read from a table.
func tableType(of reflect.Type) bool {
	return of.Kind() == reflect.Struct && !reflect.PointerTo(of).Implements(reflect.TypeFor[Unmarshaler]())
}

// tables appends the elements of an array of tables.
func (d *decoder) tables(dst reflect.Value, raw any, key string) error {
	tables, ok := tablesOf(raw)
	if !ok {
		return Mismatch(raw, fmt.Sprintf("a table for each %s, with two brackets: [[%s]]", lastName(key), key))
	}
	for _, tree := range tables {
		at := dst.Len()
		row := fmt.Sprintf("%s[%d]", key, at)
		d.note(row)
		dst.Set(reflect.Append(dst, fresh(dst.Type().Elem()).Elem()))
		d.table(dst.Index(at), tree, row)
	}
	return nil
}

func lastName(key string) string { return key[strings.LastIndex(key, ".")+1:] }

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

// list replaces a list.
func (d *decoder) list(dst reflect.Value, raw any, key string) error {
	list, ok := raw.([]any)
	if !ok {
		return Mismatch(raw, "a list of "+several(dst.Type().Elem()))
	}
	made := reflect.MakeSlice(dst.Type(), len(list), len(list))
	for i, one := range list {
		d.value(made.Index(i), one, fmt.Sprintf("%s[%d]", key, i))
	}
	dst.Set(made)
	return nil
}

// several names what a list holds, with an example.
func several(of reflect.Type) string {
	switch {
	case of == reflect.TypeFor[protocol.Duration]():
		return `durations, as ["30s", "2h"]`
	case of.Kind() == reflect.String:
		return `texts, as ["a", "b"]`
	case of.Kind() == reflect.Float64:
		return "numbers, as [0.5, 2]"
	case of.Kind() == reflect.Bool:
		return "true and false, as [true, false]"
	}
	return "whole numbers, as [1, 2]"
}

// rows adds the rows of a map to what earlier files gave.
func (d *decoder) rows(dst reflect.Value, raw any, key string) error {
	tree, ok := raw.(map[string]any)
	if !ok {
		return Mismatch(raw, fmt.Sprintf("a table, [%s]", key))
	}
	if dst.IsNil() {
		dst.Set(reflect.MakeMapWithSize(dst.Type(), len(tree)))
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		row := Join(key, name)
		d.note(row)
		at := reflect.ValueOf(name).Convert(dst.Type().Key())
		value := fresh(dst.Type().Elem()).Elem()
		if earlier := dst.MapIndex(at); earlier.IsValid() {
			value.Set(earlier)
		}
		d.value(value, tree[name], row)
		dst.SetMapIndex(at, value)
	}
	return nil
}

// path reads a path and makes it absolute.
func (d *decoder) path(raw any) (Path, error) {
	text, ok := raw.(string)
	switch {
	case !ok:
		return "", Mismatch(raw, "a path in quotes")
	case Secret(text):
		return "", errors.New("this is a secret itself; put it in a file with mode 0600 and write the file's path here")
	case text == "" || filepath.IsAbs(text):
		return Path(text), nil
	}
	return Path(filepath.Join(d.dir, text)), nil
}

// Secret says whether the text looks like a key of its own: the seed of an nkey,
// or something in PEM.
func Secret(text string) bool {
	seed := len(text) == 58 && text[0] == 'S' && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
	return seed || strings.Contains(text, "-----BEGIN")
}
