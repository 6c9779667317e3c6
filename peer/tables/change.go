package tables

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ChangeJob changes a job, and marks its row.
func (t *Tables) ChangeJob(j *Job, c *protocol.Change) {
	t.change(&j.Job, c, 1, j.Array != nil)
	t.SaveJob(j.Spec.Job)
}

// ChangeArray changes what the elements of an array that are no jobs yet have alike, and how many may run at once. It marks the
// row.
func (t *Tables) ChangeArray(a *Array, c *protocol.Change) {
	t.change(&a.Job, c, a.Pending.Len(), false)
	if c.Throttle != nil {
		a.Asked.Throttle = *c.Throttle
	}
	t.SaveArray(a)
}

// change changes a row that stands for a number of open jobs.
func (t *Tables) change(j *row.Job, c *protocol.Change, jobs int, element bool) {
	next := j.Changed(c)
	t.countOpen(&j.Spec, -jobs)
	t.countOpen(&next.Spec, +jobs)
	renamed := !element && next.Spec.Name != j.Spec.Name
	if renamed {
		t.waiting.leave(j)
	}
	t.waiting.waitNoMore(j)
	*j = next
	t.alike.Row(j)
	t.waiting.await(j)
	if renamed {
		t.waiting.join(j)
	}
}

// Payload is what the elements of the array run, with their file names as its user gave them.
func (a *Array) Payload() *protocol.Payload { return a.packed.Unpack(&a.Job) }
