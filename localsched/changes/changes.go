// Package changes is the list of what happened to the jobs of a batch system, as its
// Watch tells it.
package changes

import (
	"crypto/rand"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// PowerBudget is the reason of a pending job that a power budget keeps from starting.
const PowerBudget = "PowerBudget"

// maxListed bounds what [List.After] returns.
const maxListed = 4096

// List is what happened, in order. Its generation is new with each List, so that a cursor
// of an earlier one starts from the beginning. Whoever owns it guards it by a lock.
type List struct {
	generation string
	last       uint64 // the number of the latest change or pulse
	entries    []entry
	forgotten  int           // entries that are gone
	news       chan struct{} // closed and replaced at each change and pulse
}

type entry struct {
	number uint64
	gone   bool
	change localsched.Change
}

// New is a list in which nothing has happened.
func New() *List {
	return &List{generation: rand.Text()[:10], news: make(chan struct{})}
}

// Add appends a change and returns its number.
func (l *List) Add(change localsched.Change) uint64 {
	l.Pulse()
	l.entries = append(l.entries, entry{number: l.last, change: change})
	return l.last
}

// Pulse tells watchers that something has changed that is no job: the load.
func (l *List) Pulse() {
	l.last++
	close(l.news)
	l.news = make(chan struct{})
}

// News is closed when more has happened.
func (l *List) News() <-chan struct{} { return l.news }

// Forget drops changes by their numbers. The list is made anew when half of it is
// dropped.
func (l *List) Forget(numbers ...uint64) {
	for _, number := range numbers {
		i := l.behind(number - 1)
		if i < len(l.entries) && l.entries[i].number == number && !l.entries[i].gone {
			l.entries[i] = entry{number: number, gone: true}
			l.forgotten++
		}
	}
	if 2*l.forgotten > len(l.entries) {
		l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return e.gone })
		l.forgotten = 0
	}
}

// After lists what happened after the cursor, and the cursor behind that. Moved says
// whether anything has; the list is empty when it was a pulse, or is forgotten.
func (l *List) After(cursor localsched.Cursor) (list []localsched.Change, next localsched.Cursor, moved bool) {
	from := l.parse(cursor)
	to := l.last
	for _, e := range l.entries[l.behind(from):] {
		if e.gone {
			continue
		}
		list = append(list, e.change)
		if len(list) == maxListed {
			to = e.number
			break
		}
	}
	return list, localsched.Cursor(l.generation + "-" + strconv.FormatUint(to, 10)), to > from
}

// behind is the place of the first entry with a higher number.
func (l *List) behind(number uint64) int {
	return sort.Search(len(l.entries), func(i int) bool { return l.entries[i].number > number })
}

// parse is the number in a cursor, 0 for one of another generation or of nobody.
func (l *List) parse(cursor localsched.Cursor) uint64 {
	digits, mine := strings.CutPrefix(string(cursor), l.generation+"-")
	number, err := strconv.ParseUint(digits, 10, 64)
	if !mine || err != nil || number > l.last {
		return 0
	}
	return number
}
