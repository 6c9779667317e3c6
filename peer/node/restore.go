package node

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/row"
)

// restoring reads the rows that the machine needs.
type restoring struct {
	store   Store
	moves   moves
	mails   mails
	notices notices
	changes changes
	traces  traces
	count   int
	keep    bool // the rows, for a recording
	kept    []row.Record
}

// rows are read one by one, since those of many jobs are large.
func (r *restoring) rows(yield func(row.Record, error) bool) {
	for _, table := range row.Tables() {
		for stored, err := range r.store.Load(string(table)) {
			rec := row.Record{Table: table, Key: stored.Key}
			if err != nil {
				err = fmt.Errorf("restore table %s: %w", table, err)
			} else if rec.Row, err = row.Decode(table, stored.Value); err != nil {
				err = fmt.Errorf("restore row %q: %w", stored.Key, err)
			}
			if err == nil {
				r.count++
				r.moves.take(rec)
				r.mails.restore(rec)
				r.notices.restore(rec)
				r.changes.restore(rec)
				r.traces.restore(rec)
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
