package peer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// withAside is a site whose local scheduler has a placement of b that no row knows, and waits.
func withAside(t *testing.T, tag protocol.Tag) *cards {
	t.Helper()
	c := newCards(t, row.Rows{})
	c.show("b", 2, 1)
	for _, call := range c.first.Calls {
		if _, watch := call.Op.(event.WatchOp); watch {
			c.step(event.CallDone{ID: call.ID, Result: event.WatchResult{Watched: localsched.Watched{
				Changes: []localsched.Change{{Tag: tag, State: protocol.Pending}}, Cursor: "1",
			}}})
		}
	}
	return c
}

// TestAJobThatNoRowKnowsStartsNoMore: its origin asks after it, because the site's store is
// another one. It is taken out of the local queue before the site says that it knows nothing,
// since the origin may then give it to another site.
func TestAJobThatNoRowKnowsStartsNoMore(t *testing.T) {
	t.Parallel()
	tag := protocol.Tag{Job: protocol.NewJobID(2, 1), Epoch: 3}
	for name, question := range map[string]protocol.Message{"grant": protocol.Grant{Tag: tag}, "recall": protocol.Recall{Tag: tag}} {
		for what, withdrawal := range map[string]localsched.Withdrawal{"waits": localsched.Withdrawn, "has started": localsched.Started} {
			t.Run(name+", it "+what, func(t *testing.T) {
				t.Parallel()
				c := withAside(t, tag)
				ready := c.step(event.MessageIn{From: "b", Body: question})
				if len(ready.Messages) != 0 || len(ready.Calls) != 1 || ready.Calls[0].Op != (event.WithdrawOp{Tag: tag}) {
					t.Fatalf("it sends %+v and calls %+v", ready.Messages, ready.Calls)
				}
				ready = c.step(event.CallDone{ID: ready.Calls[0].ID, Result: event.WithdrawResult{Withdrawal: withdrawal}})
				forgets := len(ready.Calls) == 1 && ready.Calls[0].Op == (event.ForgetOp{Tag: tag})
				if forgets != (withdrawal == localsched.Withdrawn) {
					t.Errorf("then it calls %+v", ready.Calls)
				}
				ready = c.step(event.MessageIn{From: "b", Body: question})
				if len(ready.Messages) != 1 || ready.Messages[0].Body != (protocol.UnknownJob{Tag: tag}) || len(ready.Calls) != 0 {
					t.Errorf("asked again it sends %+v and calls %+v", ready.Messages, ready.Calls)
				}
			})
		}
	}
}

// TestALateOfferMakesNoSecondPlacement: the offer of a placement that the local scheduler has,
// and no row, comes once more.
func TestALateOfferMakesNoSecondPlacement(t *testing.T) {
	t.Parallel()
	spec := guest(1, 1)
	tag := protocol.Tag{Job: spec.Job, Epoch: 3}
	c := withAside(t, tag)
	ready := c.step(event.MessageIn{From: "b", Body: protocol.Offer{Spec: spec, Epoch: 3, Payload: peertest.Plan{Run: 1}.Payload()}})
	if len(ready.Messages) != 1 {
		t.Fatalf("it sends %+v", ready.Messages)
	}
	if no, refused := ready.Messages[0].Body.(protocol.Refused); !refused || !strings.Contains(no.Reason, "has this job already") {
		t.Errorf("it sends %+v", ready.Messages[0].Body)
	}
	if len(c.rows[row.GuestTable]) != 0 {
		t.Errorf("it keeps %+v", c.rows[row.GuestTable])
	}
}

// TestCancelOfWhatMayHaveRun: by rows of an earlier time a job waits, or is at a site that has
// given it back since. Its end says that the outcome is unknown.
func TestCancelOfWhatMayHaveRun(t *testing.T) {
	t.Parallel()
	id := protocol.NewJobID(1, 7)
	key := fmt.Sprintf("%016d", uint64(id))
	for name, tt := range map[string]struct {
		job     row.Job
		site    row.Site
		unknown bool
	}{
		"it waits":              {row.Job{Phase: row.JobInGridQueue}, row.Site{Recovery: "it is old"}, true},
		"it is offered":         {row.Job{Phase: row.JobOffered, Site: "b", Epoch: 1}, row.Site{Recovery: "it is old"}, true},
		"another peer has it":   {row.Job{Phase: row.JobInGridQueue}, row.Site{Twin: protocol.Life{Incarnation: 1, Boot: 9}}, true},
		"it is given back":      {row.Job{Phase: row.JobHandedOff, Site: "b", Epoch: 1, Restored: true}, row.Site{}, true},
		"the rows are new":      {row.Job{Phase: row.JobInGridQueue}, row.Site{}, false},
		"given back, as it was": {row.Job{Phase: row.JobHandedOff, Site: "b", Epoch: 1}, row.Site{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := row.Rows{}
			tt.site.FirstStart, tt.site.Incarnation, tt.site.FirstSeq, tt.site.NextSeq, tt.site.Boot = 1, 1, 7, 8, 3
			tt.job.Spec = protocol.Spec{Request: protocol.Request{Job: id, CPUs: 99, WallTime: protocol.Hour}, User: "ada"}
			tt.job.State = protocol.Pending
			rows.Commit(row.Record{Table: row.SiteTable, Key: "site", Row: tt.site})
			rows.Commit(row.Record{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: peertest.Plan{Run: 1}.Payload()}})
			rows.Commit(row.Record{Table: row.JobTable, Key: key, Row: tt.job})
			c := newCards(t, rows)
			c.show("b", 2, 1)
			c.now = c.now.Add(protocol.Minute) // it has listened
			c.step(event.Tick{})
			records := c.step(event.Cancel{Asked: 1, Job: id, User: "ada"}).Records
			if tt.job.Phase == row.JobHandedOff {
				records = c.step(event.MessageIn{From: "b", Body: protocol.Recalled{Tag: protocol.Tag{Job: id, Epoch: 1}}}).Records
			}
			var ends []string
			for _, rec := range records {
				if row, ended := rec.Row.(row.Archived); ended {
					ends = append(ends, fmt.Sprintf("%v %s", row.View.State, row.View.Reason))
				}
			}
			if len(ends) != 1 || strings.HasPrefix(ends[0], "CANCELLED outcome unknown: ") != tt.unknown || !strings.HasPrefix(ends[0], "CANCELLED") {
				t.Errorf("it ends as %q, unknown: want %t", ends, tt.unknown)
			}
		})
	}
}

// TestWhatIsSetAsideIsReportedAgain: only the memory of a peer has what no row knows, so the rows
// do not say that it was reported until a peer that starts on them need not know it.
func TestWhatIsSetAsideIsReportedAgain(t *testing.T) {
	t.Parallel()
	c := withAside(t, protocol.Tag{Job: protocol.NewJobID(2, 1), Epoch: 3})
	again := newCards(t, c.rows)
	for _, call := range again.first.Calls {
		if watch, ok := call.Op.(event.WatchOp); ok && watch.After != "" {
			t.Errorf("after a restart it watches from %q on", watch.After)
		}
	}
}
