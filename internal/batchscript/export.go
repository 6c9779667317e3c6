package batchscript

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// environment chooses what --export hands over, as NAME=value, sorted by name.
func environment(export string, surrounding []string) ([]string, error) {
	items, err := exportItems(export)
	if err != nil {
		return nil, err
	}
	if len(items) == 1 && none(items[0]) {
		return nil, nil
	}
	all, chosen := variables(surrounding), map[string]string{}
	if slices.Contains(items, "ALL") {
		maps.Copy(chosen, all)
	}
	for _, item := range items {
		name, value, given := strings.Cut(item, "=")
		switch {
		case given && name == "":
			return nil, fmt.Errorf("%q has no name before the equals sign", item)
		case given:
			chosen[name] = value
		case none(name):
			return nil, fmt.Errorf("%s stands alone", name)
		default:
			if value, known := all[name]; known {
				chosen[name] = value
			}
		}
	}
	env := make([]string, 0, len(chosen))
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		env = append(env, name+"="+chosen[name])
	}
	return env, nil
}

func none(item string) bool { return item == "NONE" || item == "NIL" }

// exportItems splits the list at its commas, but for those within quotes.
func exportItems(export string) (items []string, err error) {
	if export == "" {
		return []string{"ALL"}, nil
	}
	if strings.IndexByte(export, 0) >= 0 {
		return nil, errors.New("the list has a NUL byte")
	}
	var item strings.Builder
	var quote rune
	for _, c := range export {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == ',':
			items = append(items, item.String())
			item.Reset()
		default:
			item.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	items = append(items, item.String())
	return slices.DeleteFunc(items, func(s string) bool { return s == "" }), nil
}

func variables(surrounding []string) map[string]string {
	vars := make(map[string]string, len(surrounding))
	for _, pair := range surrounding {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			vars[name] = value
		}
	}
	return vars
}
