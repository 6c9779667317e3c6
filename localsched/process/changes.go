package process

import (
	"context"
	"crypto/rand"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// maxWatched bounds what one Watch returns.
const maxWatched = 4096

// changes is the list of what happened to jobs, in order. Its generation is new
// with each Open, so that a cursor of an earlier one starts from the beginning.
type changes struct {
	generation string
	last       uint64
	entries    []entry
	forgotten  int           // entries of forgotten jobs
	news       chan struct{} // closed and replaced at each change
}

type entry struct {
	seq    uint64
	gone   bool
	change localsched.Change
}

func newChanges() changes {
	return changes{generation: rand.Text()[:10], news: make(chan struct{})}
}

// add appends a change and returns its number.
func (c *changes) add(change localsched.Change) uint64 {
	c.last++
	c.entries = append(c.entries, entry{seq: c.last, change: change})
	close(c.news)
	c.news = make(chan struct{})
	return c.last
}

// forget drops changes by their numbers. The list is made anew when half of it is
// dropped.
func (c *changes) forget(seqs []uint64) {
	for _, seq := range seqs {
		i := c.behind(seq - 1)
		c.entries[i] = entry{seq: seq, gone: true}
		c.forgotten++
	}
	if 2*c.forgotten > len(c.entries) {
		c.entries = slices.DeleteFunc(c.entries, func(e entry) bool { return e.gone })
		c.forgotten = 0
	}
}

// after lists what happened after the cursor, and the cursor behind that.
func (c *changes) after(cursor localsched.Cursor) ([]localsched.Change, localsched.Cursor) {
	seq := c.parse(cursor)
	first := c.behind(seq)
	var list []localsched.Change
	for _, e := range c.entries[first:] {
		if len(list) == maxWatched {
			break
		}
		seq = e.seq
		if !e.gone {
			list = append(list, e.change)
		}
	}
	return list, localsched.Cursor(c.generation + "-" + strconv.FormatUint(seq, 10))
}

// behind is the place of the first entry with a higher number.
func (c *changes) behind(seq uint64) int {
	return sort.Search(len(c.entries), func(i int) bool { return c.entries[i].seq > seq })
}

// parse is the number in a cursor, 0 for one of another generation or of nobody.
func (c *changes) parse(cursor localsched.Cursor) uint64 {
	digits, mine := strings.CutPrefix(string(cursor), c.generation+"-")
	seq, err := strconv.ParseUint(digits, 10, 64)
	if !mine || err != nil || seq > c.last {
		return 0
	}
	return seq
}

// Watch implements [localsched.Runner]. A withdrawn job is not reported: the
// answer to its withdrawal was the report. After Open the state of each job is
// reported again, whatever the cursor.
func (s *Scheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	for {
		s.mu.Lock()
		list, cursor := s.changes.after(after)
		news, load := s.changes.news, s.engine.Load()
		s.mu.Unlock()
		if len(list) > 0 {
			return localsched.Watched{Changes: list, Cursor: cursor, Load: load}, nil
		}
		select {
		case <-news:
		case <-s.gone:
			return localsched.Watched{}, ErrClosed
		case <-ctx.Done():
			return localsched.Watched{}, ctx.Err()
		}
	}
}
