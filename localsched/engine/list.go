package engine

import (
	"iter"
	"slices"
	"sort"
)

// chunkSize bounds a chunk. Larger chunks are skipped faster, smaller ones
// changed faster.
const chunkSize = 32

// list is an ordered list in chunks: items are inserted and removed anywhere at
// the cost of one chunk, and a summary of each chunk lets a search pass over it
// unread. With compare functions that never return 0, order is total.
type list[T, S any] struct {
	compare func(a, b T) int
	summary func(items []T) S
	chunks  []chunk[T, S] // none is empty
	length  int
	spare   [][]T // item slices of chunks given up
}

type chunk[T, S any] struct {
	items   []T
	summary S
}

// Cursor is a place in the queue. The zero Cursor is its beginning. Removing the
// job at a cursor leaves the cursor at the job that followed.
type Cursor struct{ chunk, index int }

// After is the place behind the job at c.
func (c Cursor) After() Cursor { return Cursor{c.chunk, c.index + 1} }

func (l *list[T, S]) first() (item T, ok bool) {
	if l.length == 0 {
		return item, false
	}
	return l.chunks[0].items[0], true
}

func (l *list[T, S]) at(c Cursor) *T { return &l.chunks[c.chunk].items[c.index] }

// all yields the items in order. They may be changed where that keeps the order.
func (l *list[T, S]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range l.chunks {
			for j := range l.chunks[i].items {
				if !yield(&l.chunks[i].items[j]) {
					return
				}
			}
		}
	}
}

func (l *list[T, S]) insert(item T) {
	l.length++
	if len(l.chunks) == 0 {
		l.addChunk(0)
	}
	c := l.search(item)
	if len(l.chunks[c.chunk].items) == chunkSize {
		c = l.split(c)
	}
	at := &l.chunks[c.chunk]
	at.items = slices.Insert(at.items, c.index, item)
	at.summary = l.summary(at.items)
}

func (l *list[T, S]) remove(c Cursor) {
	l.length--
	at := &l.chunks[c.chunk]
	at.items = slices.Delete(at.items, c.index, c.index+1)
	if len(at.items) == 0 {
		l.spare = append(l.spare, at.items)
		l.chunks = slices.Delete(l.chunks, c.chunk, c.chunk+1)
		return
	}
	at.summary = l.summary(at.items)
}

// find is where an item that compares equal stands. The list is not empty.
func (l *list[T, S]) find(item T) (c Cursor, ok bool) {
	c, ok = l.from(item)
	return c, ok && l.compare(*l.at(c), item) == 0
}

// from is the first place whose item does not come before the given one. The
// list is not empty.
func (l *list[T, S]) from(item T) (c Cursor, ok bool) {
	c = l.search(item)
	if c.index == len(l.chunks[c.chunk].items) {
		c = Cursor{chunk: c.chunk + 1}
	}
	return c, c.chunk < len(l.chunks)
}

// search is the first place whose item does not come before the given one, in
// the last chunk that begins no later than it. There is at least one chunk.
func (l *list[T, S]) search(item T) Cursor {
	last := len(l.chunks) - 1
	if items := l.chunks[last].items; len(items) == 0 || l.compare(items[len(items)-1], item) < 0 {
		return Cursor{last, len(items)}
	}
	at := sort.Search(last, func(i int) bool { return l.compare(l.chunks[i+1].items[0], item) > 0 })
	index, _ := slices.BinarySearchFunc(l.chunks[at].items, item, l.compare)
	return Cursor{at, index}
}

// split makes room in the full chunk at c and returns where c has moved. Behind
// the end it begins a new chunk, so that a list which only grows stays dense.
func (l *list[T, S]) split(c Cursor) Cursor {
	l.addChunk(c.chunk + 1)
	if c.index == chunkSize {
		return Cursor{c.chunk + 1, 0}
	}
	const half = chunkSize / 2
	full, rest := &l.chunks[c.chunk], &l.chunks[c.chunk+1]
	rest.items = append(rest.items, full.items[half:]...)
	full.items = full.items[:half]
	full.summary, rest.summary = l.summary(full.items), l.summary(rest.items)
	if c.index > half {
		return Cursor{c.chunk + 1, c.index - half}
	}
	return c
}

func (l *list[T, S]) addChunk(at int) {
	l.chunks = slices.Insert(l.chunks, at, chunk[T, S]{items: l.items()})
}

func (l *list[T, S]) items() []T {
	if n := len(l.spare); n > 0 {
		items := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return items[:0]
	}
	return make([]T, 0, chunkSize)
}

// copyFrom makes the list equal to another one of the same order.
func (l *list[T, S]) copyFrom(other *list[T, S]) {
	for _, c := range l.chunks {
		l.spare = append(l.spare, c.items)
	}
	l.chunks = l.chunks[:0]
	for _, c := range other.chunks {
		l.chunks = append(l.chunks, chunk[T, S]{append(l.items(), c.items...), c.summary})
	}
	l.length = other.length
}
