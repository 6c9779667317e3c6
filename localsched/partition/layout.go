package partition

import (
	"cmp"
	"slices"
	"strings"
)

// Kind is what a partition is for and how its midplanes are joined.
type Kind int

const (
	// Torus is a partition whose loops are closed, if need be through the switches
	// of midplanes that are not its own.
	Torus Kind = iota
	// Mesh is a partition that uses no switches but its own.
	Mesh
	// Diagnostics is a partition in which no job runs.
	Diagnostics
)

// String is the word for it in files.
func (k Kind) String() string {
	switch k {
	case Torus:
		return "torus"
	case Mesh:
		return "mesh"
	case Diagnostics:
		return "diagnostics"
	}
	return "unknown"
}

// Card is a node card, the smallest part of a machine that is given away.
type Card struct {
	Name  string
	Nodes int // at least 1
}

// Partition is a part of a machine that runs one job at a time.
type Partition struct {
	Name    string
	Nodes   int // of all its cards
	Kind    Kind
	Cards   []int    // indices of [Layout.Cards], rising, at least one
	Wires   []string // rising
	Parents []int    // indices of [Layout.Partitions], rising; each holds all of the cards
	Apart   []int    // further conflicts, as indices of [Layout.Partitions], as declared at this one
}

// Layout is how one machine is cut. It does not change; whoever reads it leaves its
// slices as they are.
type Layout struct {
	Cards      []Card      // by name
	Partitions []Partition // by name

	onCard [][]int          // the partitions that hold a card
	onWire map[string][]int // the partitions that use a wire
	apart  [][]int          // further conflicts, both ways
}

// index makes the ways back from cards, wires and conflicts to partitions.
func (l *Layout) index() {
	l.onCard, l.onWire, l.apart = make([][]int, len(l.Cards)), map[string][]int{}, make([][]int, len(l.Partitions))
	for i := range l.Partitions {
		p := &l.Partitions[i]
		for _, card := range p.Cards {
			l.onCard[card] = append(l.onCard[card], i)
		}
		for _, wire := range p.Wires {
			l.onWire[wire] = append(l.onWire[wire], i)
		}
		for _, other := range p.Apart {
			l.apart[i] = append(l.apart[i], other)
			l.apart[other] = append(l.apart[other], i)
		}
	}
}

// Nodes is the sum of the nodes of all cards.
func (l *Layout) Nodes() (nodes int) {
	for _, card := range l.Cards {
		nodes += card.Nodes
	}
	return nodes
}

// Find is the index of the partition of a name.
func (l *Layout) Find(name string) (i int, ok bool) {
	return slices.BinarySearchFunc(l.Partitions, name, func(p Partition, name string) int {
		return cmp.Compare(p.Name, name)
	})
}

// Conflicts are the partitions that cannot run beside one, rising: those that share
// a node card or a wire with it, those that it names and those that name it. The
// partition itself is not among them.
func (l *Layout) Conflicts(i int) []int {
	p := &l.Partitions[i]
	found := make([]bool, len(l.Partitions))
	mark := func(others []int) {
		for _, other := range others {
			found[other] = true
		}
	}
	for _, card := range p.Cards {
		mark(l.onCard[card])
	}
	for _, wire := range p.Wires {
		mark(l.onWire[wire])
	}
	mark(l.apart[i])
	found[i] = false
	var conflicts []int
	for other, conflict := range found {
		if conflict {
			conflicts = append(conflicts, other)
		}
	}
	return conflicts
}

// Above are the partitions for jobs that hold all cards of one, and more, with none
// between: what a file should name as its parents.
func (l *Layout) Above(i int) []int {
	p := &l.Partitions[i]
	var larger []int
	for _, other := range l.onCard[p.Cards[0]] {
		o := &l.Partitions[other]
		if o.Kind != Diagnostics && len(o.Cards) > len(p.Cards) && o.holds(p) {
			larger = append(larger, other)
		}
	}
	return slices.DeleteFunc(slices.Clone(larger), func(other int) bool {
		o := &l.Partitions[other]
		return slices.ContainsFunc(larger, func(between int) bool {
			b := &l.Partitions[between]
			return len(b.Cards) < len(o.Cards) && o.holds(b)
		})
	})
}

// holds reports whether all cards of another partition are cards of this one.
func (p *Partition) holds(other *Partition) bool { return len(p.lacks(other)) == 0 }

// lacks are the cards of another partition that are none of this one.
func (p *Partition) lacks(other *Partition) (cards []int) {
	at := 0
	for _, card := range other.Cards {
		for at < len(p.Cards) && p.Cards[at] < card {
			at++
		}
		if at == len(p.Cards) || p.Cards[at] != card {
			cards = append(cards, card)
		}
	}
	return cards
}

// below is the range of the cards, sorted by name, whose names begin with a prefix
// and a hyphen.
func below(cards []Card, prefix string) (from, to int) {
	prefix += "-"
	from, _ = slices.BinarySearchFunc(cards, prefix, byCardName)
	for to = from; to < len(cards) && strings.HasPrefix(cards[to].Name, prefix); to++ {
	}
	return from, to
}

func byCardName(c Card, name string) int { return cmp.Compare(c.Name, name) }
