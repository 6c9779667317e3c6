package config

// TableKey is a key of a table that experiments of the simulator have, too, with the same
// meaning.
type TableKey struct {
	Name  string
	About string

	Required bool
}

// TableKeys describes the keys of a table, as "cost.cpu". There are none of a table that
// does not exist.
func TableKeys(table string) (keys []TableKey) {
	for _, s := range reference() {
		if s.name != table {
			continue
		}
		for _, e := range s.keys {
			keys = append(keys, TableKey{Name: e.name, About: e.about, Required: e.required})
		}
	}
	return keys
}
