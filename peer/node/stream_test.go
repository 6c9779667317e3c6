package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// guestStore has the rows of guests.
type guestStore struct {
	Store

	rows map[string]row.Row
}

func (s guestStore) Get(_, key string) ([]byte, bool, error) {
	r, found := s.rows[key]
	if !found {
		return nil, false, nil
	}
	data, err := row.Encode(r)
	return data, true, err
}

// published reads what a stream has for a follower, each event as a line.
func published(t *testing.T, f *eventstream.Follower) (lines []string) {
	t.Helper()
	events, gap, err := f.Take(1000)
	if err != nil || gap != nil {
		t.Fatal(gap, err)
	}
	for _, e := range events {
		text, err := e.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == eventstream.OfLog {
			lines = append(lines, fmt.Sprintf("log of %q %q", e.Of.User, e.Of.Account))
			continue
		}
		var change eventstream.JobChange
		if err = json.Unmarshal(text, &change); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%v→%v at %q", change.From, change.Job.State, change.Job.Site)
		if change.Left {
			line += fmt.Sprintf(" left, of %s from %s as %s", change.Job.User, change.Job.Origin, change.Job.RunsAs)
		}
		if e.Of.User != "ann" {
			t.Errorf("%s is of the user %q", line, e.Of.User)
		}
		lines = append(lines, line)
	}
	return lines
}

// Each change of a job's state or site is published once, and log events with the user of their job, also with its end.
func TestChangesArePublished(t *testing.T) {
	t.Parallel()
	const seventh = protocol.JobID(2_000_000_000_007)
	spec := protocol.Spec{Request: protocol.Request{Job: seventh}, User: "ann"}
	job := func(state protocol.State, started protocol.Instant, site protocol.SiteName, phase row.JobPhase) row.Record {
		return row.Record{Table: row.JobTable, Row: row.Job{Spec: spec, State: state, Started: started, Site: site, Phase: phase}}
	}
	waits := job(protocol.Pending, 0, "", row.JobInGridQueue)
	guest := func(phase row.GuestPhase) row.Record {
		g := row.Guest{Spec: spec, Origin: "south", Account: "g", Epoch: 1, Phase: phase}
		if !phase.Open() { // as the core leaves tombstones
			g.Spec = protocol.Spec{Request: protocol.Request{Job: seventh}}
		}
		return row.Record{Table: row.GuestTable, Key: row.JobKey(seventh), Row: g}
	}
	aborted := row.Record{Table: row.GuestTable, Key: row.JobKey(seventh)}
	run := func(phase row.RunPhase) row.Record {
		return row.Record{Table: row.RunTable, Row: row.Run{
			Tag: protocol.Tag{Job: seventh, Epoch: 1}, Phase: phase, Outcome: &protocol.Outcome{State: protocol.Failed},
		}}
	}
	closed := func(guest bool, site protocol.SiteName) row.Record {
		return row.Record{Table: row.ArchiveTable, Row: row.Archived{View: view.Job{ID: seventh, User: "ann", State: protocol.Failed, Guest: guest, Site: site}}}
	}
	array := func(started protocol.Instant) row.Record {
		return row.Record{Table: row.ArrayTable, Row: row.Array{Job: row.Job{Spec: spec, State: protocol.Pending}, Started: started}}
	}
	none := protocol.State(0).String()
	for name, c := range map[string]struct {
		restored []row.Record
		batches  [][]row.Record
		want     []string
	}{
		"a job": {
			nil,
			[][]row.Record{
				{waits},
				{waits},
				{job(protocol.Pending, 0, "south", row.JobOffered)},
				{job(protocol.Pending, 0, "south", row.JobGranted)},
				{job(protocol.Running, 5, "south", row.JobHandedOff)},
				{job(protocol.Failed, 5, "south", row.JobStagingOut)},
				{{Table: row.JobTable}, closed(false, "south")},
			},
			[]string{none + `→PENDING at ""`, `PENDING→PENDING at "south"`, `PENDING→RUNNING at "south"`, `RUNNING→FAILED at "south"`},
		},
		"after a restart": {
			[]row.Record{job(protocol.Running, 5, "south", row.JobHandedOff)},
			[][]row.Record{{job(protocol.Running, 5, "south", row.JobHandedOff)}, {closed(false, "south")}},
			[]string{`RUNNING→FAILED at "south"`},
		},
		"an array": {nil, [][]row.Record{{array(0)}, {array(5)}, {array(5)}}, []string{none + `→PENDING at ""`, `PENDING→RUNNING at ""`}},
		"a guest": {
			nil,
			[][]row.Record{
				{guest(row.GuestPrepared)},
				{guest(row.GuestAccepted), run(row.RunQueued)},
				{run(row.RunRunning)},
				{run(row.RunEnded)},
				{guest(row.GuestClosed), {Table: row.RunTable}, closed(true, "north")},
			},
			[]string{none + `→PENDING at "north"`, `PENDING→RUNNING at "north"`, `RUNNING→FAILED at "north"`, `FAILED→FAILED at "north"`},
		},
		"a guest that is withdrawn": {
			nil,
			[][]row.Record{{guest(row.GuestPrepared)}, {guest(row.GuestAborted)}, {guest(row.GuestAborted)}},
			[]string{none + `→PENDING at "north"`, `PENDING→PENDING at "north" left, of ann from south as g`},
		},
		"a guest whose offer is aborted": {
			nil,
			[][]row.Record{{guest(row.GuestPrepared)}, {aborted}, {aborted}, {guest(row.GuestPrepared)}, {guest(row.GuestAborted)}, {aborted}},
			[]string{
				none + `→PENDING at "north"`, `PENDING→PENDING at "north" left, of ann from south as g`,
				none + `→PENDING at "north"`, `PENDING→PENDING at "north" left, of ann from south as g`,
			},
		},
		"a guest after a restart": {
			[]row.Record{guest(row.GuestAccepted), run(row.RunRunning)}, [][]row.Record{{run(row.RunRunning)}, {run(row.RunEnded)}}, []string{`RUNNING→FAILED at "north"`},
		},
	} {
		stream := eventstream.New(1, 100, 1<<20)
		f := stream.Follow(nil)
		accepted, _ := guest(row.GuestAccepted).Row.(row.Guest)
		n := changes{origin: "north", stream: stream, store: guestStore{rows: map[string]row.Row{row.JobKey(seventh): accepted}}}
		for _, r := range c.restored {
			n.restore(r)
		}
		var got []string
		for _, batch := range c.batches {
			n.take(batch, 9)
			got = append(got, published(t, f)...)
			n.log([]event.LogEvent{{Kind: event.LogJobUpdated, Job: seventh}})
			account := ""
			if name[:3] == "a g" {
				account = "g"
			}
			logged := published(t, f)
			if want := []string{fmt.Sprintf("log of %q %q", "ann", account)}; !slices.Equal(logged, want) && len(n.jobs) > 0 {
				t.Errorf("%s: %q, want %q", name, logged, want)
			}
			n.forget()
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
		if len(n.left) != 0 || len(n.jobs) > 1 || len(n.jobs) > 0 && strings.Contains(got[len(got)-1], "left") {
			t.Errorf("%s: %v and %v are known", name, n.jobs, n.left)
		}
		f.Close()
	}
}

// TestBatchesWakeWatchers: who watches hears of a batch with rows or log events, although there are no followers, and of none without.
func TestBatchesWakeWatchers(t *testing.T) {
	t.Parallel()
	stream := eventstream.New(1, 1, 0)
	n := changes{origin: "north", stream: stream}
	for name, c := range map[string]struct {
		rows []row.Record
		log  []event.LogEvent
	}{
		"nothing":     {},
		"a row":       {rows: []row.Record{{Table: row.GuestTable, Key: row.JobKey(7)}}},
		"a log event": {log: []event.LogEvent{{Kind: event.LogJobUpdated, Job: 7}}},
	} {
		next, woken := stream.Next(), false
		n.take(c.rows, 9)
		n.log(c.log)
		select {
		case <-next:
			woken = true
		default:
		}
		if woken != (len(c.rows)+len(c.log) > 0) {
			t.Errorf("%s: woken %t", name, woken)
		}
	}
}
