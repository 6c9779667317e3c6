package node

import (
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// moves follows the states of this origin's jobs for the meter.
type moves struct {
	meter  Meter
	states map[string]protocol.State
}

// take looks at changed rows.
func (m *moves) take(rows []peer.Record) {
	if m.states == nil {
		m.states = make(map[string]protocol.State)
	}
	for _, record := range rows {
		if record.Table != peer.JobTable {
			continue
		}
		from := m.states[record.Key]
		var to protocol.State
		if row, ok := record.Row.(peer.JobRow); ok {
			to = row.State
		}
		if to == from {
			continue
		}
		m.meter.Moved(from, to)
		if to == 0 {
			delete(m.states, record.Key)
			continue
		}
		m.states[record.Key] = to
	}
}
