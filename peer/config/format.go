package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// format prints a field's value in TOML.
func format(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case protocol.Duration:
		return quote(formatDuration(value))
	case Megabytes:
		return quote(formatMegabytes(value))
	case []string:
		quoted := make([]string, len(value))
		for i, one := range value {
			quoted[i] = quote(one)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case map[string]string:
		return formatNames(value)
	}
	if v.Kind() == reflect.String {
		return quote(v.String())
	}
	return fmt.Sprint(v.Interface()) // whole numbers
}

// formatNames prints an inline table.
func formatNames(names map[string]string) string {
	if len(names) == 0 {
		return "{}"
	}
	pairs := make([]string, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		key := name
		if name == "" || strings.Trim(name, bareLetters) != "" {
			key = quote(name)
		}
		pairs = append(pairs, key+" = "+quote(names[name]))
	}
	return "{ " + strings.Join(pairs, ", ") + " }"
}

// bareLetters are what a key in TOML may have without quotes.
const bareLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// quote prints a text as a basic string of TOML, which knows fewer escapes than
// Go.
func quote(text string) string {
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
