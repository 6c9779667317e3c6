package tables

import (
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/compact"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Array is a job array of this origin whose elements have not all ended. Naively, each element would be a job from
// its submission on. But ten thousand of them would then be asked about, placed and cancelled one by one; so an
// element becomes a job only when it is its turn to be placed, see [Array.Room].
type Array struct {
	row.Array

	packed   compact.Payload
	jobs     map[int]*Job // elements that are jobs, by their indexes
	unplaced int          // those of them that have not started, and neither are held nor wait
	held     int          // in the grid queue
	waiting  int          // in the grid queue, for others to end, see [Tables.Throttle]
}

// Ahead is how many elements of an array are jobs that have not started, unless fewer are left; where more
// run, as many as run. Sites have then always something to start, and little to give back when the array is cancelled.
const Ahead = 256

// Open is how many elements are jobs.
func (a *Array) Open() int { return len(a.jobs) }

// Running is how many of these have started.
func (a *Array) Running() int { return a.placed() - a.unplaced }

// placed is how many are placed or run, or are to be placed now.
func (a *Array) placed() int { return len(a.jobs) - a.held - a.waiting }

// Throttled says whether the array has as many elements placed or running as its user allows.
func (a *Array) Throttled() bool { return a.Asked.Throttle > 0 && a.placed() >= a.Asked.Throttle }

// Room is how many elements shall become jobs at an instant. They come many at a time, so that one round has many of them.
func (a *Array) Room(now protocol.Instant) int {
	if a.HoldReason(now) != "" {
		return 0
	}
	ahead := max(Ahead, a.Running())
	room := ahead - a.unplaced
	if room < ahead/2 {
		return 0
	}
	if throttle := a.Asked.Throttle; throttle > 0 {
		room = min(room, throttle-a.placed()-a.waiting)
	}
	return max(0, min(room, a.Ready(now).Len()))
}

// mayFollow is how many of the elements that wait need not do so any more.
func (a *Array) mayFollow() int {
	if a.Asked.Throttle == 0 { // it had one
		return a.waiting
	}
	return max(0, min(a.waiting, a.Asked.Throttle-a.placed()))
}

// Throttle says whether an element that is to be placed has to wait in the grid queue first until others of its array have
// ended: more were drawn than may run at once, some of which were held.
func (t *Tables) Throttle(j *Job) bool {
	if j.Array == nil {
		return false
	}
	if j.Array.Asked.Throttle == 0 { // it may have had one
		j.waits = false
		t.countElement(j)
		return false
	}
	for _, waits := range []bool{false, true} {
		if j.waits = waits; waits && j.Array.placed() <= j.Array.Asked.Throttle {
			j.waits = false
		}
		t.countElement(j)
	}
	return j.waits
}

// HoldBack notes whether a job of the grid queue must not be placed for a reason of its own. An element of an array that must not
// does not count among those that are placed, nor among those that wait for others.
func (t *Tables) HoldBack(j *Job, holds bool) {
	if j.holds != holds {
		j.holds, j.waits = holds, j.waits && !holds
		t.countElement(j)
	}
}

// Followers are the elements that wait, and need not do so any more. They count as placed from now on.
func (t *Tables) Followers(a *Array) (jobs []*Job) {
	left := a.mayFollow()
	for _, j := range a.JobsOf(a.Asked.Indexes) {
		if left == 0 {
			break
		}
		if j.stands.waits { // as mayFollow counts
			j.waits = false
			t.countElement(j)
			jobs, left = append(jobs, j), left-1
		}
	}
	return jobs
}

// Over says whether all elements have ended.
func (a *Array) Over() bool { return len(a.jobs) == 0 && a.Pending.IsZero() }

// AddArray takes a new array in, with what its elements run.
func (t *Tables) AddArray(a *Array, payload *protocol.Payload) {
	t.alike.Row(&a.Job)
	a.packed = t.alike.Pack(a.Job.Spec.User, &a.Job, payload)
	t.enterArray(a)
	t.countPending(a, a.Pending.Len())
	t.SaveArray(a)
	t.SavePayload(a.ID())
}

// enterArray takes in an array that is new or restored.
func (t *Tables) enterArray(a *Array) {
	t.Arrays[a.ID()] = a
	at, _ := slices.BinarySearch(t.arrayIDs, a.ID())
	t.arrayIDs = slices.Insert(t.arrayIDs, at, a.ID())
	t.waiting.add(&a.Job, false)
}

// RemoveArray takes an array out whose elements have ended. It is kept with those that can be requeued.
func (t *Tables) RemoveArray(a *Array) {
	delete(t.Arrays, a.ID())
	at, _ := slices.BinarySearch(t.arrayIDs, a.ID())
	t.arrayIDs = slices.Delete(t.arrayIDs, at, at+1)
	t.waiting.remove(&a.Job, false, t.isNamed)
	t.SaveArray(a)
	if t.requeueable.elements[a.ID()].jobs > 0 {
		t.requeueable.arrays[a.ID()] = a
		t.saveRequeueable(a.ID())
		return
	}
	t.SavePayload(a.ID())
}

// SaveArray marks the row of an array, whose next elements may have to become jobs.
func (t *Tables) SaveArray(a *Array) {
	t.changedArrays[a.ID()] = true
	t.mark(row.ArrayTable, a.ID())
}

// countPending counts elements that are no jobs yet (or, if negative, are not any more) as open jobs.
func (t *Tables) countPending(a *Array, elements int) {
	t.pending += elements
	t.countOpen(&a.Job.Spec, elements)
}

// countOpen counts jobs of one description that have not ended.
func (t *Tables) countOpen(spec *protocol.Spec, jobs int) {
	t.Fair.Open(spec, jobs)
	user := spec.User
	if t.ofUser[user] += jobs; t.ofUser[user] == 0 {
		delete(t.ofUser, user)
	}
}

// Open counts the jobs of this origin that have not ended, elements of arrays that are no jobs yet among them.
func (t *Tables) Open() int { return len(t.Jobs) + t.pending }

// ArrayIDs are the arrays, in order.
func (t *Tables) ArrayIDs() []protocol.JobID { return slices.Clone(t.arrayIDs) }

// ElementOf is the array and the index that a job ID belongs to, whether the element has become a job or not; false:
// it belongs to no array that has not ended.
func (t *Tables) ElementOf(id protocol.JobID) (a *Array, index int, ok bool) {
	at, _ := slices.BinarySearch(t.arrayIDs, id)
	if at == 0 {
		return nil, 0, false
	}
	a = t.Arrays[t.arrayIDs[at-1]] // no other one can have it, since the blocks of arrays do not overlap
	if uint64(id-a.ID()) >= a.Asked.Block() {
		return nil, 0, false
	}
	index = int(id - a.ID() - 1) //nolint:gosec // it is within the block
	return a, index, a.Asked.Indexes.Has(index)
}

// JobsOf are the elements among some indexes that are jobs, in their order.
func (a *Array) JobsOf(wanted protocol.Indexes) (jobs []*Job) {
	for _, index := range slices.Sorted(maps.Keys(a.jobs)) {
		if wanted.Has(index) {
			jobs = append(jobs, a.jobs[index])
		}
	}
	return jobs
}

// Draw makes a job of an element that is none yet.
func (t *Tables) Draw(a *Array, index int) *Job {
	a.Pending = a.Pending.Without(protocol.IndexesOf(index))
	return t.draw(a, index)
}

// DrawNext makes jobs of the next elements among some that are pending.
func (t *Tables) DrawNext(a *Array, among protocol.Indexes, elements int) (jobs []*Job) {
	next, _ := among.Split(elements)
	a.Pending = a.Pending.Without(next)
	for index := range next.All() {
		jobs = append(jobs, t.draw(a, index))
	}
	return jobs
}

func (t *Tables) draw(a *Array, index int) *Job {
	j := &Job{Job: a.Element(index), Array: a}
	t.alike.Row(&j.Job)
	t.countPending(a, -1)
	t.addJob(j)
	a.join(j)
	t.countElement(j)
	t.SaveArray(a)
	return j
}

func (a *Array) join(j *Job) {
	if a.jobs == nil {
		a.jobs = map[int]*Job{}
	}
	a.jobs[j.Element.Index] = j
}

// EndPending ends elements that are no jobs, as CANCELLED.
func (t *Tables) EndPending(a *Array, which protocol.Indexes) {
	a.Pending, a.Cancelled = a.Pending.Without(which), a.Cancelled.Or(which)
	a.Ended.Add(protocol.Cancelled, which.Len())
	t.countPending(a, -which.Len())
	t.SaveArray(a)
}

// countElement counts an element of an array among those that have not started, or not among them, as its row is now.
func (t *Tables) countElement(j *Job) {
	a := j.Array
	if a == nil {
		return
	}
	stands := standing{open: t.Jobs[j.Spec.Job] == j}
	if stands.open && j.State == protocol.Pending {
		queued := j.Phase == row.JobInGridQueue
		stands.held = queued && (j.holds || j.Wants().Hold != "")
		stands.waits = queued && j.waits && !stands.held
		stands.unplaced = !stands.held && !stands.waits
	}
	if stands == j.stands {
		return
	}
	a.unplaced += count(stands.unplaced) - count(j.stands.unplaced)
	a.held += count(stands.held) - count(j.stands.held)
	a.waiting += count(stands.waits) - count(j.stands.waits)
	j.stands = stands
	if j.State == protocol.Running && a.Started == 0 {
		a.Started = j.Started
		t.SaveArray(a)
	}
	t.changedArrays[a.ID()] = true
}

// standing is how an element counts in its array.
type standing struct{ open, unplaced, held, waits bool }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// CountElements counts the elements whose rows this step has changed so far.
func (t *Tables) CountElements() {
	if len(t.Arrays) == 0 {
		return
	}
	for _, d := range t.changed.Changed() {
		if d.Table == row.JobTable {
			if j := t.Jobs[d.Job]; j != nil {
				t.countElement(j)
			}
		}
	}
}

// WithRoom are the arrays of which elements shall become jobs now, or need not wait any more, the oldest first. It looks at those that have
// changed since it was called last.
func (t *Tables) WithRoom(now protocol.Instant) (arrays []*Array) {
	for _, id := range slices.Sorted(maps.Keys(t.changedArrays)) {
		if a := t.Arrays[id]; a != nil && (a.Room(now) > 0 || a.mayFollow() > 0) {
			arrays = append(arrays, a)
		}
	}
	clear(t.changedArrays)
	return arrays
}

// HasRoom says whether [Tables.WithRoom] has any array now.
func (t *Tables) HasRoom(now protocol.Instant) bool {
	for id := range t.changedArrays {
		if a := t.Arrays[id]; a != nil && (a.Room(now) > 0 || a.mayFollow() > 0) {
			return true
		}
	}
	return false
}

// restoreArrays gives arrays what their elements run.
func (t *Tables) restoreArrays(payloads map[protocol.JobID]compact.Payload) error {
	for _, id := range t.arrayIDs {
		a, payload := t.Arrays[id], payloads[id]
		if payload.None() {
			return fmt.Errorf("array %v has no payload row", id)
		}
		a.packed = t.alike.Pack(a.Job.Spec.User, &a.Job, payload.Unpack(&row.Job{}))
		t.countPending(a, a.Pending.Len())
		t.changedArrays[id] = true
	}
	return nil
}

// restoreElement joins an element that is a job to its array.
func (t *Tables) restoreElement(j *Job) error {
	a := t.Arrays[j.Element.Array]
	if a == nil {
		return fmt.Errorf("job %v is of array %v, which has no row", j.Spec.Job, j.Element.Array)
	}
	j.Array = a
	a.join(j)
	t.countElement(j)
	return nil
}

// checkArray looks at an array.
//
// Invariant: an element is pending, a job, or has ended. TestArrayRows checks it.
func (t *Tables) checkArray(a *Array) error {
	if a == nil {
		return nil
	}
	e := &a.Ended
	ended := e.Completed + e.Failed + e.Cancelled + e.Timeout + e.NodeFail
	if all := a.Asked.Indexes.Len(); a.Pending.Len()+len(a.jobs)+ended != all {
		return fmt.Errorf("array %v has %d elements: %d are pending, %d are jobs, %d have ended", a.ID(), all, a.Pending.Len(), len(a.jobs), ended)
	}
	return nil
}
