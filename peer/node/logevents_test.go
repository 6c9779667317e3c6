package node_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// teller is a machine that tells a fact for each grant that it gets.
func teller() *script {
	return &script{step: func(now protocol.Instant, ev event.Event) event.Ready {
		in, ok := ev.(event.MessageIn)
		if !ok {
			return event.Ready{}
		}
		grant, ok := in.Body.(protocol.Grant)
		if !ok {
			return event.Ready{}
		}
		return event.Ready{LogEvents: []event.LogEvent{{
			At: now, Kind: event.LogJobDeferred, Job: grant.Tag.Job, Text: fmt.Sprint(grant.Tag.Epoch),
		}}}
	}}
}

func (r *rig) tell(job protocol.JobID, number int) {
	r.Received("there", protocol.Grant{Tag: protocol.Tag{Job: job, Epoch: protocol.Epoch(number)}})
	synctest.Wait()
}

// texts are those of the log events of job 7.
func texts(t *testing.T, n *node.Node) []string {
	t.Helper()
	facts, err := n.Explain(7)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, 0, len(facts))
	for _, f := range facts {
		all = append(all, f.Text)
	}
	return all
}

func TestExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, teller())
		for i := range 30 {
			r.tell(7, i)
			r.tell(70, 1000)
			r.tell(0, 1000) // about no job
			if got := texts(t, r.Node); len(got) != i+1 || got[i] != strconv.Itoa(i) {
				t.Fatalf("after %d facts: %v", i+1, got)
			}
			time.Sleep(node.FactDelay / 7)
		}
		if got := r.store.count(); got == 0 || got > 6 {
			t.Errorf("%d transactions for facts that came within %v", got, 30*node.FactDelay/7)
		}
		_ = r.end()
		if got := texts(t, r.Node); len(got) != 30 {
			t.Errorf("after the stop: %v", got)
		}
		rows, _ := r.store.Scan("fact", "", false, 1000)
		if len(rows) != 60 {
			t.Errorf("%d facts are stored, want 60", len(rows))
		}
	})
}

// The story of a job tells who volunteered while it waited, and only then.
func TestExplainTellsOfVolunteers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kinds := []event.LogKind{
			event.LogPartnerVolunteered, event.LogJobSubmitted, event.LogPartnerVolunteered, event.LogVolunteered, event.LogReconfigured,
			event.LogJobCommitted, event.LogPartnerVolunteered, event.LogJobEnded,
		}
		r := start(t, &script{step: func(now protocol.Instant, ev event.Event) event.Ready {
			in, ok := ev.(event.MessageIn)
			if !ok {
				return event.Ready{}
			}
			grant, _ := in.Body.(protocol.Grant)
			f := event.LogEvent{At: now, Kind: kinds[grant.Tag.Epoch]}
			if slices.Contains([]event.LogKind{event.LogJobSubmitted, event.LogJobCommitted, event.LogJobEnded}, f.Kind) {
				f.Job = 7
			}
			return event.Ready{LogEvents: []event.LogEvent{f}}
		}})
		for i := range kinds {
			r.tell(7, i)
			time.Sleep(node.FactDelay)
		}
		facts, err := r.Explain(7)
		var got []event.LogKind
		for _, f := range facts {
			got = append(got, f.Kind)
		}
		want := []event.LogKind{
			event.LogJobSubmitted, event.LogPartnerVolunteered, event.LogReconfigured, event.LogJobCommitted, event.LogJobEnded,
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
		_ = r.end()
	})
}

func TestFactsOfAJobAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, teller())
		const many = 1000
		for i := range many {
			r.tell(7, i)
			time.Sleep(node.FactDelay / 10)
		}
		time.Sleep(node.FactDelay * 2)
		got := texts(t, r.Node)
		if len(got) > node.MaxFacts+2*node.FactSlack {
			t.Errorf("%d facts are kept", len(got))
		}
		if got[0] != "0" || got[len(got)-1] != strconv.Itoa(many-1) {
			t.Errorf("the first is %s and the last %s", got[0], got[len(got)-1])
		}
		_ = r.end()
	})
}

func TestOldFactsArePruned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, teller(), func(c *node.Config) { c.Retention.Events = 2 * protocol.Day })
		for i := range 2500 {
			r.Received("there", protocol.Grant{Tag: protocol.Tag{Job: protocol.JobID(1 + i%100), Epoch: 1}})
		}
		synctest.Wait()
		time.Sleep(40 * time.Hour)
		r.tell(7, 2)
		time.Sleep(24 * time.Hour)
		rows, _ := r.store.Scan("fact", "", false, 10000)
		if got := texts(t, r.Node); len(got) != 1 || got[0] != "2" || len(rows) != 1 {
			t.Errorf("job 7 has %v, the store %d facts", got, len(rows))
		}
		_ = r.end()
	})
}

func TestRestore(t *testing.T) {
	t.Parallel()
	store := newMemory()
	store.put(row.JobTable, "b", row.Job{Phase: row.JobInGridQueue, State: protocol.Pending, Reason: "second"})
	store.put(row.JobTable, "a", row.Job{Phase: row.JobInGridQueue, State: protocol.Pending, Reason: "first"})
	store.put(row.SiteTable, "site", row.Site{NextSeq: 4})
	store.put(row.ArchiveTable, "z", row.Archived{})
	rows, err := node.Restore(store)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[0].Table != row.SiteTable || rows[1].Key != "a" || rows[2].Key != "b" {
		t.Errorf("rows %v", rows)
	}
	store.apply([]node.Put{{Table: "job", Key: "c", Value: []byte("{")}})
	if _, err = node.Restore(store); err == nil {
		t.Error("a row that is no JSON was restored")
	}
}

// TestStoredFactsRepeatNothing expects a fact as it was made from a row that leaves out what
// its key says.
func TestStoredFactsRepeatNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, teller())
		r.tell(7, 1)
		time.Sleep(node.FactDelay * 2)
		facts, err := r.Explain(7)
		if err != nil || len(facts) != 1 || facts[0].Job != 7 || facts[0].At != protocol.InstantOf(time.Now().Add(-node.FactDelay*2)) {
			t.Errorf("got %+v, %v", facts, err)
		}
		rows, err := r.store.Scan("fact", "", false, 10)
		if err != nil || len(rows) != 1 || strings.Contains(string(rows[0].Value), "at_ms") || strings.Contains(string(rows[0].Value), `"job"`) {
			t.Errorf("stored %s, %v", rows, err)
		}
		_ = r.end()
	})
}

// Facts of jobs that never end here, as of guests that are refused, take no more and more
// memory; those of a job among them that goes on are counted all the same, and so bounded.
func TestCountsOfFactsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := protocol.JobID(1000)
		r := start(t, &script{step: func(now protocol.Instant, ev event.Event) (ready event.Ready) {
			if _, ok := ev.(event.MessageIn); !ok {
				return ready
			}
			ready.LogEvents = []event.LogEvent{{At: now, Kind: event.LogGuestRefused, Job: 7}}
			for range node.MaxCounted / 128 {
				next++
				ready.LogEvents = append(ready.LogEvents, event.LogEvent{At: now, Kind: event.LogGuestRefused, Job: next})
			}
			return ready
		}})
		for i := range 2 * node.MaxFacts {
			r.tell(7, i)
			time.Sleep(node.FactDelay)
		}
		if got := r.Counted(); got > 2*node.MaxCounted {
			t.Errorf("facts are counted for %d jobs, of %d", got, next)
		}
		if got := len(texts(t, r.Node)); got > node.MaxFacts+2*node.FactSlack {
			t.Errorf("one job among them has %d facts", got)
		}
		_ = r.end()
	})
}
