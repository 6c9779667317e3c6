// Package changefeed is the change feed of a batch system: what happened to its jobs, as
// its Watch reports it.
package changefeed

import (
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// PowerBudget is the reason of a pending job that a power budget keeps from starting.
const PowerBudget = "PowerBudget"

// maxListed bounds what [Feed.After] returns.
const maxListed = 4096

// Place is where a change stands in the order of all: first the generation of the feed that
// reported it, then its number there. So what a later generation reports is behind every
// cursor of an earlier one.
type Place struct {
	Generation uint64 `json:"generation"`
	Number     uint64 `json:"number"`
}

func (p Place) before(q Place) bool {
	return p.Generation < q.Generation || p.Generation == q.Generation && p.Number < q.Number
}

func (p Place) cursor() localsched.Cursor {
	return localsched.Cursor(strconv.FormatUint(p.Generation, 10) + "-" + strconv.FormatUint(p.Number, 10))
}

// parsePlace is the place in a cursor; the beginning for an unknown cursor.
func parsePlace(cursor localsched.Cursor) Place {
	if cursor == "" {
		return Place{}
	}
	generation, number, _ := strings.Cut(string(cursor), "-")
	g, invalid := strconv.ParseUint(generation, 10, 64)
	n, err := strconv.ParseUint(number, 10, 64)
	if invalid != nil || err != nil {
		return Place{}
	}
	return Place{Generation: g, Number: n}
}

// Feed is what happened, in order. Whoever owns it guards it by a lock.
type Feed struct {
	last      Place // of the latest change or pulse
	entries   []entry
	forgotten int           // entries that are gone
	news      chan struct{} // closed and replaced at each change and pulse
}

type entry struct {
	place  Place
	gone   bool
	change localsched.Change
}

// Job is what a feed has reported of one job and not dropped since.
type Job struct {
	last   localsched.Change // without an outcome
	places []Place
}

// Clone is what is reported of the job in a [Feed.Clone].
func (j *Job) Clone() Job { return Job{last: j.last, places: slices.Clone(j.places)} }

// Reported reports whether anything is reported of the job.
func (j *Job) Reported() bool { return len(j.places) > 0 }

// New is an empty feed. With a generation that no other has had, a cursor of any other feed is
// at its beginning. If it is higher than all before it, then cursors outlive the feeds:
// [Feed.Restore] says where a change was reported by an earlier one.
func New(generation uint64) *Feed {
	return &Feed{last: Place{Generation: generation}, news: make(chan struct{})}
}

// Clone is a feed of its own in which the same has happened.
func (f *Feed) Clone() *Feed {
	return &Feed{last: f.last, entries: slices.Clone(f.entries), forgotten: f.forgotten, news: make(chan struct{})}
}

// Report appends a change of a job, and returns the place of the job's last one. It replaces
// that if the state is the same: only the reason, such as why the job is pending, is another.
// What is no news is left out, as batch systems repeat themselves: the same change once more, a
// state that the job is past, and all that follows a terminal one.
func (f *Feed) Report(j *Job, change localsched.Change) Place {
	last := len(j.places) - 1
	if last >= 0 && !j.isNews(change) {
		return j.places[last]
	}
	if last >= 0 && j.last.State == change.State {
		f.drop(j.places[last:])
		j.places = j.places[:last]
	}
	f.Pulse()
	f.entries = append(f.entries, entry{place: f.last, change: change})
	j.enter(f.last, change)
	return f.last
}

func (j *Job) isNews(change localsched.Change) bool {
	switch {
	case j.last.State.Terminal(), change.State < j.last.State:
		return false
	case change.State > j.last.State:
		return true
	}
	return change.Reason != j.last.Reason || change.Started != j.last.Started || change.TimeLimit != j.last.TimeLimit
}

func (j *Job) enter(at Place, change localsched.Change) {
	j.last, j.places = change, append(j.places, at)
	j.last.Outcome = protocol.Outcome{}
}

// Restore enters a change of a job where an earlier generation has reported it.
func (f *Feed) Restore(j *Job, at Place, change localsched.Change) {
	f.entries = slices.Insert(f.entries, f.behind(at), entry{place: at, change: change})
	j.enter(at, change)
}

// Pulse has watchers return though no job has changed: the load has.
func (f *Feed) Pulse() {
	f.last.Number++
	close(f.news)
	f.news = make(chan struct{})
}

// News is closed when more has happened.
func (f *Feed) News() <-chan struct{} { return f.news }

// Forget drops all that is reported of a job.
func (f *Feed) Forget(j *Job) {
	f.drop(j.places)
	*j = Job{}
}

// drop drops changes. The list is copied when half of it is dropped.
func (f *Feed) drop(places []Place) {
	for _, p := range places {
		i := f.behind(p) - 1
		if i >= 0 && f.entries[i].place == p && !f.entries[i].gone {
			f.entries[i] = entry{place: p, gone: true}
			f.forgotten++
		}
	}
	if 2*f.forgotten > len(f.entries) {
		f.entries = slices.DeleteFunc(f.entries, func(e entry) bool { return e.gone })
		f.forgotten = 0
	}
}

// After lists what happened after the cursor, and the cursor behind that. Moved says
// whether anything has; the list is empty when it was a pulse, or is forgotten.
func (f *Feed) After(cursor localsched.Cursor) (list []localsched.Change, next localsched.Cursor, moved bool) {
	from := parsePlace(cursor)
	if f.last.before(from) {
		from = Place{}
	}
	to := f.last
	for _, e := range f.entries[f.behind(from):] {
		if e.gone {
			continue
		}
		list = append(list, e.change)
		if len(list) == maxListed {
			to = e.place
			break
		}
	}
	moved = from.before(to) && (f.last.Number > 0 || len(list) > 0)
	return list, to.cursor(), moved
}

// Watch implements [localsched.Runner].Watch for a scheduler that guards its feed by a lock: it
// waits for what happens after the cursor. It returns [localsched.ErrClosed] when the scheduler
// is gone. Load is called without the lock.
func (f *Feed) Watch(
	ctx context.Context, guard Locker, gone <-chan struct{}, after localsched.Cursor, load func() (protocol.Load, error),
) (w localsched.Watched, err error) {
	for {
		guard.Lock()
		list, cursor, moved := f.After(after)
		news := f.news
		guard.Unlock()
		if moved {
			w.Changes, w.Cursor = list, cursor
			w.Load, err = load()
			return w, err
		}
		select {
		case <-news:
		case <-gone:
			return w, localsched.ErrClosed
		case <-ctx.Done():
			return w, ctx.Err()
		}
	}
}

// Locker is a lock.
type Locker interface {
	Lock()
	Unlock()
}

// behind is the index of the first entry after a place.
func (f *Feed) behind(p Place) int {
	return sort.Search(len(f.entries), func(i int) bool { return p.before(f.entries[i].place) })
}
