package engine

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// book knows the jobs by their tags. The floor knows them by slots.
type book struct {
	slots   map[protocol.Tag]int
	entries []entry
	free    []int // slots
}

type entry struct {
	tag     protocol.Tag
	waiting Waiting // where it stands, or stood, in the queue
	started bool
	running Running // once started
}

func (b *book) add(tag protocol.Tag, w Waiting) (slot int) {
	if n := len(b.free); n > 0 {
		slot, b.free = b.free[n-1], b.free[:n-1]
	} else {
		slot, b.entries = len(b.entries), append(b.entries, entry{})
	}
	w.slot = slot
	b.entries[slot] = entry{tag: tag, waiting: w}
	b.slots[tag] = slot
	return slot
}

func (b *book) get(tag protocol.Tag) (*entry, error) {
	slot, ok := b.slots[tag]
	if !ok {
		return nil, fmt.Errorf("job %v: %w", tag, ErrUnknown)
	}
	return &b.entries[slot], nil
}

func (b *book) remove(tag protocol.Tag) {
	b.free = append(b.free, b.slots[tag])
	delete(b.slots, tag)
}

func (b *book) tag(slot int) protocol.Tag { return b.entries[slot].tag }

// work is an amount of CPU·ms in 128 bits, so that adding and dropping jobs of
// any length is exact.
type work struct{ high, low uint64 }

func workOf(cpus int, time protocol.Duration) work {
	high, low := bits.Mul64(uint64(max(0, cpus)), uint64(max(0, time)))
	return work{high, low}
}

func (w *work) add(v work) {
	var carry uint64
	w.low, carry = bits.Add64(w.low, v.low, 0)
	w.high, _ = bits.Add64(w.high, v.high, carry)
}

func (w *work) drop(v work) {
	var borrow uint64
	w.low, borrow = bits.Sub64(w.low, v.low, 0)
	w.high, _ = bits.Sub64(w.high, v.high, borrow)
}

// int64 is the amount, or the largest int64 when it is more.
func (w *work) int64() int64 {
	if w.high > 0 || w.low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(w.low)
}
