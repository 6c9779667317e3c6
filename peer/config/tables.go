package config

import (
	"reflect"

	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// TableKeys describes the keys of a table, such as "cost.cpu", that experiments of the simulator have too, with the same
// meaning. The defaults are those of the struct that the argument points to; keys that it lacks are left out.
func TableKeys(table string, defaults any) (keys []settings.Key) {
	of := reflect.ValueOf(defaults).Elem()
	for _, s := range reference() {
		if s.name != table {
			continue
		}
		for _, e := range s.keys {
			if _, has := settings.Field(of, e.name); has || of.Kind() != reflect.Struct {
				keys = append(keys, settings.Key{Name: e.name, Default: e.initial(of), Required: e.required, About: e.about})
			}
		}
	}
	return keys
}

// initial is the default of a key in TOML; empty: there is none.
func (e entry) initial(table reflect.Value) string {
	if value, has := settings.Field(table, e.name); has && !value.IsZero() {
		return settings.Format(value)
	}
	return ""
}
