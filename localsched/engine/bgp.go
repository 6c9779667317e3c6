package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// PlaceNamer is a machine whose places have names for people.
type PlaceNamer interface {
	// PlaceName is empty for what is no place of the machine.
	PlaceName(place Place) string
	// PlaceNamed is the place of a name for a job of the given units.
	PlaceNamed(name string, units int) (place Place, ok bool)
}

// Enabled says which partitions of a layout are given to jobs. Those for
// diagnostics never are.
type Enabled struct {
	Smallest  int  // nodes; smaller partitions are not used
	TorusOnly bool // meshes are not used
}

// Partitioned is a machine whose jobs run each in a partition of its own, as on Blue
// Gene/P. A unit is a node; a job takes as many as the smallest enabled partitions
// have that hold its nodes and CPUs. It waits for one of exactly that size, though a
// larger one be free, and among several gets the one that blocks the fewest free
// ones, the first by name if there are several of these: the rule of Cobalt.
// Partitions that share a node card or a wire, or that the layout sets apart, are
// never taken together.
//
// The capacity's nodes are those of the layout's cards, and its CPUs a multiple of
// them.
func Partitioned(layout *partition.Layout, capacity protocol.Capacity, enabled Enabled) (Machine, error) {
	nodes := layout.Nodes()
	if capacity.Nodes != nodes {
		return nil, fmt.Errorf("the machine has %d nodes, but the cards of its layout have %d; make them equal", capacity.Nodes, nodes)
	}
	if capacity.CPUs < 1 || capacity.CPUs%nodes != 0 {
		return nil, fmt.Errorf("%d CPUs cannot be shared evenly by %d nodes; give a multiple", capacity.CPUs, nodes)
	}
	if len(capacity.Groups) > 1 || hasResources(&capacity) {
		return nil, errors.New("a machine in partitions has no resources beside its nodes, and these are alike; remove them")
	}
	m := &partitioned{capacity: capacity, perNode: capacity.CPUs / nodes, cards: layout.Cards}
	chosen := enabled.of(layout)
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the layout has no partition of at least %d nodes that jobs may use; allow smaller ones or meshes",
			enabled.Smallest)
	}
	if err := m.cut(layout, chosen); err != nil {
		return nil, err
	}
	m.classify()
	return m, nil
}

// of are the indices of the enabled partitions, by size and then by name.
func (e Enabled) of(layout *partition.Layout) (chosen []int) {
	for i := range layout.Partitions {
		p := &layout.Partitions[i]
		if p.Kind == partition.Torus || p.Kind == partition.Mesh && !e.TorusOnly {
			if p.Nodes >= e.Smallest {
				chosen = append(chosen, i)
			}
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int {
		return cmp.Compare(layout.Partitions[a].Nodes, layout.Partitions[b].Nodes)
	})
	return chosen
}

// partitioned is a machine in partitions. A place is the index of one of its lots.
type partitioned struct {
	capacity protocol.Capacity
	perNode  int // CPUs
	cards    []partition.Card
	lots     []jobPartition // by nodes, then by name
	classes  []class        // by nodes
}

// jobPartition is an enabled partition.
type jobPartition struct {
	name   string
	nodes  int
	cards  []int32
	blocks []int32 // the lots that cannot be taken beside it, and itself
	shade  bitset  // the same
}

// class is the lots of one size.
type class struct {
	nodes int
	word  int    // of the bits of lots, where those of the class begin
	mask  bitset // from there
}

// maxBlocks bounds the memory of a machine: lots that block each other, counted twice.
const maxBlocks = 1 << 24

// cut makes the chosen partitions the lots.
func (m *partitioned) cut(layout *partition.Layout, chosen []int) error {
	blocks := 0
	lotOf := make(map[int]int32, len(chosen))
	for at, i := range chosen {
		lotOf[i] = int32(at)
	}
	m.lots = make([]jobPartition, len(chosen))
	for at, i := range chosen {
		p := &layout.Partitions[i]
		l := jobPartition{name: p.Name, nodes: p.Nodes, shade: newBitset(len(chosen))}
		for _, card := range p.Cards {
			l.cards = append(l.cards, int32(card)) //nolint:gosec // nor more than 100,000 cards
		}
		for _, other := range append(layout.Conflicts(i), i) {
			if lot, ok := lotOf[other]; ok {
				l.blocks = append(l.blocks, lot)
				l.shade.set(int(lot))
			}
		}
		m.lots[at] = l
		if blocks += len(l.blocks); blocks > maxBlocks {
			return fmt.Errorf("more than %d pairs of its %d partitions exclude each other; allow fewer partitions",
				maxBlocks/2, len(chosen))
		}
	}
	return nil
}

// classify finds the sizes.
func (m *partitioned) classify() {
	for first := 0; first < len(m.lots); {
		after := first + 1
		for after < len(m.lots) && m.lots[after].nodes == m.lots[first].nodes {
			after++
		}
		c := class{nodes: m.lots[first].nodes, word: first / wordBits}
		c.mask = newBitset(after - c.word*wordBits)
		for i := first; i < after; i++ {
			c.mask.set(i - c.word*wordBits)
		}
		m.classes = append(m.classes, c)
		first = after
	}
}

// class is the smallest one that holds the nodes, nil if none does.
func (m *partitioned) class(nodes int) *class {
	i := sort.Search(len(m.classes), func(i int) bool { return m.classes[i].nodes >= nodes })
	if i == len(m.classes) {
		return nil
	}
	return &m.classes[i]
}

func (m *partitioned) Capacity() protocol.Capacity { return m.capacity }

func (m *partitioned) Units(r protocol.Request) (units int, reason string) {
	if reason = m.capacity.Fits(r); reason != "" {
		return 0, reason
	}
	nodes := max(1, r.LeastNodes(), int(ceil(int64(r.CPUs), int64(m.perNode))))
	c := m.class(nodes)
	if c == nil {
		return 0, fmt.Sprintf("needs %d nodes, the largest partition has %d", nodes, m.classes[len(m.classes)-1].nodes)
	}
	return c.nodes, ""
}

func (m *partitioned) CPUs(units int) int { return units * m.perNode }

func (m *partitioned) Pool() bool { return false }

func (m *partitioned) PlaceName(place Place) string {
	if place < 0 || int(place) >= len(m.lots) {
		return ""
	}
	return m.lots[place].name
}

func (m *partitioned) PlaceNamed(name string, units int) (place Place, ok bool) {
	for i := range m.lots {
		if m.lots[i].name == name {
			return Place(i), m.lots[i].nodes == units
		}
	}
	return 0, false
}

func (m *partitioned) NewFreeSet() FreeSet {
	return &partitionFreeSet{
		machine:  m,
		blocked:  make([]int16, len(m.lots)),
		barred:   newBitset(len(m.lots)),
		free:     fullBitset(len(m.lots)),
		cardJobs: make([]int16, len(m.cards)),
		closed:   newBitset(len(m.cards)),
		open:     fullBitset(len(m.cards)),
		nodes:    m.capacity.Nodes,
	}
}
