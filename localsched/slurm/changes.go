package slurm

import (
	"fmt"
	"slices"
	"sort"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// maxWatched bounds what one Watch returns.
const maxWatched = 4096

// place is where a change stands in the order of all: first the number of the
// adapter's opening, then the number within it. So what is reported after a
// restart is behind every cursor of before.
type place struct {
	Generation uint64 `json:"generation"`
	Number     uint64 `json:"number"`
}

func (p place) less(q place) bool {
	return p.Generation < q.Generation || p.Generation == q.Generation && p.Number < q.Number
}

func (p place) cursor() localsched.Cursor {
	return localsched.Cursor(fmt.Sprintf("%d-%d", p.Generation, p.Number))
}

// parseCursor is the place in a cursor; the beginning for one of nobody.
func parseCursor(cursor localsched.Cursor) (p place) {
	var rest string
	if n, _ := fmt.Sscanf(string(cursor), "%d-%d%s", &p.Generation, &p.Number, &rest); n != 2 {
		return place{}
	}
	return p
}

// changes is the list of what happened to jobs, in order.
type changes struct {
	last      place
	entries   []reported
	forgotten int           // entries of forgotten jobs
	news      chan struct{} // closed and replaced at each change
}

type reported struct {
	place  place
	gone   bool
	change localsched.Change
}

func newChanges(generation uint64) changes {
	return changes{last: place{Generation: generation}, news: make(chan struct{})}
}

// add appends a change and returns its place.
func (c *changes) add(change localsched.Change) place {
	c.last.Number++
	c.entries = append(c.entries, reported{place: c.last, change: change})
	close(c.news)
	c.news = make(chan struct{})
	return c.last
}

// restore enters a change where an earlier opening of the spool has reported it.
func (c *changes) restore(at place, change localsched.Change) {
	c.entries = slices.Insert(c.entries, c.behind(at), reported{place: at, change: change})
}

// forget drops changes. The list is made anew when half of it is dropped.
func (c *changes) forget(places []place) {
	for _, p := range places {
		i := c.behind(p) - 1
		if i >= 0 && c.entries[i].place == p && !c.entries[i].gone {
			c.entries[i] = reported{place: p, gone: true}
			c.forgotten++
		}
	}
	if 2*c.forgotten > len(c.entries) {
		c.entries = slices.DeleteFunc(c.entries, func(r reported) bool { return r.gone })
		c.forgotten = 0
	}
}

// after lists what happened after a place, and the place behind that.
func (c *changes) after(from place) ([]localsched.Change, place) {
	if c.last.less(from) {
		from = place{}
	}
	var list []localsched.Change
	for _, r := range c.entries[c.behind(from):] {
		if len(list) == maxWatched {
			break
		}
		from = r.place
		if !r.gone {
			list = append(list, r.change)
		}
	}
	return list, from
}

// behind is the index of the first entry after a place.
func (c *changes) behind(p place) int {
	return sort.Search(len(c.entries), func(i int) bool { return p.less(c.entries[i].place) })
}
