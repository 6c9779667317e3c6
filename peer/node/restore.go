package node

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer"
)

// restore reads the rows that the machine needs.
func restore(store Store) ([]peer.Record, error) {
	var rows []peer.Record
	for _, table := range peer.Tables() {
		for row, err := range store.Load(string(table)) {
			if err != nil {
				return nil, fmt.Errorf("restore table %s: %w", table, err)
			}
			content, err := peer.DecodeRow(table, row.Value)
			if err != nil {
				return nil, fmt.Errorf("restore row %q: %w", row.Key, err)
			}
			rows = append(rows, peer.Record{Table: table, Key: row.Key, Row: content})
		}
	}
	return rows, nil
}
