package engine

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// book knows the jobs by their tags. The core knows them by slots.
type book struct {
	slots map[protocol.Tag]int
	tags  []protocol.Tag // by slot
	free  []int          // slots
}

func (b *book) add(tag protocol.Tag) (slot int) {
	if n := len(b.free); n > 0 {
		slot, b.free = b.free[n-1], b.free[:n-1]
		b.tags[slot] = tag
	} else {
		slot, b.tags = len(b.tags), append(b.tags, tag)
	}
	b.slots[tag] = slot
	return slot
}

func (b *book) get(tag protocol.Tag) (slot int, err error) {
	slot, ok := b.slots[tag]
	if !ok {
		return 0, fmt.Errorf("job %v: %w", tag, localsched.ErrUnknownJob)
	}
	return slot, nil
}

func (b *book) remove(tag protocol.Tag) {
	b.free = append(b.free, b.slots[tag])
	delete(b.slots, tag)
}

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
