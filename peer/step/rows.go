package step

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Row names a row that a step has changed.
type Row struct {
	Table row.Table
	Job   protocol.JobID
	Epoch protocol.Epoch // of a run
	Key   string         // of a dedup row; a component; a partner's name
}

// Tag is the tag of a run.
func (r Row) Tag() protocol.Tag { return protocol.Tag{Job: r.Job, Epoch: r.Epoch} }

// RecordKey is the key of the row's record in its table.
func (r Row) RecordKey() string {
	switch r.Table {
	case row.SiteTable, row.GenerationTable:
		return string(r.Table)
	case row.DedupTable, row.ExecutionTable, row.PartnerTable, row.UseTable:
		return r.Key
	case row.RunTable:
		return row.RunKey(r.Tag())
	case row.JobTable, row.ArrayTable, row.RequeueableTable, row.GuestTable, row.PayloadTable, row.ApplicationTable, row.ArchiveTable, row.EarlierTable:
	}
	return row.JobKey(r.Job)
}

// Rows are the rows that a step has changed so far, in the order in which it first did.
type Rows struct {
	order  []Row
	marked map[Row]bool
}

// Mark notes that a row has changed or gone. What it holds at the end of the
// step is what is recorded, once.
func (r *Rows) Mark(changed Row) {
	if r.marked[changed] {
		return
	}
	if r.marked == nil {
		r.marked = map[Row]bool{}
	}
	r.marked[changed] = true
	r.order = append(r.order, changed)
}

// Changed are the rows that are marked. The next step has their room.
func (r *Rows) Changed() []Row { return r.order }

// Clear begins the next step.
func (r *Rows) Clear() {
	r.order = r.order[:0]
	clear(r.marked)
}
