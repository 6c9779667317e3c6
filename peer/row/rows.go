package row

import (
	"fmt"
	"maps"
	"slices"
)

// Rows are a peer's rows by table and key, for shells that keep them in memory.
type Rows map[Table]map[string]Row

// Commit puts or deletes one row.
func (r Rows) Commit(rec Record) {
	if rec.Row == nil {
		delete(r[rec.Table], rec.Key)
		return
	}
	if r[rec.Table] == nil {
		r[rec.Table] = map[string]Row{}
	}
	r[rec.Table][rec.Key] = rec.Row
}

// Records are the rows as a restarted peer gets them: through their durable form,
// tables and keys in order.
func (r Rows) Records() (out []Record, err error) {
	for _, table := range Tables() {
		for _, key := range slices.Sorted(maps.Keys(r[table])) {
			data, err := Encode(r[table][key])
			if err != nil {
				return nil, fmt.Errorf("key %q: %w", key, err)
			}
			row, err := Decode(table, data)
			if err != nil {
				return nil, fmt.Errorf("key %q: %w", key, err)
			}
			out = append(out, Record{Table: table, Key: key, Row: row})
		}
	}
	return out, nil
}
