package peertest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rows are a site's committed rows by table and key.
type Rows struct{ peer.Rows }

// Job is a job of this origin.
func (r Rows) Job(id protocol.JobID) (peer.JobRow, bool) {
	row, ok := r.Rows[peer.JobTable][jobKey(id)].(peer.JobRow)
	return row, ok
}

// Guests are the jobs of other origins and their tombstones, by id.
func (r Rows) Guests() []peer.GuestRow { return rowsAs[peer.GuestRow](r.Rows[peer.GuestTable]) }

// Jobs are the jobs of this origin, by id.
func (r Rows) Jobs() []peer.JobRow { return rowsAs[peer.JobRow](r.Rows[peer.JobTable]) }

// Runs are the placements in the local queue, by tag.
func (r Rows) Runs() []peer.RunRow { return rowsAs[peer.RunRow](r.Rows[peer.RunTable]) }

// Life is how far the rows have come.
func (r Rows) Life() protocol.Life {
	site, _ := r.Rows[peer.SiteTable][string(peer.SiteTable)].(peer.SiteRow)
	changes, _ := r.Rows[peer.GenerationTable][string(peer.GenerationTable)].(peer.GenerationRow)
	return protocol.Life{
		Incarnation: site.Incarnation, Boot: site.Boot, Begun: site.Begun, Generation: changes.Generation,
	}
}

func rowsAs[R peer.Row](table map[string]peer.Row) []R {
	out := make([]R, 0, len(table))
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if row, ok := table[key].(R); ok {
			out = append(out, row)
		}
	}
	return out
}

func jobKey(id protocol.JobID) string { return fmt.Sprintf("%016d", uint64(id)) }
