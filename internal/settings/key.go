package settings

import (
	"reflect"
	"strconv"
	"strings"
)

// step cuts the first name or number off a dotted key.
func step(key string) (name string, index int, rest string) {
	if inside, ok := strings.CutPrefix(key, "["); ok {
		number, after, _ := strings.Cut(inside, "]")
		index, err := strconv.Atoi(number)
		if err != nil {
			index = -1
		}
		return "", index, strings.TrimPrefix(after, ".")
	}
	end := strings.IndexAny(key, ".[")
	if end < 0 {
		return key, -1, ""
	}
	return key[:end], -1, strings.TrimPrefix(key[end:], ".")
}

// length is how many elements the array of tables has so far.
func (r *Reader) length(key string) int {
	at := r.root
	for key != "" {
		name, index, rest := step(key)
		at = indirect(at)
		switch {
		case name != "" && at.Kind() == reflect.Struct:
			field, ok := Field(at, name)
			if !ok {
				return 0
			}
			at = field
		case name == "" && at.Kind() == reflect.Slice && index >= 0 && index < at.Len():
			at = at.Index(index)
		default:
			return 0
		}
		key = rest
	}
	if at = indirect(at); at.Kind() != reflect.Slice {
		return 0
	}
	return at.Len()
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// label is a key as people know it: an element of an array of tables has its
// name, if it has a good one, or counts from 1; that of a plain list is left out.
func (r *Reader) label(key string) string {
	var b strings.Builder
	at := r.root
	for key != "" {
		name, index, rest := step(key)
		at = indirect(at)
		dot := ""
		if b.Len() > 0 && name != "" {
			dot = "."
		}
		field, isKnown := known(at, name)
		switch {
		case isKnown:
			b.WriteString(dot + name)
			at = field
		case name == "" && at.Kind() == reflect.Slice && index >= 0 && index < at.Len():
			at = indirect(at.Index(index))
			if at.Kind() != reflect.Struct {
				return b.String()
			}
			b.WriteString("[" + nameOf(at, index) + "]")
		case name == "" && at.Kind() != reflect.Struct && at.Kind() != reflect.Map:
			return b.String()
		default: // a row of a map, or an unknown key
			return b.String() + dot + key
		}
		key = rest
	}
	return b.String()
}

// known finds the field of a name, if v is a table that has one.
func known(v reflect.Value, name string) (field reflect.Value, ok bool) {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	return Field(v, name)
}

// nameOf is the value of a table's key name, if it is a good one, or else its
// number, from 1.
func nameOf(table reflect.Value, index int) string {
	number := strconv.Itoa(index + 1)
	name, ok := Field(table, "name")
	if !ok || name.Kind() != reflect.String || name.String() == "" {
		return number
	}
	if checked, ok := reflect.TypeAssert[interface{ Validate() error }](name); ok && checked.Validate() != nil {
		return number
	}
	return name.String()
}
