package engine

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// tagIndex maps tags to the slots by which [Core] identifies jobs. Slots are reused.
type tagIndex struct {
	slots map[protocol.Tag]int
	tags  []protocol.Tag // by slot
	free  []int          // slots
}

func (b *tagIndex) add(tag protocol.Tag) (slot int) {
	if n := len(b.free); n > 0 {
		slot, b.free = b.free[n-1], b.free[:n-1]
		b.tags[slot] = tag
	} else {
		slot, b.tags = len(b.tags), append(b.tags, tag)
	}
	b.slots[tag] = slot
	return slot
}

func (b *tagIndex) get(tag protocol.Tag) (slot int, err error) {
	slot, ok := b.slots[tag]
	if !ok {
		return 0, localsched.UnknownJob(tag)
	}
	return slot, nil
}

func (b *tagIndex) remove(tag protocol.Tag) {
	b.free = append(b.free, b.slots[tag])
	delete(b.slots, tag)
}
