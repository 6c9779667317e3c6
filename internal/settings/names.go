package settings

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
)

// Field finds the value of a key by its name in TOML: the field of a table's struct, or the
// row of a map.
func Field(table reflect.Value, name string) (field reflect.Value, ok bool) {
	if table.Kind() == reflect.Map {
		row := table.MapIndex(reflect.ValueOf(name).Convert(table.Type().Key()))
		return row, row.IsValid()
	}
	of, ok := fieldOf(table.Type(), name)
	if !ok {
		return reflect.Value{}, false
	}
	return table.FieldByIndex(of.Index), true
}

func fieldOf(table reflect.Type, name string) (field reflect.StructField, ok bool) {
	for field = range table.Fields() {
		if tag := field.Tag.Get("toml"); tag == name && tag != "" {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// Fields are the keys of a table's struct with their values, as they are declared.
func Fields(table reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for field, value := range table.Fields() {
			if tag := field.Tag.Get("toml"); tag != "" && !yield(tag, value) {
				return
			}
		}
	}
}

// namesIn lists the keys of a table, as they are declared.
func namesIn(table reflect.Type) (names []string) {
	for field := range table.Fields() {
		if tag := field.Tag.Get("toml"); tag != "" {
			names = append(names, tag)
		}
	}
	return names
}

// suggest says what an unknown key of a table may have meant.
func (r *Reader) suggest(table reflect.Type, name string) string {
	names := namesIn(table)
	near, isNear := Nearest(name, names)
	other, isElsewhere := elsewhere(r.root.Type(), name)
	switch {
	case isElsewhere && (!isNear || distance(name, near) > 2):
		return "it belongs to " + other
	case isNear:
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "allowed here: " + strings.Join(names, ", ")
}

// elsewhere finds a table at the top that has a key of this name.
func elsewhere(root reflect.Type, name string) (table string, ok bool) {
	for field := range root.Fields() {
		if field.Tag.Get("toml") == "" {
			continue
		}
		inner, header := field.Type, "["+field.Tag.Get("toml")+"]"
		if inner.Kind() == reflect.Slice {
			header = "[" + header + "]"
		}
		if inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && slices.Contains(namesIn(inner), name) {
			return header, true
		}
	}
	return "", false
}

// oneOf says what is wrong with a value that is none of the allowed ones.
func oneOf(value string, allowed []string) (wrong string) {
	if slices.Contains(allowed, value) {
		return ""
	}
	quoted := make([]string, len(allowed))
	for i, one := range allowed {
		quoted[i] = fmt.Sprintf("%q", one)
	}
	list := strings.Join(quoted, ", ")
	if near, ok := Nearest(value, allowed); ok && len(allowed) > 1 {
		return fmt.Sprintf("%q is unknown; did you mean %q? Allowed are %s", value, near, list)
	}
	if len(allowed) == 1 {
		return fmt.Sprintf("%q is unknown; use %s", value, list)
	}
	return fmt.Sprintf("%q is unknown; allowed are %s", value, list)
}

// Nearest finds the name that a misspelt one most likely means.
func Nearest(name string, names []string) (near string, ok bool) {
	least := max(1, len(name)/3) + 1
	for _, candidate := range names {
		if d := distance(strings.ToLower(name), candidate); d < least {
			near, least, ok = candidate, d, true
		}
	}
	return near, ok
}

// distance counts the letters to insert, drop or change between two words
// (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
