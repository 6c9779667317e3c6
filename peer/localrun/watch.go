package localrun

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Watch is how far the local queue is watched, and what is in it that no row knows: the rows may
// have been lost, or be older.
type Watch struct {
	Cursor localsched.Cursor // so far its changes are known

	aside    map[protocol.Tag]localsched.Change // the last of each
	failures int                                // since it worked
}

// MayForget says whether the changes up to the cursor need not be reported again after a restart. As
// long as the local queue has jobs that no row knows, they must be reported again after a restart.
func (w *Watch) MayForget() bool { return len(w.aside) == 0 }

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
		w.aside = map[protocol.Tag]localsched.Change{}
	}
	_, known := w.aside[c.Tag]
	w.aside[c.Tag] = c
	return !known
}

// Aside is what is known of such a job. It is false for any other.
func (w *Watch) Aside(tag protocol.Tag) (localsched.Change, bool) {
	c, ok := w.aside[tag]
	return c, ok
}

// Waits says whether such a job waits in the local queue.
func (w *Watch) Waits(tag protocol.Tag) bool { return w.aside[tag].State == protocol.Pending }

// Remove forgets such a job: a row knows it now, or it is in the local queue no longer.
func (w *Watch) Remove(tag protocol.Tag) { delete(w.aside, tag) }

// Tags are the tags of these jobs, in order.
func (w *Watch) Tags() []protocol.Tag {
	return slices.SortedFunc(maps.Keys(w.aside), func(a, b protocol.Tag) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Epoch, b.Epoch))
	})
}

// Waiting are those that wait in the local queue, in order.
func (w *Watch) Waiting() []protocol.Tag {
	return slices.DeleteFunc(w.Tags(), func(tag protocol.Tag) bool { return !w.Waits(tag) })
}
