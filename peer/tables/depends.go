package tables

import (
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// dependents finds the jobs that wait for others: by the job that is waited for, and by the name that singletons share.
type dependents struct {
	of         waiters // the jobs with open terms about a job
	singletons waiters // the elements of an array that are jobs with an open singleton
	named      map[named]*namesakes
}

// waiters are the jobs that wait, by what they wait for.
type waiters map[protocol.JobID]map[protocol.JobID]bool

func (w waiters) add(awaited, job protocol.JobID) {
	if w[awaited] == nil {
		w[awaited] = map[protocol.JobID]bool{}
	}
	w[awaited][job] = true
}

func (w waiters) remove(awaited, job protocol.JobID) {
	delete(w[awaited], job)
	if len(w[awaited]) == 0 {
		delete(w, awaited)
	}
}

// inOrder are the jobs that wait for one.
func (w waiters) inOrder(awaited protocol.JobID) []protocol.JobID {
	return slices.Sorted(maps.Keys(w[awaited]))
}

// named is what jobs have alike of which one at a time runs, if they are singletons.
type named struct{ user, name string }

// namesakes are the open jobs of one user and name.
type namesakes struct {
	ids  []protocol.JobID // ascending; may have some that have gone
	open int              // those that have not
}

// add takes in a job or an array. The elements of an array stand in its place where names matter.
func (d *dependents) add(j *row.Job, element bool) {
	if d.named == nil {
		d.of, d.singletons, d.named = waiters{}, waiters{}, map[named]*namesakes{}
	}
	if !element {
		d.join(j)
	}
	d.await(j)
}

// join takes a job in among those of its name.
func (d *dependents) join(j *row.Job) {
	key := named{j.Spec.User, j.Spec.Name}
	same := d.named[key]
	if same == nil {
		same = &namesakes{}
		d.named[key] = same
	}
	at, found := slices.BinarySearch(same.ids, j.Spec.Job) // the last one, but for rows that are restored, and jobs that are renamed or requeued
	if !found {                                            // as one that has gone, and is back
		same.ids = slices.Insert(same.ids, at, j.Spec.Job)
	}
	same.open++
}

// leave takes a job that goes on under another name out of those of its name.
func (d *dependents) leave(j *row.Job) {
	key := named{j.Spec.User, j.Spec.Name}
	same := d.named[key]
	if same.open--; same.open == 0 {
		delete(d.named, key)
		return
	}
	if at, found := slices.BinarySearch(same.ids, j.Spec.Job); found {
		same.ids = slices.Delete(same.ids, at, at+1)
	}
}

// await has a job wait for those that its dependency names.
func (d *dependents) await(j *row.Job) {
	dependency := j.Wants().Dependency
	if dependency == nil {
		return
	}
	for _, t := range dependency.Terms {
		if set, awaited := d.waitersOf(j, t); awaited != 0 && t.Open() {
			set.add(awaited, j.Spec.Job)
		}
	}
}

// waitersOf is where a job with a term is found, and by what; 0: it is not, since a singleton is found by its name.
func (d *dependents) waitersOf(j *row.Job, t protocol.DependencyTerm) (set waiters, awaited protocol.JobID) {
	if t.Kind == protocol.Singleton {
		return d.singletons, j.Element.Array
	}
	return d.of, t.Job
}

func (d *dependents) remove(j *row.Job, element bool, there func(protocol.JobID) bool) {
	key := named{j.Spec.User, j.Spec.Name}
	if same := d.named[key]; same != nil && !element {
		if same.open--; same.open == 0 {
			delete(d.named, key)
		} else if len(same.ids) > 2*same.open+32 {
			same.ids = slices.DeleteFunc(same.ids, func(id protocol.JobID) bool { return !there(id) })
		}
	}
	d.waitNoMore(j)
}

// waitNoMore undoes await.
func (d *dependents) waitNoMore(j *row.Job) {
	if dependency := j.Wants().Dependency; dependency != nil {
		for _, t := range dependency.Terms {
			set, awaited := d.waitersOf(j, t)
			set.remove(awaited, j.Spec.Job)
		}
	}
}

// isNamed says whether an ID is of a job or an array of which a name is kept.
func (t *Tables) isNamed(id protocol.JobID) bool { return t.Jobs[id] != nil || t.Arrays[id] != nil }

// Stands says whether a job, an array, or an element that is no job yet has not ended.
func (t *Tables) Stands(id protocol.JobID) bool {
	if t.isNamed(id) {
		return true
	}
	a, index, ok := t.ElementOf(id)
	return ok && a.Pending.Has(index)
}

// IsAwaited says whether a job or an array waits for another one.
func (t *Tables) IsAwaited(job protocol.JobID) bool { return len(t.waiting.of[job]) > 0 }

// Dependents are the jobs and arrays that wait for another one, of this origin or not, in order.
func (t *Tables) Dependents(job protocol.JobID) []protocol.JobID {
	return t.waiting.of.inOrder(job)
}

// Singletons are the elements of an array that are jobs and wait until it is the oldest of its user and name, in order.
func (t *Tables) Singletons(array protocol.JobID) []protocol.JobID {
	return t.waiting.singletons.inOrder(array)
}

// SetDependency gives a job or an array terms that its origin has found out more about. The caller saves its row.
func (t *Tables) SetDependency(j *row.Job, d *protocol.Dependency) {
	before, c := j.Wants().Dependency, j.Wants()
	c.Dependency = d
	j.SetConditions(c)
	for _, term := range before.Terms {
		if !d.WaitsFor(term.Job) {
			set, awaited := t.waiting.waitersOf(j, term)
			set.remove(awaited, j.Spec.Job)
		}
	}
}

// FirstNamed is the oldest open job or array of a user and name; 0: there is none.
func (t *Tables) FirstNamed(user, name string) protocol.JobID {
	same := t.waiting.named[named{user, name}]
	if same == nil {
		return 0
	}
	for !t.isNamed(same.ids[0]) {
		same.ids = same.ids[1:]
	}
	return same.ids[0]
}
