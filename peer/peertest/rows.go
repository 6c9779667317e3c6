package peertest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rows are a site's committed rows by table and key.
type Rows struct{ row.Rows }

// Job is a job of this origin.
func (r Rows) Job(id protocol.JobID) (row.Job, bool) {
	row, ok := r.Rows[row.JobTable][jobKey(id)].(row.Job)
	return row, ok
}

// Array is a job array of this origin.
func (r Rows) Array(id protocol.JobID) (row.Array, bool) {
	row, ok := r.Rows[row.ArrayTable][jobKey(id)].(row.Array)
	return row, ok
}

// Guests are the jobs of other origins and their tombstones, by id.
func (r Rows) Guests() []row.Guest { return rowsAs[row.Guest](r.Rows[row.GuestTable]) }

// Jobs are the jobs of this origin, by id.
func (r Rows) Jobs() []row.Job { return rowsAs[row.Job](r.Rows[row.JobTable]) }

// Requeueable are the jobs of this origin that have ended and can be requeued, by id.
func (r Rows) Requeueable() (jobs []row.Job) {
	for _, ended := range rowsAs[row.Requeueable](r.Rows[row.RequeueableTable]) {
		if ended.Job != nil {
			jobs = append(jobs, *ended.Job)
		}
	}
	return jobs
}

// Runs are the placements in the local queue, by tag.
func (r Rows) Runs() []row.Run { return rowsAs[row.Run](r.Rows[row.RunTable]) }

// Life is how far the rows have come.
func (r Rows) Life() protocol.Life {
	site, _ := r.Rows[row.SiteTable][string(row.SiteTable)].(row.Site)
	changes, _ := r.Rows[row.GenerationTable][string(row.GenerationTable)].(row.Generation)
	return protocol.Life{
		Incarnation: site.Incarnation, Boot: site.Boot, Begun: site.Begun, Generation: changes.Generation,
	}
}

func rowsAs[R row.Row](table map[string]row.Row) []R {
	out := make([]R, 0, len(table))
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if row, ok := table[key].(R); ok {
			out = append(out, row)
		}
	}
	return out
}

func jobKey(id protocol.JobID) string { return fmt.Sprintf("%016d", uint64(id)) }
