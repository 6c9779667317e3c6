package node

import (
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// notified keeps what it was notified.
type notified []string

func (s *notified) Notify(from protocol.State, job *view.Job) {
	*s = append(*s, fmt.Sprintf("%v %v→%v", job.ID, from, job.State))
}

// TestNoticesFollowAJob: each state is reported once, the last one with the archive, and none of a guest.
func TestNoticesFollowAJob(t *testing.T) {
	t.Parallel()
	open := func(state protocol.State, started protocol.Instant) row.Record {
		return row.Record{Table: row.JobTable, Row: row.Job{Spec: protocol.Spec{Request: protocol.Request{Job: 7}}, State: state, Started: started}}
	}
	closed := func(state protocol.State, guest bool) row.Record {
		return row.Record{Table: row.ArchiveTable, Row: row.Archived{View: view.Job{ID: 7, State: state, Guest: guest}}}
	}
	gone := row.Record{Table: row.JobTable}
	array := func(started protocol.Instant) row.Record {
		return row.Record{Table: row.ArrayTable, Row: row.Array{Job: row.Job{Spec: protocol.Spec{Request: protocol.Request{Job: 7}}, State: protocol.Pending}, Started: started}}
	}
	none := protocol.State(0).String()
	for name, c := range map[string]struct {
		restored, rows []row.Record
		want           notified
	}{
		"runs to its end": {
			nil,
			[]row.Record{open(protocol.Pending, 0), open(protocol.Pending, 0), open(protocol.Running, 5), open(protocol.Completed, 5), gone, closed(protocol.Completed, false)},
			notified{"7 " + none + "→PENDING", "7 PENDING→RUNNING", "7 RUNNING→COMPLETED"},
		},
		"starts twice": {
			nil,
			[]row.Record{open(protocol.Running, 5), open(protocol.Pending, 0), open(protocol.Running, 6)},
			notified{"7 " + none + "→RUNNING", "7 RUNNING→PENDING", "7 PENDING→RUNNING"},
		},
		"after a restart": {
			[]row.Record{open(protocol.Running, 5)}, []row.Record{open(protocol.Running, 5), closed(protocol.Failed, false)}, notified{"7 RUNNING→FAILED"},
		},
		"ends before it starts": {
			nil,
			[]row.Record{open(protocol.Pending, 0), open(protocol.Running, 0), closed(protocol.Cancelled, false)},
			notified{"7 " + none + "→PENDING", "7 PENDING→CANCELLED"},
		},
		"an array": {
			nil,
			[]row.Record{array(0), array(0), array(5), array(5), {Table: row.ArrayTable}, closed(protocol.Failed, false)},
			notified{"7 " + none + "→PENDING", "7 PENDING→RUNNING", "7 RUNNING→FAILED"},
		},
		"an array after a restart": {
			[]row.Record{array(0)}, []row.Record{array(0), array(5), closed(protocol.Completed, false)}, notified{"7 PENDING→RUNNING", "7 RUNNING→COMPLETED"},
		},
		"a guest": {nil, []row.Record{closed(protocol.Completed, true)}, nil},
	} {
		var got notified
		n := notices{origin: "north", notifier: &got}
		for _, r := range c.restored {
			n.restore(r)
		}
		for _, r := range c.rows {
			n.take(r)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
