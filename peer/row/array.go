package row

import (
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Array is a job array of this origin whose elements have not all ended. An element becomes a job of its own, with
// a row of its own, when it is to be placed; until then it is an index in Pending. What all elements run
// is one row of the table of payloads, under the ID of the array.
type Array struct { //nolint:recvcheck // as Job
	// Job is what the elements have alike, under the ID of the array. Its file names are those that the user gave,
	// in which an element's row has the ID and the index.
	Job       Job              `json:"job"`
	Asked     protocol.Array   `json:"array"`               // as it was submitted, but for the throttle, which its user may change
	Pending   protocol.Indexes `json:"pending,omitzero"`    // elements that are no jobs yet
	Cancelled protocol.Indexes `json:"cancelled,omitzero"`  // elements that were ended before they became jobs
	Ended     ArrayEnds        `json:"ended,omitzero"`      // all elements that have ended
	Started   protocol.Instant `json:"started,omitempty"`   // when the first element did; 0: none has
	ExitCode  int              `json:"exit_code,omitempty"` // the highest of elements that have ended, and of their runs before; 0: none has failed

	// Undelivered counts elements that have ended with files that are not where their user wants them.
	Undelivered int `json:"undelivered,omitempty"`
}

// ArrayEnds counts elements of an array by the states in which they ended.
type ArrayEnds struct {
	Completed int `json:"completed,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Cancelled int `json:"cancelled,omitempty"`
	Timeout   int `json:"timeout,omitempty"`
	NodeFail  int `json:"node_fail,omitempty"`
}

// Add counts elements that have ended in a terminal state.
func (e *ArrayEnds) Add(state protocol.State, elements int) {
	switch state { //nolint:exhaustive // the others are not terminal
	case protocol.Completed:
		e.Completed += elements
	case protocol.Failed:
		e.Failed += elements
	case protocol.Cancelled:
		e.Cancelled += elements
	case protocol.Timeout:
		e.Timeout += elements
	case protocol.NodeFail:
		e.NodeFail += elements
	}
}

// State is that of the array when all elements have ended: the worst of theirs.
func (e *ArrayEnds) State() protocol.State {
	switch {
	case e.NodeFail > 0:
		return protocol.NodeFail
	case e.Failed > 0:
		return protocol.Failed
	case e.Timeout > 0:
		return protocol.Timeout
	case e.Cancelled > 0:
		return protocol.Cancelled
	}
	return protocol.Completed
}

// ID is that of the array.
func (a *Array) ID() protocol.JobID { return a.Job.Spec.Job }

// Element is the row of an element that becomes a job.
func (a *Array) Element(index int) Job {
	j := a.Job
	j.Element = protocol.Element{Array: a.ID(), Index: index}
	j.Spec.Job = j.Element.ID()
	j.Stdout, j.Stderr = FileName(a.Job.Stdout, j.Spec.Job, j.Element), FileName(a.Job.Stderr, j.Spec.Job, j.Element)
	j.Mail = protocol.Mail{} // mails are about the array
	if !a.Cancelled.Has(index) {
		j.CancelledBy = ""
	}
	if c := j.Wants(); c.Dependency.Corresponds() {
		c.Dependency = c.Dependency.OfElement(j.Element)
		j.SetConditions(c)
	}
	return j
}

// NoteCancelling notes, before they are, that a user cancels elements that are no jobs yet; empty: no user does. Of elements
// that not all the same user has cancelled, it is not known who has cancelled which.
func (a *Array) NoteCancelling(by string) {
	if !a.Cancelled.IsZero() && a.Job.CancelledBy != by {
		by = ""
	}
	a.Job.CancelledBy = by
}

// Ready are the pending elements that may be placed at an instant, as far as other jobs matter.
func (a *Array) Ready(now protocol.Instant) protocol.Indexes {
	if d := a.Job.Wants().Dependency; d.Corresponds() {
		return d.MetOf(a.Pending, now)
	}
	return a.Pending
}

// Doomed are the pending elements that never start, since what they depend on never comes.
func (a *Array) Doomed() protocol.Indexes { return a.Job.Wants().Dependency.NeverOf(a.Pending) }

// HoldReason is why no pending element must be placed at an instant, in the words of Slurm; empty: some may be, or there
// are none.
func (a *Array) HoldReason(now protocol.Instant) string {
	c := a.Job.Wants()
	switch {
	case c.Hold != "" || !c.Dependency.Corresponds() || c.Dependency.NeverReason() != "":
		return a.Job.HoldReason(now)
	case !a.Pending.IsZero() && a.Ready(now).IsZero() && a.Doomed().Equal(a.Pending):
		return view.ReasonDependencyNever
	case !a.Pending.IsZero() && a.Ready(now).IsZero():
		return view.ReasonDependency
	case c.Begin > now:
		return view.ReasonBeginTime
	}
	return ""
}

// ElementPayload is what an element runs, of what its array was submitted with.
func (a *Array) ElementPayload(of *protocol.Payload, j *Job) *protocol.Payload {
	p := *of
	p.Stdout, p.Stderr, p.Input = j.Stdout, j.Stderr, FileName(of.Input, j.Spec.Job, j.Element)
	p.Env = slices.Clone(of.Env)
	x := a.Asked.Indexes
	for i, value := range []int{j.Element.Index, x.Len(), x.First(), x.Last(), x.Step()} {
		p.Env = append(p.Env, protocol.ArrayVariables()[1+i]+"="+strconv.Itoa(value))
	}
	p.Env = append(p.Env, protocol.ArrayVariables()[0]+"="+a.ID().String())
	return &p
}

// FileName puts a job's ID for %j in a file name that the user gave, the ID of its array for %A, its index for %a,
// and a percent sign for %%. A number before a letter is the least width of what stands for it. Of a job on its own
// the submitter has replaced %a. What is no pattern stays.
func FileName(name string, id protocol.JobID, e protocol.Element) string {
	array := e.Array
	if array == 0 {
		array = id
	}
	expanded, _ := protocol.ReplacePatterns(name, func(p protocol.NamePattern) (string, error) {
		switch p.Letter {
		case '%':
			return "%", nil
		case 'j':
			return p.Padded(id.String()), nil
		case 'A':
			return p.Padded(array.String()), nil
		case 'a':
			return p.Padded(strconv.Itoa(e.Index)), nil
		}
		return p.Text, nil
	})
	return expanded
}

func (Array) table() Table { return ArrayTable }
