package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Literal is a type that is printed in a way of its own, as TOML.
type Literal interface {
	TOML() string
}

// Format prints a value as TOML in one line, as a [Reader] reads it.
func Format(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case Literal:
		return value.TOML()
	case protocol.Duration:
		return Quote(FormatDuration(value))
	}
	switch v.Kind() { //nolint:exhaustive // the rest prints as Go does
	case reflect.String:
		return Quote(v.String())
	case reflect.Float32, reflect.Float64:
		return formatFloat(v.Float())
	case reflect.Slice:
		elements := make([]string, v.Len())
		for i := range elements {
			elements[i] = Format(v.Index(i))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case reflect.Map:
		return formatRows(v)
	}
	return fmt.Sprint(v.Interface()) // whole numbers, true and false
}

func formatFloat(number float64) string {
	text := strconv.FormatFloat(number, 'g', -1, 64)
	if strings.ContainsAny(text, ".eni") { // inf and nan are TOML too
		return text
	}
	return text + ".0"
}

// formatRows prints an inline table.
func formatRows(rows reflect.Value) string {
	if rows.Len() == 0 {
		return "{}"
	}
	byName := func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }
	pairs := make([]string, 0, rows.Len())
	for _, name := range slices.SortedFunc(slices.Values(rows.MapKeys()), byName) {
		key := name.String()
		if key == "" || strings.Trim(key, bareLetters) != "" {
			key = Quote(key)
		}
		pairs = append(pairs, key+" = "+Format(rows.MapIndex(name)))
	}
	return "{ " + strings.Join(pairs, ", ") + " }"
}

// bareLetters are what a key in TOML may have without quotes.
const bareLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// Quote prints a text as a basic string of TOML, which knows fewer escapes than
// Go.
func Quote(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
