package node

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
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
func (c *Checker) Add(table string, stored Row) {
	if table == factTable {
		var fact event.LogEvent
		if err := json.Unmarshal(stored.Value, &fact); err != nil {
			c.found(table, stored.Key, "it cannot be read: %v", err)
		}
		return
	}
	content, err := row.Decode(row.Table(table), stored.Value)
	if err != nil {
		c.found(table, stored.Key, "it cannot be read: %v", err)
		return
	}
	key := c.note(stored.Key, content)
	if key != "" && key != stored.Key {
		c.found(table, stored.Key, "its content belongs to the key %s", key)
	}
}

func (c *Checker) found(table, key, format string, args ...any) {
	c.problems = append(c.problems, RowProblem{table, key, fmt.Sprintf(format, args...)})
}

// note keeps what other rows refer to, and returns the key that the content asks for;
// empty: any.
func (c *Checker) note(key string, content row.Row) string {
	switch stored := content.(type) {
	case row.Job:
		if stored.Phase == row.JobStagingOut && stored.Outcome == nil {
			c.found(string(row.JobTable), key, "the job has ended elsewhere, and has no outcome")
		}
		put(&c.jobs, stored.Spec.Job, stored.Application)
		return rowKeyOf(stored.Spec.Job)
	case row.Guest:
		put(&c.guests, stored.Spec.Job, stored.Phase == row.GuestPrepared || stored.Phase == row.GuestAccepted)
		return rowKeyOf(stored.Spec.Job)
	case row.Payload:
		c.notePayload(key, stored)
	case row.Application:
		put(&c.whole, stored.ID, true)
		return rowKeyOf(stored.ID)
	case row.Run:
		c.runs = append(c.runs, stored.Tag)
		return fmt.Sprintf("%s.%d", rowKeyOf(stored.Tag.Job), stored.Tag.Epoch)
	case row.Archived:
		return rowKeyOf(stored.View.ID)
	case row.Site:
		c.site = true
	case row.Generation:
		return string(row.GenerationTable)
	case row.Partner:
		return string(stored.Site)
	case row.Dedup, row.Executions:
	default:
		c.found("", key, "the row is of a kind that the check does not know: %T", content)
	}
	return ""
}

func (c *Checker) notePayload(key string, stored row.Payload) {
	id, err := strconv.ParseUint(key, 10, 64)
	switch {
	case err != nil:
		c.found(string(row.PayloadTable), key, "its key is not a job's ID")
	case stored.Payload == nil:
		c.found(string(row.PayloadTable), key, "it is empty")
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
			all.found(string(row.JobTable), rowKeyOf(id), "the job has no payload row, so its script is lost")
		}
		if application != 0 && !c.whole[application] {
			all.found(string(row.JobTable), rowKeyOf(id), "the job is a component of application %v, which has no row", application)
		}
	}
	for id, needed := range c.guests {
		if needed && !c.payloads[id] {
			all.found(string(row.GuestTable), rowKeyOf(id), "the guest has no payload row, so its script is lost")
		}
	}
	for _, tag := range c.runs {
		_, guest := c.guests[tag.Job]
		if _, job := c.jobs[tag.Job]; !job && !guest {
			all.found(string(row.RunTable), fmt.Sprintf("%s.%d", rowKeyOf(tag.Job), tag.Epoch), "the run belongs to no job")
		}
	}
	if !c.site && len(c.jobs)+len(c.guests)+len(c.runs) > 0 {
		all.found(string(row.SiteTable), "site", "the row of the site's counters is missing: job IDs could be given out twice")
	}
	slices.SortFunc(all.problems, func(a, b RowProblem) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Key, b.Key), strings.Compare(a.What, b.What))
	})
	return all.problems
}
