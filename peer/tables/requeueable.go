package tables

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/compact"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// requeueable are the jobs of this origin that have ended and can be requeued, and the arrays that have ended of which any of
// them is an element.
type requeueable struct {
	ends     []*ended // in the order of their ends
	jobs     map[protocol.JobID]*ended
	arrays   map[protocol.JobID]*Array // that have ended
	elements map[protocol.JobID]elements
	bytes    int64            // of what they run
	void     protocol.Instant // what ended until then cannot be requeued, and is about to go
}

// elements are the jobs of one array among those that can be requeued.
type elements struct {
	jobs  int
	bytes int64 // of what the array runs, which is kept once for all of them
}

// ended is one job that has ended.
type ended struct {
	*Job

	at    protocol.Instant // when it left the open jobs
	bytes int64            // of what it runs; 0: its array has that
}

// maxForgotten is how many jobs that can be requeued go at once, at most.
const maxForgotten = 1000

// Retire takes a job out that has ended at an instant, and keeps it with those that can be requeued. The first of these go if
// there are more than are to be kept, some at a time: it reports whether others are to follow by [Tables.ForgetRequeueable].
func (t *Tables) Retire(j *Job, now protocol.Instant, keep rules.Requeueable) (more bool) {
	t.leave(j)
	kept := &ended{Job: &Job{Job: j.Job, Array: j.Array, Local: j.Local, packed: j.packed}, at: max(now, t.requeueable.void+1)} // the clock may have been set back
	if kept.Array == nil {
		kept.bytes = kept.Payload().Bytes()
	}
	t.requeueable.add(kept)
	t.saveRequeueable(j.Spec.Job)
	for range maxForgotten {
		if !t.requeueable.exceeds(keep) {
			return false
		}
		t.forget(t.requeueable.ends[0])
	}
	return t.requeueable.exceeds(keep)
}

// exceeds reports whether there are more than are to be kept.
func (r *requeueable) exceeds(keep rules.Requeueable) bool {
	return len(r.ends) > keep.Jobs || r.bytes > keep.Bytes
}

func newRequeueable() requeueable {
	return requeueable{jobs: map[protocol.JobID]*ended{}, arrays: map[protocol.JobID]*Array{}, elements: map[protocol.JobID]elements{}}
}

func (r *requeueable) add(kept *ended) {
	r.ends = append(r.ends, kept)
	r.jobs[kept.Spec.Job] = kept
	r.bytes += kept.bytes
	if a := kept.Array; a != nil {
		of := r.elements[a.ID()]
		if of.jobs++; of.jobs == 1 {
			of.bytes = a.packed.Unpack(&a.Job).Bytes()
			r.bytes += of.bytes
		}
		r.elements[a.ID()] = of
	}
}

// remove takes a job out. What its array runs stays in the rows.
func (r *requeueable) remove(kept *ended) {
	if r.ends[0] == kept { // as a rule: the others need not move up
		r.ends[0] = nil
		r.ends = r.ends[1:]
	} else {
		at := slices.Index(r.ends, kept)
		r.ends = slices.Delete(r.ends, at, at+1)
	}
	delete(r.jobs, kept.Spec.Job)
	r.bytes -= kept.bytes
	if array := kept.Element.Array; array != 0 {
		of := r.elements[array]
		of.jobs--
		r.elements[array] = of
		if of.jobs == 0 {
			r.bytes -= of.bytes
			delete(r.elements, array)
		}
	}
}

// forget takes out a job that cannot be requeued any more, and what it runs.
func (t *Tables) forget(kept *ended) {
	id, array := kept.Spec.Job, kept.Element.Array
	t.requeueable.remove(kept)
	t.saveRequeueable(id)
	switch {
	case array == 0:
		t.SavePayload(id)
	case t.requeueable.arrays[array] != nil && t.requeueable.elements[array].jobs == 0:
		delete(t.requeueable.arrays, array)
		t.saveRequeueable(array)
		t.SavePayload(array)
	}
}

// LastRequeueable is when the last one ended of what can be requeued; 0: nothing can be.
func (t *Tables) LastRequeueable() (last protocol.Instant) {
	for _, kept := range t.requeueable.ends { // the clock may have been set back between them
		last = max(last, kept.at)
	}
	return last
}

// VoidRequeueable has nothing be requeued that ended at an instant or before. [Tables.ForgetRequeueable] takes it out.
func (t *Tables) VoidRequeueable(until protocol.Instant) {
	t.requeueable.void = max(t.requeueable.void, until)
}

// ForgetRequeueable takes out what ended at an instant or before, or cannot be requeued for another reason, some jobs at a time. It returns
// when the first one ended that is left, 0 if none is, and whether others are to follow at once.
func (t *Tables) ForgetRequeueable(until protocol.Instant, keep rules.Requeueable) (first protocol.Instant, more bool) {
	r := &t.requeueable
	until = max(until, r.void)
	for n := 0; len(r.ends) > 0; n++ {
		first = r.ends[0].at
		if first > until && !r.exceeds(keep) {
			return first, false
		}
		if n == maxForgotten {
			return first, true
		}
		t.forget(r.ends[0])
	}
	return 0, false
}

// Requeueable is a job that has ended and can be requeued; nil: there is none with this ID.
func (t *Tables) Requeueable(id protocol.JobID) *Job {
	if kept := t.requeueable.jobs[id]; kept != nil && kept.at > t.requeueable.void {
		return kept.Job
	}
	return nil
}

// RequeueableOf are the elements of an array, among some indexes, that have ended and can be requeued, in their order.
func (t *Tables) RequeueableOf(a *Array, wanted protocol.Indexes) (jobs []*Job) {
	if t.requeueable.elements[a.ID()].jobs == 0 {
		return nil
	}
	for index := range wanted.All() {
		if j := t.Requeueable((protocol.Element{Array: a.ID(), Index: index}).ID()); j != nil {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// RequeueableArray is an array that has ended, and of which an element can be requeued; nil: there is none with this ID.
func (t *Tables) RequeueableArray(id protocol.JobID) *Array { return t.requeueable.arrays[id] }

// Reopen puts a job that can be requeued back among the open ones, and its array, if that had ended: then it returns true.
// The job is as it ended.
func (t *Tables) Reopen(j *Job) (array bool) {
	id, a := j.Spec.Job, j.Array
	t.requeueable.remove(t.requeueable.jobs[id])
	t.saveRequeueable(id)
	if a != nil {
		array = t.reopenArray(a)
		a.Ended.Add(j.State, -1)
		if a.Ended.State() == protocol.Completed { // so none of the others that have ended has failed
			a.ExitCode = 0
		}
		if len(j.Undelivered) > 0 {
			a.Undelivered--
		}
		a.join(j)
		t.SaveArray(a)
	}
	t.addJob(j)
	return array
}

// reopenArray puts an array back among the open ones, if it has ended. It starts when one of its elements does.
func (t *Tables) reopenArray(a *Array) bool {
	id := a.ID()
	if t.Arrays[id] != nil {
		return false
	}
	delete(t.requeueable.arrays, id)
	t.saveRequeueable(id)
	a.Started = 0
	t.enterArray(a)
	return true
}

// row is the row of a job or an array; false: there is none.
func (r *requeueable) row(id protocol.JobID) (row.Requeueable, bool) {
	if kept := r.jobs[id]; kept != nil {
		job := kept.Job.Job
		return row.Requeueable{At: kept.at, Job: &job, Local: kept.Local}, true
	}
	if a := r.arrays[id]; a != nil {
		array := a.Array
		return row.Requeueable{Array: &array}, true
	}
	return row.Requeueable{}, false
}

// packed is what a job or an array runs, and its row; nil: there is none of its own.
func (r *requeueable) packed(id protocol.JobID) (compact.Payload, *row.Job) {
	if kept := r.jobs[id]; kept != nil && kept.Array == nil {
		return kept.packed, &kept.Job.Job
	}
	if a := r.arrays[id]; a != nil {
		return a.packed, &a.Job
	}
	return compact.Payload{}, nil
}

// restoreRow takes in a row. What it runs follows with [requeueable.restore].
func (r *requeueable) restoreRow(stored row.Requeueable) {
	if stored.Array != nil {
		r.arrays[stored.ID()] = &Array{Array: *stored.Array}
		return
	}
	r.ends = append(r.ends, &ended{Job: &Job{Job: *stored.Job, Local: stored.Local}, at: stored.At})
}

// restore gives jobs and arrays what they run, and elements their arrays, which may be open. It drops those that lack that, as when
// an earlier version has run meanwhile, which leaves these rows as they are and deletes those of an array that ends: without them
// less can be requeued, and nothing else.
func (r *requeueable) restore(open map[protocol.JobID]*Array, pack func(*row.Job) compact.Payload) (dropped []protocol.JobID) {
	ends := r.ends
	r.ends = nil
	slices.SortFunc(ends, func(a, b *ended) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Spec.Job, b.Spec.Job)) })
	for _, a := range r.arrays {
		a.packed = pack(&a.Job)
	}
	for _, kept := range ends {
		if !r.restoreEnd(kept, open, pack) {
			dropped = append(dropped, kept.Spec.Job)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.arrays)) {
		if r.elements[id].jobs == 0 {
			delete(r.arrays, id)
			dropped = append(dropped, id)
		}
	}
	return dropped
}

// restoreEnd takes in a job, unless there is nothing for it to run.
func (r *requeueable) restoreEnd(kept *ended, open map[protocol.JobID]*Array, pack func(*row.Job) compact.Payload) bool {
	if id := kept.Element.Array; id != 0 {
		kept.Array = cmp.Or(open[id], r.arrays[id])
		if kept.Array == nil || kept.Array.packed.None() {
			return false
		}
	} else if kept.packed = pack(&kept.Job.Job); kept.packed.None() {
		return false
	} else {
		kept.bytes = kept.Payload().Bytes()
	}
	r.add(kept)
	return true
}
