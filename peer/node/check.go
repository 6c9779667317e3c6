package node

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RowProblem is a row that a peer could not be restored from, or that contradicts
// another one.
type RowProblem struct {
	Table string
	Key   string
	What  string
}

// Checker looks at the rows of a store that no peer has open, as a peer would that is
// restored from them. The zero Checker has seen no row.
type Checker struct {
	problems []RowProblem
	site     bool
	jobs     map[protocol.JobID]protocol.JobID // and the application of each, or 0
	guests   map[protocol.JobID]bool           // whether it needs a payload
	payloads map[protocol.JobID]bool
	whole    map[protocol.JobID]bool // applications
	runs     []protocol.Tag
}

// Add takes in a row; rows may come in any order.
func (c *Checker) Add(table string, row Row) {
	if table == factTable {
		var fact peer.Fact
		if err := json.Unmarshal(row.Value, &fact); err != nil {
			c.found(table, row.Key, "it cannot be read: %v", err)
		}
		return
	}
	content, err := peer.DecodeRow(peer.Table(table), row.Value)
	if err != nil {
		c.found(table, row.Key, "it cannot be read: %v", err)
		return
	}
	key := c.note(row.Key, content)
	if key != "" && key != row.Key {
		c.found(table, row.Key, "its content belongs to the key %s", key)
	}
}

func (c *Checker) found(table, key, format string, args ...any) {
	c.problems = append(c.problems, RowProblem{table, key, fmt.Sprintf(format, args...)})
}

// note keeps what other rows refer to, and returns the key that the content asks for;
// empty: any.
func (c *Checker) note(key string, content peer.Row) string {
	switch row := content.(type) {
	case peer.JobRow:
		if row.Phase == peer.Collecting && row.Outcome == nil {
			c.found(string(peer.JobTable), key, "the job has ended elsewhere, and has no outcome")
		}
		put(&c.jobs, row.Spec.Job, row.Application)
		return rowKeyOf(row.Spec.Job)
	case peer.GuestRow:
		put(&c.guests, row.Spec.Job, row.Phase == peer.GuestIsPrepared || row.Phase == peer.GuestIsOwned)
		return rowKeyOf(row.Spec.Job)
	case peer.PayloadRow:
		c.notePayload(key, row)
	case peer.ApplicationRow:
		put(&c.whole, row.ID, true)
		return rowKeyOf(row.ID)
	case peer.RunRow:
		c.runs = append(c.runs, row.Tag)
		return fmt.Sprintf("%s.%d", rowKeyOf(row.Tag.Job), row.Tag.Epoch)
	case peer.ArchiveRow:
		return rowKeyOf(row.View.ID)
	case peer.SiteRow:
		c.site = true
	case peer.GenerationRow:
		return string(peer.GenerationTable)
	case peer.PartnerRow:
		return string(row.Site)
	case peer.DedupRow, peer.ExecutionRow:
	default:
		c.found("", key, "the row is of a kind that the check does not know: %T", content)
	}
	return ""
}

func (c *Checker) notePayload(key string, row peer.PayloadRow) {
	id, err := strconv.ParseUint(key, 10, 64)
	switch {
	case err != nil:
		c.found(string(peer.PayloadTable), key, "its key is not a job's ID")
	case row.Payload == nil:
		c.found(string(peer.PayloadTable), key, "it is empty")
	default:
		put(&c.payloads, protocol.JobID(id), true)
	}
}

func put[V any](m *map[protocol.JobID]V, id protocol.JobID, value V) {
	if *m == nil {
		*m = make(map[protocol.JobID]V)
	}
	(*m)[id] = value
}

// rowKeyOf is the key of a job's rows.
func rowKeyOf(id protocol.JobID) string { return fmt.Sprintf("%016d", uint64(id)) }

// Problems lists what is wrong with the rows that were taken in, sorted by table and key.
func (c *Checker) Problems() []RowProblem {
	all := Checker{problems: slices.Clone(c.problems)}
	for id, application := range c.jobs {
		if !c.payloads[id] {
			all.found(string(peer.JobTable), rowKeyOf(id), "the job has no payload row: nobody knows what it runs")
		}
		if application != 0 && !c.whole[application] {
			all.found(string(peer.JobTable), rowKeyOf(id), "the job is a component of application %v, which has no row", application)
		}
	}
	for id, needed := range c.guests {
		if needed && !c.payloads[id] {
			all.found(string(peer.GuestTable), rowKeyOf(id), "the guest has no payload row: nobody knows what it runs")
		}
	}
	for _, tag := range c.runs {
		_, guest := c.guests[tag.Job]
		if _, job := c.jobs[tag.Job]; !job && !guest {
			all.found(string(peer.RunTable), fmt.Sprintf("%s.%d", rowKeyOf(tag.Job), tag.Epoch), "the run belongs to no job")
		}
	}
	if !c.site && len(c.jobs)+len(c.guests)+len(c.runs) > 0 {
		all.found(string(peer.SiteTable), "site", "the row of the site's counters is missing: job IDs could be given out twice")
	}
	slices.SortFunc(all.problems, func(a, b RowProblem) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Key, b.Key), strings.Compare(a.What, b.What))
	})
	return all.problems
}
