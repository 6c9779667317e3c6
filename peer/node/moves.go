package node

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// moves follows the states of this origin's jobs for the meter.
type moves struct {
	meter  Meter
	states map[protocol.JobID]protocol.State
}

// take looks at a changed row.
func (m *moves) take(record row.Record) {
	if record.Table != row.JobTable {
		return
	}
	id, err := row.ParseJobKey(record.Key)
	if err != nil {
		return // the machine makes no such keys, and refuses them
	}
	from := m.states[id]
	var to protocol.State
	if row, ok := record.Row.(row.Job); ok {
		to = row.State
	}
	if to == from {
		return
	}
	m.meter.Moved(from, to)
	if to == 0 {
		delete(m.states, id)
		return
	}
	if m.states == nil {
		m.states = make(map[protocol.JobID]protocol.State)
	}
	m.states[id] = to
}

// meterEnd tells the meter of a job of this origin that goes into the archive.
func (n *Node) meterEnd(record row.Record) {
	if ended, ok := record.Row.(row.Archived); ok && !ended.View.Guest && ended.View.Array == nil {
		n.cfg.Meter.Ended(&ended.View)
	}
}
