package partition

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Write writes the layout in the format of the package, cards and partitions in the
// order of their names. [Parse] reads the same layout from it, and equal layouts are
// written alike to the byte.
func (l *Layout) Write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# kind,name,nodes\n")
	for _, c := range l.Cards {
		writeLine(&b, "card", c.Name, strconv.Itoa(c.Nodes))
	}
	b.WriteString("# kind,name,nodes,type,cards,wires,parents,conflicts\n")
	for i := range l.Partitions {
		p := &l.Partitions[i]
		writeLine(&b, "partition", p.Name, strconv.Itoa(p.Nodes), p.Kind.String(),
			strings.Join(l.shorten(p.Cards), " "), strings.Join(p.Wires, " "), l.names(p.Parents), l.names(p.Apart))
	}
	_, err := b.WriteTo(w)
	return err
}

// writeLine writes fields without the empty ones at the end.
func writeLine(b *bytes.Buffer, fields ...string) {
	b.WriteString(strings.TrimRight(strings.Join(fields, ","), ","))
	b.WriteByte('\n')
}

func (l *Layout) names(partitions []int) string {
	names := make([]string, len(partitions))
	for i, p := range partitions {
		names[i] = l.Partitions[p].Name
	}
	return strings.Join(names, " ")
}

// shorten names cards by the shortest prefixes that stand for nothing else.
func (l *Layout) shorten(cards []int) (names []string) {
	for len(cards) > 0 {
		name, n := l.prefix(cards)
		names = append(names, name)
		cards = cards[n:]
	}
	return names
}

// prefix is the shortest name for the first n cards.
func (l *Layout) prefix(cards []int) (name string, n int) {
	full := l.Cards[cards[0]].Name
	for end := range full {
		if full[end] != '-' || end == 0 {
			continue
		}
		from, to := below(l.Cards, full[:end])
		n = to - from
		if n < 2 || n > len(cards) || cards[n-1] != to-1 {
			continue // some card below the prefix is not among them
		}
		if _, isCard := slices.BinarySearchFunc(l.Cards, full[:end], byCardName); !isCard {
			return full[:end], n
		}
	}
	return full, 1
}
