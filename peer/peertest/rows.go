package peertest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rows are a site's committed rows by table and key.
type Rows map[peer.Table]map[string]peer.Row

func (r Rows) put(rec peer.Record) {
	if rec.Row == nil {
		delete(r[rec.Table], rec.Key)
		return
	}
	if r[rec.Table] == nil {
		r[rec.Table] = map[string]peer.Row{}
	}
	r[rec.Table][rec.Key] = rec.Row
}

// Records are the rows as a restarted peer gets them: through their durable
// form, tables and keys in order.
func (r Rows) Records() ([]peer.Record, error) {
	var out []peer.Record
	for _, table := range peer.Tables() {
		for _, key := range slices.Sorted(maps.Keys(r[table])) {
			data, err := peer.EncodeRow(r[table][key])
			if err != nil {
				return nil, fmt.Errorf("key %q: %w", key, err)
			}
			row, err := peer.DecodeRow(table, data)
			if err != nil {
				return nil, fmt.Errorf("key %q: %w", key, err)
			}
			out = append(out, peer.Record{Table: table, Key: key, Row: row})
		}
	}
	return out, nil
}

// Job is a job of this origin.
func (r Rows) Job(id protocol.JobID) (peer.JobRow, bool) {
	row, ok := r[peer.JobTable][jobKey(id)].(peer.JobRow)
	return row, ok
}

// Guests are the jobs of other origins and their tombstones, by id.
func (r Rows) Guests() []peer.GuestRow { return rowsAs[peer.GuestRow](r[peer.GuestTable]) }

// Jobs are the jobs of this origin, by id.
func (r Rows) Jobs() []peer.JobRow { return rowsAs[peer.JobRow](r[peer.JobTable]) }

// Runs are the placements in the local queue, by tag.
func (r Rows) Runs() []peer.RunRow { return rowsAs[peer.RunRow](r[peer.RunTable]) }

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
