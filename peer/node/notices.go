package node

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Notifier notifies other programs of the states of jobs.
type Notifier interface {
	// Notify says that a job of this origin, as it now is, has another state than before; zero: it is
	// new. It does not wait.
	Notify(from protocol.State, job *view.Job)
}

// notices follows the states of this origin's jobs. It sees durable rows only, and of a batch the last of each:
// a notice is sent at most once, and one that a crash prevents is not sent later.
type notices struct {
	origin   protocol.SiteName
	notifier Notifier // nil: there is none
	states   map[protocol.JobID]protocol.State
}

// restore takes in a row as the node found it at its start.
func (n *notices) restore(record row.Record) {
	if n.notifier == nil {
		return
	}
	if job, ok := record.Row.(row.Job); ok {
		n.set(job.Spec.Job, stateOf(&job))
	} else if array, ok := record.Row.(row.Array); ok {
		n.set(array.ID(), stateOfArray(&array))
	}
}

func (n *notices) set(id protocol.JobID, state protocol.State) {
	if n.states == nil {
		n.states = make(map[protocol.JobID]protocol.State)
	}
	n.states[id] = state
}

// stateOf is the state that people are shown of a job; it counts as pending until it has started, although it
// has ended by then and its output is on the way.
func stateOf(job *row.Job) protocol.State {
	if job.State == protocol.Running && job.Started == 0 {
		return protocol.Pending
	}
	return job.State
}

// stateOfArray is that of an array as one job, which begins with its first element.
func stateOfArray(array *row.Array) protocol.State {
	if array.Started != 0 {
		return protocol.Running
	}
	return protocol.Pending
}

// take looks at a changed row.
func (n *notices) take(record row.Record) {
	if n.notifier == nil {
		return
	}
	if finished, ok := record.Row.(row.Archived); ok && !finished.View.Guest {
		from := n.states[finished.View.ID]
		delete(n.states, finished.View.ID)
		n.notifier.Notify(from, &finished.View)
		return
	}
	if job, ok := record.Row.(row.Job); ok {
		n.moved(&job, stateOf(&job))
	} else if array, ok := record.Row.(row.Array); ok {
		array.Job.Started = array.Started
		n.moved(&array.Job, stateOfArray(&array))
	}
}

// moved says that a job, or an array as one job, has another state, if it has.
func (n *notices) moved(job *row.Job, state protocol.State) {
	from := n.states[job.Spec.Job]
	if state == from || state.Terminal() { // its end is reported with all that is known then
		return
	}
	n.set(job.Spec.Job, state)
	shown := viewOf(job, n.origin)
	shown.State = state
	n.notifier.Notify(from, &shown)
}

// viewOf is a job as people see it.
func viewOf(job *row.Job, origin protocol.SiteName) view.Job {
	shown := (&status.Job{Job: job}).View(origin)
	shown.Reason = job.Reason
	return shown
}
