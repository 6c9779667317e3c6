package engine

import (
	"math"
	"math/bits"
)

// partitionFreeSet is what is free of a machine in partitions. Jobs are counted on lots and
// cards, so that Release undoes Allocate exactly even if what was taken overlaps. What Intersect
// took is apart from the counts and stays taken.
type partitionFreeSet struct {
	machine  *partitioned
	blocked  []int16 // how many jobs block each lot
	barred   bitset  // lots that Intersect took
	free     bitset  // lots that are neither blocked nor barred
	cardJobs []int16 // how many jobs hold each card
	closed   bitset  // cards that Intersect took
	open     bitset  // cards that are neither held nor closed
	nodes    int     // on open cards
}

// Free is the number of nodes on free cards, whatever partition they could be in.
func (r *partitionFreeSet) Free() int { return r.nodes }

func (r *partitionFreeSet) Find(demand Demand, beside FreeSet) (place Place, ok bool) {
	c := r.machine.class(demand.Units)
	if c == nil || c.nodes != demand.Units {
		return 0, false
	}
	other, both := beside.(*partitionFreeSet)
	least := math.MaxInt
	for i, mask := range c.mask {
		at := c.word + i
		candidates := mask & r.free[at]
		if both {
			candidates &= other.free[at]
		}
		for ; candidates != 0; candidates &= candidates - 1 {
			lot := at*wordBits + bits.TrailingZeros64(candidates)
			if blocks := r.machine.lots[lot].shade.common(r.free); blocks < least {
				place, ok, least = Place(lot), true, blocks //nolint:gosec // lots are numbered in 32 bits
			}
		}
	}
	return place, ok
}

func (r *partitionFreeSet) Has(_ Demand, place Place) bool { return r.free.has(int(place)) }

func (r *partitionFreeSet) Allocate(_ Demand, place Place) {
	l := &r.machine.lots[place]
	for _, lot := range l.blocks {
		r.blocked[lot]++
		if r.blocked[lot] == 1 {
			r.free.clear(int(lot))
		}
	}
	for _, card := range l.cards {
		r.cardJobs[card]++
		if r.cardJobs[card] == 1 && r.open.has(int(card)) {
			r.open.clear(int(card))
			r.nodes -= r.machine.cards[card].Nodes
		}
	}
}

func (r *partitionFreeSet) Release(_ Demand, place Place) {
	l := &r.machine.lots[place]
	for _, lot := range l.blocks {
		r.blocked[lot]--
		if r.blocked[lot] == 0 && !r.barred.has(int(lot)) {
			r.free.set(int(lot))
		}
	}
	for _, card := range l.cards {
		r.cardJobs[card]--
		if r.cardJobs[card] == 0 && !r.closed.has(int(card)) {
			r.open.set(int(card))
			r.nodes += r.machine.cards[card].Nodes
		}
	}
}

func (r *partitionFreeSet) Intersect(other FreeSet) {
	o, ok := other.(*partitionFreeSet)
	if !ok {
		return
	}
	for i, free := range o.free {
		r.free[i] &= free
		r.barred[i] |= ^free
	}
	for i, open := range o.open {
		for lost := r.open[i] &^ open; lost != 0; lost &= lost - 1 {
			r.nodes -= r.machine.cards[i*wordBits+bits.TrailingZeros64(lost)].Nodes
		}
		r.open[i] &= open
		r.closed[i] |= ^open
	}
}

func (r *partitionFreeSet) CopyFrom(other FreeSet) {
	o, ok := other.(*partitionFreeSet)
	if !ok {
		return
	}
	copy(r.blocked, o.blocked)
	copy(r.barred, o.barred)
	copy(r.free, o.free)
	copy(r.cardJobs, o.cardJobs)
	copy(r.closed, o.closed)
	copy(r.open, o.open)
	r.nodes = o.nodes
}

// bitset is a set of small numbers.
type bitset []uint64

const wordBits = 64

// newBitset is an empty set of numbers below a bound.
func newBitset(bound int) bitset { return make(bitset, (bound+wordBits-1)/wordBits) }

// fullBitset is the set of all numbers below a bound.
func fullBitset(bound int) bitset {
	b := newBitset(bound)
	for i := range bound {
		b.set(i)
	}
	return b
}

func (b bitset) set(i int) { b[i/wordBits] |= 1 << (i % wordBits) }

func (b bitset) clear(i int) { b[i/wordBits] &^= 1 << (i % wordBits) }

func (b bitset) has(i int) bool { return b[i/wordBits]&(1<<(i%wordBits)) != 0 }

// common is how many numbers two sets of one bound have in common.
func (b bitset) common(other bitset) (n int) {
	for i, word := range b {
		n += bits.OnesCount64(word & other[i])
	}
	return n
}

// sifter is a room that tells cheaply that a search of several rooms would be in vain.
type sifter interface {
	// sift reports whether some place for a job is free here and in all of the steps.
	sift(demand Demand, steps []step) bool
}

func (r *partitionFreeSet) sift(demand Demand, steps []step) bool {
	c := r.machine.class(demand.Units)
	if c == nil || c.nodes != demand.Units {
		return false
	}
	for i, mask := range c.mask {
		candidates := mask & r.free[c.word+i]
		for s := 0; s < len(steps) && candidates != 0; s++ {
			if o, ok := steps[s].freeSet.(*partitionFreeSet); ok {
				candidates &= o.free[c.word+i]
			}
		}
		if candidates != 0 {
			return true
		}
	}
	return false
}
