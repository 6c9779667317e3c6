package partition

import (
	"cmp"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// layout looks all names up and checks what the lines say of each other.
func (d *draft) layout() (*Layout, error) {
	if len(d.List) == 0 && len(d.partitions) == 0 {
		d.wrong(0, "it has no partition; see the documentation of the format")
	}
	if len(d.cards) > maxCards || len(d.partitions) > maxPartitions {
		d.wrong(0, "it has %d cards and %d partitions; a layout has at most %d and %d",
			len(d.cards), len(d.partitions), maxCards, maxPartitions)
		return nil, d.err()
	}
	l := &Layout{}
	d.sortCards(l)
	d.sortPartitions(l)
	if d.placeCards(l) {
		d.relate(l)
		d.checkParents(l)
		d.checkCycles(l)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	l.index()
	return l, nil
}

// sortCards puts the cards in order. Of two of one name the first counts.
func (d *draft) sortCards(l *Layout) {
	slices.SortStableFunc(d.cards, func(a, b cardLine) int { return cmp.Compare(a.Name, b.Name) })
	for i, c := range d.cards {
		if n := len(l.Cards); n > 0 && l.Cards[n-1].Name == c.Name {
			d.wrong(c.line, "duplicate card %s, first in line %d; remove one", c.Name, d.firstCard(i))
			continue
		}
		l.Cards = append(l.Cards, c.Card)
	}
}

// firstCard is the line of the first card that has the name of the one at i.
func (d *draft) firstCard(i int) int {
	for i > 0 && d.cards[i-1].Name == d.cards[i].Name {
		i--
	}
	return d.cards[i].line
}

// sortPartitions puts the partitions in order. Of two of one name the first counts.
func (d *draft) sortPartitions(l *Layout) {
	slices.SortStableFunc(d.partitions, func(a, b partitionLine) int { return cmp.Compare(a.name, b.name) })
	kept := d.partitions[:0]
	for _, p := range d.partitions {
		if n := len(kept); n > 0 && kept[n-1].name == p.name {
			d.wrong(p.line, "duplicate partition %s, first in line %d; remove one", p.name, kept[n-1].line)
			continue
		}
		kept = append(kept, p)
		l.Partitions = append(l.Partitions, Partition{Name: p.name, Nodes: p.nodes, Kind: p.kind})
	}
	d.partitions = kept
}

// placeCards looks the cards and wires of each partition up and adds them up. It
// returns false when there are too many to go on.
func (d *draft) placeCards(l *Layout) bool {
	places := 0
	for i := range l.Partitions {
		from, p := &d.partitions[i], &l.Partitions[i]
		p.Cards = d.cardsOf(l, from)
		p.Wires = slices.Sorted(slices.Values(from.wires))
		p.Wires = unique(p.Wires, func(wire string) { d.wrong(from.line, "wire %s is listed twice; remove one", wire) })
		if places += len(p.Cards); places > maxPlaces {
			d.wrong(from.line, "the partitions up to this one have more than %d cards in all", maxPlaces)
			return false
		}
		d.checkSum(l, from, p)
	}
	return true
}

func (d *draft) cardsOf(l *Layout, p *partitionLine) (cards []int) {
	for _, name := range p.cards {
		if i, ok := slices.BinarySearchFunc(l.Cards, name, byCardName); ok {
			cards = append(cards, i)
			continue
		}
		from, to := below(l.Cards, name)
		if from == to {
			d.wrong(p.line, "there is no card %s and none below it; declare it as card,%s,NODES", problems.Quote(name), name)
		}
		for i := from; i < to; i++ {
			cards = append(cards, i)
		}
		if len(cards) > maxPlaces {
			break // the caller says so
		}
	}
	slices.Sort(cards)
	return unique(cards, func(card int) {
		d.wrong(p.line, "card %s is listed twice; remove one", l.Cards[card].Name)
	})
}

// checkSum compares the nodes of a partition with those of its cards.
func (d *draft) checkSum(l *Layout, from *partitionLine, p *Partition) {
	nodes, known := 0, p.Nodes > 0
	for _, card := range p.Cards {
		nodes += l.Cards[card].Nodes
		known = known && l.Cards[card].Nodes > 0
	}
	switch {
	case len(from.cards) == 0:
		d.wrong(from.line, "%s has no cards; list them in the fifth field", p.Name)
	case known && len(p.Cards) > 0 && nodes != p.Nodes:
		d.wrong(from.line, "%s is to have %d nodes, but its cards have %d in all", p.Name, p.Nodes, nodes)
	}
}

// relate looks the parents and conflicts up.
func (d *draft) relate(l *Layout) {
	for i := range l.Partitions {
		from, p := &d.partitions[i], &l.Partitions[i]
		p.Parents = d.find(l, from, "parent", from.parents)
		p.Apart = d.find(l, from, "conflict", from.conflicts)
		if slices.Contains(p.Apart, i) {
			d.wrong(from.line, "%s is in conflict with itself; remove that", p.Name)
		}
	}
}

func (d *draft) find(l *Layout, p *partitionLine, what string, names []string) (found []int) {
	for _, name := range names {
		i, ok := l.Find(name)
		if !ok {
			d.wrong(p.line, "there is no partition %s to be a %s of %s", problems.Quote(name), what, p.name)
			continue
		}
		found = append(found, i)
	}
	slices.Sort(found)
	return unique(found, func(i int) {
		d.wrong(p.line, "%s %s is listed twice; remove one", what, l.Partitions[i].Name)
	})
}

// checkParents checks that parents hold the cards of their children.
func (d *draft) checkParents(l *Layout) {
	for i := range l.Partitions {
		p := &l.Partitions[i]
		for _, parent := range p.Parents {
			if lacks := l.Partitions[parent].lacks(p); len(lacks) > 0 {
				d.wrong(d.partitions[i].line, "%s is no parent of %s: it lacks %d of its cards, the first of them %s",
					l.Partitions[parent].Name, p.Name, len(lacks), l.Cards[lacks[0]].Name)
			}
		}
	}
}

// checkCycles names each cycle of parents that a walk upwards meets.
func (d *draft) checkCycles(l *Layout) {
	const unseen, onPath, done = 0, 1, 2
	state := make([]int, len(l.Partitions))
	var path []int
	var climb func(i int)
	climb = func(i int) {
		state[i] = onPath
		path = append(path, i)
		for _, parent := range l.Partitions[i].Parents {
			switch state[parent] {
			case unseen:
				climb(parent)
			case onPath:
				d.sayCycle(l, path[slices.Index(path, parent):])
			}
		}
		path = path[:len(path)-1]
		state[i] = done
	}
	for i := range l.Partitions {
		if state[i] == unseen {
			climb(i)
		}
	}
}

func (d *draft) sayCycle(l *Layout, cycle []int) {
	const most = 20 // names in a message
	var names []string
	for _, i := range cycle[:min(len(cycle), most)] {
		names = append(names, l.Partitions[i].Name)
	}
	if len(cycle) > most {
		names = append(names, "…")
	}
	names = append(names, names[0])
	d.wrong(d.partitions[cycle[0]].line, "the parents run in a circle: %s; remove one of them", strings.Join(names, " > "))
}

// unique drops the second of two equal neighbours and tells of each.
func unique[T comparable](sorted []T, twice func(T)) []T {
	kept := sorted[:0]
	for i, item := range sorted {
		if i > 0 && item == kept[len(kept)-1] {
			twice(item)
			continue
		}
		kept = append(kept, item)
	}
	return kept
}
