package localrun

import (
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Watch is how far the local queue is watched; what is in it that no row knows, since the rows may have been
// lost, or be older; and which ends of runs are not taken yet.
type Watch struct {
	Cursor localsched.Cursor // so far its changes are known

	aside    map[protocol.JobID]map[protocol.Epoch]localsched.Change // the last of each
	held     map[protocol.Tag]localsched.Change                      // the end of each
	failures int                                                     // since it worked
}

// MayForget says whether the changes up to the cursor need not be reported again after a restart. As
// long as the local queue has jobs that no row knows, or ends are held, they must be.
func (w *Watch) MayForget() bool { return len(w.aside) == 0 && len(w.held) == 0 }

// Failed counts a failure, and is how many came before it since the watch worked.
func (w *Watch) Failed() int {
	w.failures++
	return w.failures - 1
}

// Works is how often the watch has failed before it works now.
func (w *Watch) Works() int {
	defer func() { w.failures = 0 }()
	return w.failures
}

// Put sets a job aside that no row knows, as it was last reported. It is false if it was there already.
func (w *Watch) Put(c localsched.Change) bool {
	if w.aside == nil {
		w.aside = map[protocol.JobID]map[protocol.Epoch]localsched.Change{}
	}
	of := w.aside[c.Tag.Job]
	if of == nil {
		of = map[protocol.Epoch]localsched.Change{}
		w.aside[c.Tag.Job] = of
	}
	_, known := of[c.Tag.Epoch]
	of[c.Tag.Epoch] = c
	return !known
}

// Aside is what is known of such a job. It is false for any other.
func (w *Watch) Aside(tag protocol.Tag) (localsched.Change, bool) {
	c, ok := w.aside[tag.Job][tag.Epoch]
	return c, ok
}

// Later is what is known of the latest such placement of a job after that at an epoch. It is false if there is none.
func (w *Watch) Later(after protocol.Tag) (latest localsched.Change, ok bool) {
	for epoch, c := range w.aside[after.Job] {
		if epoch > max(after.Epoch, latest.Tag.Epoch) {
			latest, ok = c, true
		}
	}
	return latest, ok
}

// Waits says whether such a job waits in the local queue.
func (w *Watch) Waits(tag protocol.Tag) bool {
	c, ok := w.Aside(tag)
	return ok && c.State == protocol.Pending
}

// Remove forgets such a job: a row knows it now, or it is in the local queue no longer.
func (w *Watch) Remove(tag protocol.Tag) {
	delete(w.aside[tag.Job], tag.Epoch)
	if len(w.aside[tag.Job]) == 0 {
		delete(w.aside, tag.Job)
	}
}

// Tags are the tags of these jobs, in order.
func (w *Watch) Tags() (tags []protocol.Tag) {
	for job, of := range w.aside {
		for epoch := range of {
			tags = append(tags, protocol.Tag{Job: job, Epoch: epoch})
		}
	}
	slices.SortFunc(tags, row.CompareTags)
	return tags
}

// Waiting are those that wait in the local queue, in order.
func (w *Watch) Waiting() []protocol.Tag {
	return slices.DeleteFunc(w.Tags(), func(tag protocol.Tag) bool { return !w.Waits(tag) })
}

// HoldEnd keeps the end of a run for later.
func (w *Watch) HoldEnd(c localsched.Change) {
	if w.held == nil {
		w.held = map[protocol.Tag]localsched.Change{}
	}
	w.held[c.Tag] = c
}

// HeldEnd is the end of a run that is kept for later. It is false if there is none.
func (w *Watch) HeldEnd(tag protocol.Tag) (localsched.Change, bool) {
	c, ok := w.held[tag]
	return c, ok
}

// DropEnd forgets the end of a run: it is taken, or the run is gone.
func (w *Watch) DropEnd(tag protocol.Tag) { delete(w.held, tag) }

// HeldEnds are the tags of the runs whose ends are kept for later, in order.
func (w *Watch) HeldEnds() []protocol.Tag {
	return slices.SortedFunc(maps.Keys(w.held), row.CompareTags)
}
