package node

import (
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/spans"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tracer exports the spans of jobs. Its methods do not wait. What story returns are the log events of the job, once they are wanted;
// they may be asked for from any goroutine until the peer's store is closed.
type Tracer interface {
	// Job takes a job of this origin that has ended.
	Job(job *view.Job, story func() ([]event.LogEvent, error))
	// Guest takes a guest that has left, and how it ran; nil: it did not.
	Guest(guest spans.Guest, run *view.Job, story func() ([]event.LogEvent, error))
}

// traces follow the jobs of which spans are exported. They see durable rows only, and of a batch the last of each.
type traces struct {
	tracer Tracer // nil: no spans are exported
	story  func(protocol.JobID) ([]event.LogEvent, error)
	guests map[protocol.JobID]spans.Guest // that are here: their tombstones do not say what they were
}

// restore takes in a row as the node found it at its start.
func (t *traces) restore(record row.Record) {
	if guest, ok := record.Row.(row.Guest); ok && t.tracer != nil {
		t.guest(&guest)
	}
}

// take looks at the rows of a batch, the log events of which are kept already.
func (t *traces) take(rows []row.Record) {
	if t.tracer == nil {
		return
	}
	for _, record := range rows {
		if ended, ok := record.Row.(row.Archived); ok {
			t.ended(&ended.View)
		}
	}
	for _, record := range rows {
		if guest, ok := record.Row.(row.Guest); ok {
			t.guest(&guest)
		} else if record.Row == nil && record.Table == row.GuestTable {
			if id, err := row.ParseJobKey(record.Key); err == nil {
				t.left(id)
			}
		}
	}
}

func (t *traces) ended(v *view.Job) {
	if !v.Guest {
		t.tracer.Job(v, t.storyOf(v.ID))
		return
	}
	if g, known := t.guests[v.ID]; known && g.Epoch == v.Epoch {
		delete(t.guests, v.ID)
		t.tracer.Guest(g, v, t.storyOf(v.ID))
	}
}

// guest notes one that is here. One that is here at another epoch has left without a run.
func (t *traces) guest(g *row.Guest) {
	known, ok := t.guests[g.Spec.Job]
	if ok && (known.Epoch != g.Epoch || !g.Phase.Open()) {
		t.left(g.Spec.Job)
	}
	if !g.Phase.Open() {
		return
	}
	if t.guests == nil {
		t.guests = make(map[protocol.JobID]spans.Guest)
	}
	t.guests[g.Spec.Job] = spans.Guest{Job: spans.JobOf(&g.Spec), Origin: g.Origin, Epoch: g.Epoch}
}

// left takes a guest that has left without a run, if it was here.
func (t *traces) left(id protocol.JobID) {
	if g, known := t.guests[id]; known {
		delete(t.guests, id)
		t.tracer.Guest(g, nil, t.storyOf(id))
	}
}

func (t *traces) storyOf(id protocol.JobID) func() ([]event.LogEvent, error) {
	return func() ([]event.LogEvent, error) { return t.story(id) }
}

// submission is one whose programs find the span of their run in their environment, in place of what was submitted. Where there is no
// space for the variable the submission stays as it is.
func (t *traces) submission(sub localsched.Submission) localsched.Submission {
	if t.tracer == nil || sub.Payload == nil {
		return sub
	}
	prefix := protocol.TraceparentVariable + "="
	traced := *sub.Payload
	traced.Env = slices.DeleteFunc(slices.Clone(traced.Env), func(pair string) bool { return strings.HasPrefix(pair, prefix) })
	traced.Env = append(traced.Env, prefix+string(spans.JobOf(&sub.Spec).Run(sub.Tag.Epoch)))
	if traced.Check() == nil {
		sub.Payload = &traced
	}
	return sub
}
