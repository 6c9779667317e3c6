package node

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer"
)

// restoring reads the rows that the machine needs.
type restoring struct {
	store Store
	moves moves
	count int
	keep  bool // the rows, for a recording
	kept  []peer.Record
}

// rows are read one by one, since those of many jobs are large.
func (r *restoring) rows(yield func(peer.Record, error) bool) {
	for _, table := range peer.Tables() {
		for row, err := range r.store.Load(string(table)) {
			rec := peer.Record{Table: table, Key: row.Key}
			if err != nil {
				err = fmt.Errorf("restore table %s: %w", table, err)
			} else if rec.Row, err = peer.DecodeRow(table, row.Value); err != nil {
				err = fmt.Errorf("restore row %q: %w", row.Key, err)
			}
			if err == nil {
				r.count++
				r.moves.take(rec)
				if r.keep {
					r.kept = append(r.kept, rec)
				}
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}
