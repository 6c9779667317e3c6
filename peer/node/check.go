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
	whole    map[protocol.JobID]bool           // applications
	elements map[protocol.JobID]protocol.JobID // jobs that are elements of arrays, and their arrays
	arrays   map[protocol.JobID]bool
	runs     []protocol.Tag
	ended    map[protocol.JobID]protocol.JobID // jobs and arrays that can be requeued, and the array of each that is an element, or 0
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
	if table == endedTable {
		if _, ok := readEndKey(stored.Key); !ok {
			c.found(table, stored.Key, "the key is no time and job")
		}
		return
	}
	if table == endedOfTable || table == prunedTable {
		return // no row of the peer's depends on them
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
func (c *Checker) note(key string, content row.Row) string { //nolint:cyclop // one case for each table
	switch stored := content.(type) {
	case row.Job:
		if stored.Phase == row.JobStagingOut && stored.Outcome == nil {
			c.found(string(row.JobTable), key, "the job has ended elsewhere, and has no outcome")
		}
		put(&c.jobs, stored.Spec.Job, stored.Application)
		if stored.Element.Array != 0 {
			put(&c.elements, stored.Spec.Job, stored.Element.Array)
		}
		return row.JobKey(stored.Spec.Job)
	case row.Array:
		put(&c.arrays, stored.ID(), true)
		return row.JobKey(stored.ID())
	case row.Requeueable:
		return c.noteRequeueable(key, stored)
	case row.Guest:
		put(&c.guests, stored.Spec.Job, stored.Phase == row.GuestPrepared || stored.Phase == row.GuestAccepted)
		return row.JobKey(stored.Spec.Job)
	case row.Payload:
		c.notePayload(key, stored)
	case row.Application:
		put(&c.whole, stored.ID, true)
		return row.JobKey(stored.ID)
	case row.Run:
		c.runs = append(c.runs, stored.Tag)
		return row.RunKey(stored.Tag)
	case row.Archived:
		return row.JobKey(stored.View.ID)
	case row.EarlierRun:
		return row.RunKey(protocol.Tag{Job: stored.View.ID, Epoch: stored.View.Epoch})
	case row.Site:
		c.site = true
	case row.Generation:
		return string(row.GenerationTable)
	case row.Partner:
		return string(stored.Site)
	case row.Dedup, row.Executions, row.Use:
	default:
		c.found("", key, "the row is of a kind that the check does not know: %T", content)
	}
	return ""
}

func (c *Checker) noteRequeueable(key string, stored row.Requeueable) string {
	switch {
	case (stored.Job == nil) == (stored.Array == nil):
		c.found(string(row.RequeueableTable), key, "it must have a job or an array")
		return ""
	case stored.Job != nil:
		put(&c.ended, stored.ID(), stored.Job.Element.Array)
	default:
		put(&c.ended, stored.ID(), 0)
	}
	return row.JobKey(stored.ID())
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

// Problems lists what is wrong with the rows that were taken in, sorted by table and key.
func (c *Checker) Problems() []RowProblem {
	all := Checker{problems: slices.Clone(c.problems)}
	for id, application := range c.jobs {
		if c.elements[id] == 0 && !c.payloads[id] {
			all.found(string(row.JobTable), row.JobKey(id), "the job has no payload row, so its script is lost")
		}
		if application != 0 && !c.whole[application] {
			all.found(string(row.JobTable), row.JobKey(id), "the job is a component of application %v, which has no row", application)
		}
	}
	c.arrayProblems(&all)
	c.requeueableProblems(&all)
	for id, needed := range c.guests {
		if needed && !c.payloads[id] {
			all.found(string(row.GuestTable), row.JobKey(id), "the guest has no payload row, so its script is lost")
		}
	}
	for _, tag := range c.runs {
		_, guest := c.guests[tag.Job]
		if _, job := c.jobs[tag.Job]; !job && !guest {
			all.found(string(row.RunTable), row.RunKey(tag), "the run belongs to no job")
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

// arrayProblems finds arrays without what they run, and elements without their array.
func (c *Checker) arrayProblems(all *Checker) {
	for id := range c.arrays {
		if !c.payloads[id] {
			all.found(string(row.ArrayTable), row.JobKey(id), "the array has no payload row, so its script is lost")
		}
	}
	for id, array := range c.elements {
		if !c.arrays[array] {
			all.found(string(row.JobTable), row.JobKey(id), "the job is an element of array %v, which has no row", array)
		}
	}
}

// requeueableProblems finds jobs that can be requeued and have nothing to run, and elements among them without their array.
func (c *Checker) requeueableProblems(all *Checker) {
	for id, array := range c.ended {
		_, ended := c.ended[array]
		switch {
		case array == 0 && !c.payloads[id]:
			all.found(string(row.RequeueableTable), row.JobKey(id), "the job has no payload row, so its script is lost")
		case array != 0 && !c.arrays[array] && !ended:
			all.found(string(row.RequeueableTable), row.JobKey(id), "the job is an element of array %v, which has no row", array)
		}
	}
}
