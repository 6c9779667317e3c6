package answers

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Array is the view of an array of this origin as a whole.
func (a Answers) Array(array *tables.Array) view.Job {
	v := (&status.Job{Job: &array.Job}).View(a.Name)
	e := &array.Ended
	v.Array = &view.Array{
		ID: array.ID(), Elements: array.Asked.Indexes, Throttle: array.Asked.Throttle,
		Pending: array.Pending.Len() + array.Open() - array.Running(), Running: array.Running(),
		Completed: e.Completed, Failed: e.Failed, Cancelled: e.Cancelled, Timeout: e.Timeout, NodeFail: e.NodeFail,
		NeverJobs: array.Cancelled, Undelivered: array.Undelivered,
	}
	v.Started, v.ExitCode = array.Started, array.ExitCode
	if v.Reason = a.arrayReason(array); v.Array.Running > 0 {
		v.State = protocol.Running
	}
	return v
}

// EndedArray is the view of an array all of whose elements have ended.
func (a Answers) EndedArray(array *tables.Array) view.Job {
	v := a.Array(array)
	v.State, v.Reason, v.Ended = array.Ended.State(), "", a.Now
	return v
}

// arrayReason says what the elements wait for that are no jobs yet; empty: there are none.
func (a Answers) arrayReason(array *tables.Array) string {
	stopped := a.Site.StopReason()
	switch {
	case array.Pending.IsZero():
		return ""
	case stopped != "" && !a.Site.Listening:
		return stopped
	case array.HoldReason(a.Now) == view.ReasonDependencyNever:
		return view.Detailed(view.ReasonDependencyNever, array.Job.Wants().Dependency.NeverReason())
	case array.HoldReason(a.Now) != "":
		return array.HoldReason(a.Now)
	case array.Throttled():
		return view.ReasonArrayThrottle
	}
	return view.ReasonArrayOrder
}

// pendingElement is the view of an element that is no job yet, or ended before it became one.
func (a Answers) pendingElement(array *tables.Array, index int) view.Job {
	row := array.Element(index)
	v := (&status.Job{Job: &row}).View(a.Name)
	v.Reason = a.arrayReason(array)
	switch own := row.HoldReason(a.Now); {
	case array.Cancelled.Has(index):
		v.State, v.Reason = protocol.Cancelled, ""
	case own != "" && v.Reason != a.Site.StopReason():
		v.Reason = own
	}
	return v
}

// elements are pending elements of one array at one site, which the queue shows in one line.
type elements struct {
	array   *tables.Array
	site    protocol.SiteName
	indexes []int       // of those that are jobs
	first   *tables.Job // of these
	next    *tables.Job // of these, the one that is expected to start first

	starts protocol.Instant // when that is expected
}

// lines are the lines of the queue for pending elements of arrays, by their IDs.
type lines map[protocol.JobID]*elements

// collect puts pending elements of a filter's arrays together, those at one site in one line each.
func (a Answers) collect(f *view.QueueFilter) lines {
	type place struct {
		array *tables.Array
		site  protocol.SiteName
	}
	if f.Elements || len(a.Rows.Arrays) == 0 {
		return nil
	}
	at := map[place]*elements{}
	for _, j := range a.Rows.Jobs {
		if j.Array == nil || j.State != protocol.Pending {
			continue
		}
		here := place{j.Array, status.PlacedAt(&j.Job)}
		group := at[here]
		if group == nil {
			group = &elements{array: j.Array, site: here.site}
			at[here] = group
		}
		group.take(j, a.expectedStart(j))
	}
	for _, array := range a.Rows.Arrays {
		if here := (place{array, ""}); at[here] == nil && !array.Pending.IsZero() {
			at[here] = &elements{array: array}
		}
	}
	all := lines{}
	for _, group := range at {
		all[group.id()] = group
	}
	return all
}

// take adds a job that is expected to start at an instant.
func (e *elements) take(j *tables.Job, starts protocol.Instant) {
	e.indexes = append(e.indexes, j.Element.Index)
	if e.first == nil || j.Element.Index < e.first.Element.Index {
		e.first = j
	}
	if e.next == nil || starts < e.starts || starts == e.starts && j.Element.Index < e.next.Element.Index {
		e.next, e.starts = j, starts
	}
}

// id is the ID of the line: that of the array, and of elements at a site that of the first one.
func (e *elements) id() protocol.JobID {
	if e.site == "" {
		return e.array.ID()
	}
	return e.first.Spec.Job
}

func (e *elements) traits() *view.Traits {
	t := status.TraitsOf(&e.array.Job)
	t.ID, t.Site, t.Array, t.Several = e.id(), e.site, e.array.ID(), true
	return t
}

// line is the view of pending elements.
func (a Answers) line(e *elements) view.Job {
	v := (&status.Job{Job: &e.array.Job}).View(a.Name)
	v.ID, v.Site = e.id(), e.site
	v.Array = &view.Array{ID: e.array.ID(), Elements: protocol.IndexesOf(e.indexes...), Throttle: e.array.Asked.Throttle}
	if e.site == "" {
		v.Array.Elements = v.Array.Elements.Or(e.array.Pending)
	}
	if e.first != nil {
		v.Reason = a.reason(a.Standing(e.first))
		a.showStart(&v, e.next)
	}
	if e.site == "" {
		v.Reason = cmp.Or(v.Reason, a.arrayReason(e.array))
	}
	return v
}

// list lists the lines of one array; nil: of all.
func (l lines) list(page *status.Page, of *tables.Array) {
	for _, group := range l {
		if of == nil || group.array == of {
			page.Add(group.traits())
		}
	}
}

// listArray lists the elements of an array that have no common line with others.
func (a Answers) listArray(page *status.Page, array *tables.Array, together lines) {
	for _, j := range array.JobsOf(array.Asked.Indexes) {
		if together == nil || j.State != protocol.Pending {
			page.Add(status.TraitsOf(&j.Job))
		}
	}
	if together != nil {
		return
	}
	t := status.TraitsOf(&array.Job)
	t.Array = array.ID()
	for index := range array.Pending.All() {
		if t.ID = (protocol.Element{Array: t.Array, Index: index}).ID(); page.Reaches(t.ID) {
			page.Add(t)
		}
	}
}
