package node

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/spans"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var errNoStory = errors.New("no story")

// traced keeps what it was handed.
type traced []string

func (s *traced) Job(job *view.Job, story func() ([]event.LogEvent, error)) {
	_, err := story()
	*s = append(*s, fmt.Sprintf("job %v %v", job.ID, err))
}

func (s *traced) Guest(g spans.Guest, run *view.Job, story func() ([]event.LogEvent, error)) {
	_, err := story()
	*s = append(*s, fmt.Sprintf("guest %v.%v of %v, submitted %v, ran %v: %v", g.ID, g.Epoch, g.Origin, g.Submitted, run != nil, err))
}

// TestTracesFollowJobs: each job is handed over once, when it has ended, and each guest once, when it has left, whether it ran or not.
func TestTracesFollowJobs(t *testing.T) {
	t.Parallel()
	const hosted protocol.JobID = 1e12 + 7
	guest := func(phase row.GuestPhase, epoch protocol.Epoch) row.Record {
		g := row.Guest{Spec: protocol.Spec{Request: protocol.Request{Job: hosted}}, Origin: "south", Phase: phase, Epoch: epoch}
		if g.Phase.Open() {
			g.Spec.Submitted = 5 // a tombstone does not say
		}
		return row.Record{Table: row.GuestTable, Key: row.JobKey(hosted), Row: g}
	}
	ended := func(guest bool, epoch protocol.Epoch) row.Record {
		return row.Record{Table: row.ArchiveTable, Row: row.Archived{View: view.Job{ID: hosted, Guest: guest, Epoch: epoch}}}
	}
	removed := row.Record{Table: row.GuestTable, Key: row.JobKey(hosted)}
	const ran, left = "guest 1000000000007.2 of south, submitted 5, ran true: no story", "guest 1000000000007.2 of south, submitted 5, ran false: no story"
	for name, tt := range map[string]struct {
		restored []row.Record
		batches  [][]row.Record
		want     traced
	}{
		"a job": {nil, [][]row.Record{{ended(false, 1)}, {{Table: row.JobTable}}}, traced{"job 1000000000007 no story"}},
		"a guest that runs": {nil, [][]row.Record{
			{guest(row.GuestPrepared, 2)}, {guest(row.GuestAccepted, 2)}, {guest(row.GuestClosed, 2), ended(true, 2)}, {removed},
		}, traced{ran}},
		"a guest after a restart":          {[]row.Record{guest(row.GuestAccepted, 2)}, [][]row.Record{{guest(row.GuestClosed, 2), ended(true, 2)}}, traced{ran}},
		"a guest that is recalled":         {nil, [][]row.Record{{guest(row.GuestAccepted, 2)}, {guest(row.GuestClosed, 2)}, {removed}}, traced{left}},
		"a guest that is not granted":      {nil, [][]row.Record{{guest(row.GuestPrepared, 2)}, {removed}}, traced{left}},
		"a guest that comes again at once": {nil, [][]row.Record{{guest(row.GuestPrepared, 2)}, {guest(row.GuestPrepared, 3)}}, traced{left}},
		"a tombstone":                      {[]row.Record{guest(row.GuestClosed, 2)}, [][]row.Record{{removed}}, nil},
	} {
		var got traced
		n := traces{tracer: &got, story: func(protocol.JobID) ([]event.LogEvent, error) { return nil, errNoStory }}
		for _, r := range tt.restored {
			n.restore(r)
		}
		for _, batch := range tt.batches {
			n.take(batch)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestSubmissionIsTraced: programs in a job find its run in their environment, in place of what was submitted, and the payload stays what it was.
func TestSubmissionIsTraced(t *testing.T) {
	t.Parallel()
	submitted := []string{"A=1", "TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "B=2"}
	sub := localsched.Submission{
		Tag: protocol.Tag{Job: 7, Epoch: 2}, Spec: protocol.Spec{Request: protocol.Request{Job: 7}}, Payload: &protocol.Payload{Env: slices.Clone(submitted)},
	}
	want := []string{"A=1", "B=2", "TRACEPARENT=" + string(spans.Job{ID: 7}.Run(2))}
	n := traces{tracer: &traced{}}
	if got := n.submission(sub).Payload.Env; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Equal(sub.Payload.Env, submitted) {
		t.Errorf("what was submitted is changed: %q", sub.Payload.Env)
	}
	sub.Payload = &protocol.Payload{Env: slices.Repeat([]string{"A=1"}, protocol.MaxArgs)}
	if got := n.submission(sub); got.Payload != sub.Payload {
		t.Error("a job has more variables than are allowed")
	}
	if sub.Payload = (&protocol.Payload{Env: submitted}); (&traces{}).submission(sub).Payload != sub.Payload {
		t.Error("a site that exports no spans changes the environment")
	}
}
