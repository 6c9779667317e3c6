package partition

import (
	"fmt"
	"slices"
	"strconv"
)

// Sizes of Blue Gene/P, in nodes and cards.
const (
	cardNodes     = 32
	midplaneCards = 16
	midplaneNodes = midplaneCards * cardNodes
	rackNodes     = 2 * midplaneNodes
)

// Generate is the layout of a Blue Gene/P of some rows of 1, 2, 4 or 8 racks, in the
// manner of [Intrepid], with its names and wires and without what is irregular
// there:
//
//	nodes            partitions
//	64, 128, 256     parts of a midplane, which have no wires and are meshes
//	512              midplanes, for jobs and for diagnostics
//	1024             racks; a torus runs through the other rack of its pair, so each is a mesh too
//	2048             pairs of racks
//	4096             half rows of 8 racks; a torus runs through the other half, so each is a mesh too
//	the row's        rows
//	more             several rows; the first has an even number, the last is the second of its pair or the last of all
//
// Rows are numbered from 0 to at most 9.
func Generate(rows, columns int) (*Layout, error) {
	if rows < 1 || rows > 10 {
		return nil, fmt.Errorf("a machine of %d rows of racks cannot be laid out; choose 1 to 10", rows)
	}
	if !slices.Contains([]int{1, 2, 4, 8}, columns) {
		return nil, fmt.Errorf("rows of %d racks cannot be laid out; choose 1, 2, 4 or 8", columns)
	}
	f := floor{draft: draft{file: "the generated layout"}, rows: rows, columns: columns}
	for row := range rows {
		for column := range columns {
			f.rack(row, column)
		}
		f.row(row)
	}
	for row := 0; row < rows; row += 2 {
		for last := row + 1; last < rows; last++ {
			if last%2 == 1 || last == rows-1 {
				f.rowsOf(row, last)
			}
		}
	}
	return f.nested()
}

// floor is the racks of a machine and the partitions made of them so far. Midplanes
// have coordinates on a torus:
//
//	x  the row
//	y  the pair of racks in the row
//	z  the midplane in the pair: 2 × the rack + the half
//
// In rows of x mod 4 = 1 and 2 half 0 is the midplane M1, as on Intrepid, because
// the wires of X cross there.
type floor struct {
	draft

	rows, columns int
}

// span is a range of coordinates in one direction.
type span struct{ from, to int } // to is not in it

func (s span) length() int { return s.to - s.from }

func (s span) has(at int) bool { return at >= s.from && at < s.to }

// box is a set of midplanes: a span of x, of y and of z.
type box [3]span

// size is how many midplanes there are in each direction.
func (f *floor) size() [3]int {
	return [3]int{f.rows, max(1, f.columns/2), min(4, 2*f.columns)}
}

// midplane is the name of the one at some coordinates.
func (f *floor) midplane(at [3]int) string {
	half := at[2] % 2
	if at[0]%4 == 1 || at[0]%4 == 2 {
		half = 1 - half
	}
	return fmt.Sprintf("%s-M%d", rackName(at[0], 2*at[1]+at[2]/2), half)
}

func rackName(row, column int) string { return fmt.Sprintf("R%d%d", row, column) }

// rack makes the partitions within a rack, and of the rack.
func (f *floor) rack(row, column int) {
	pair := span{column / 2, column/2 + 1}
	z := span{column % 2 * 2, column%2*2 + 2}
	for at := z.from; at < z.to; at++ {
		f.midplaneParts(box{{row, row + 1}, pair, {at, at + 1}})
	}
	rack := box{{row, row + 1}, pair, z}
	name := rackName(row, column)
	f.add("ANL-"+name, Torus, rack)
	if f.columns > 1 {
		f.add("MESH-"+name, Mesh, rack)
	}
}

// midplaneParts declares the cards of a midplane and makes its partitions.
func (f *floor) midplaneParts(b box) {
	name := f.midplane([3]int{b[0].from, b[1].from, b[2].from})
	cards := make([]string, midplaneCards)
	for i := range cards {
		cards[i] = fmt.Sprintf("%s-N%02d", name, i)
		f.cards = append(f.cards, cardLine{Card: Card{cards[i], cardNodes}})
	}
	for width := 2; width < midplaneCards; width *= 2 {
		for i := 0; i < midplaneCards; i += width {
			f.partitions = append(f.partitions, partitionLine{
				name:  fmt.Sprintf("ANL-%s-%d", cards[i], width*cardNodes),
				nodes: width * cardNodes, kind: Mesh, cards: cards[i : i+width],
			})
		}
	}
	f.add("ANL-"+name, Torus, b)
	f.partitions = append(f.partitions, partitionLine{
		name: "_DIAGS_" + name, nodes: midplaneNodes, kind: Diagnostics, cards: []string{name}, wires: f.wires(b, Torus),
	})
}

// row makes the partitions of several racks of one row.
func (f *floor) row(row int) {
	size := f.size()
	add := func(prefix string, kind Kind, pairs span) {
		first, last := rackName(row, 2*pairs.from), rackName(row, 2*pairs.to-1)
		f.add(prefix+first+"-"+last, kind, box{{row, row + 1}, pairs, {0, size[2]}})
	}
	for pairs := 1; pairs <= f.columns/2; pairs *= 2 {
		for from := 0; from < size[1]; from += pairs {
			add("ANL-", Torus, span{from, from + pairs})
			if pairs > 1 && pairs < size[1] {
				add("MESH-", Mesh, span{from, from + pairs})
			}
		}
	}
}

// rowsOf makes the partition of several rows.
func (f *floor) rowsOf(first, last int) {
	size := f.size()
	name := "ANL-" + rackName(first, 0) + "-" + rackName(last, f.columns-1)
	f.add(name, Torus, box{{first, last + 1}, {0, size[1]}, {0, size[2]}})
}

// add makes a partition of whole midplanes. Its size is appended to the name.
func (f *floor) add(name string, kind Kind, b box) {
	nodes := midplaneNodes
	for _, s := range b {
		nodes *= s.length()
	}
	p := partitionLine{name: name + "-" + strconv.Itoa(nodes), nodes: nodes, kind: kind, wires: f.wires(b, kind)}
	b.each(func(at [3]int) { p.cards = append(p.cards, f.midplane(at)) })
	f.partitions = append(f.partitions, p)
}

// each visits the midplanes of a box.
func (b box) each(visit func(at [3]int)) {
	for x := b[0].from; x < b[0].to; x++ {
		for y := b[1].from; y < b[1].to; y++ {
			for z := b[2].from; z < b[2].to; z++ {
				visit([3]int{x, y, z})
			}
		}
	}
}

// wires are those of a partition: between its midplanes and their switches, and
// between switches. A torus has every midplane on its switches, and closes its loops
// of Y and Z, if it has any, through all the switches there are; those of X close
// within the rows that [Generate] joins. A mesh uses the directions in which it has
// more than one midplane, and the wires between its own switches only.
func (f *floor) wires(b box, kind Kind) (wires []string) {
	for direction, letter := range []string{"X_", "Y_", "Z_"} {
		long := b[direction].length() > 1
		if !long && kind == Mesh {
			continue
		}
		b.each(func(at [3]int) {
			name := f.midplane(at)
			wires = append(wires, name+letter+name, letter+name+name)
		})
		if !long {
			continue
		}
		switches := b[direction]
		if kind == Torus && direction > 0 {
			switches = span{0, f.size()[direction]}
		}
		across := b
		across[direction] = span{0, 1}
		for _, link := range f.links(direction) {
			if !switches.has(link[0]) || !switches.has(link[1]) {
				continue
			}
			across.each(func(at [3]int) {
				from, to := at, at
				from[direction], to[direction] = link[0], link[1]
				wires = append(wires, letter+f.midplane(from)+letter+f.midplane(to))
			})
		}
	}
	return wires
}

// links are the wires from switch to switch along one line of a direction. Those of
// Y and Z are a loop that is folded, so that no wire is long: 0 > 1 > 3 > 2 > 0.
// Those of X are a folded loop too, 0 > 2 > 4 > 3 > 1 > 0, with wires between the
// rows 0 and 1, 2 and 3 and so on that close it anywhere.
func (f *floor) links(direction int) [][2]int {
	n := f.size()[direction]
	switch {
	case direction == 0:
		return rowLinks(n)
	case n == 4:
		return [][2]int{{0, 1}, {1, 3}, {3, 2}, {2, 0}}
	case n == 2:
		return [][2]int{{0, 1}, {1, 0}}
	}
	return nil
}

func rowLinks(rows int) (links [][2]int) {
	for row := 0; row+1 < rows; row += 2 {
		links = append(links, [2]int{row, row + 1}, [2]int{row + 1, row})
		if row+2 < rows {
			links = append(links, [2]int{row, row + 2}, [2]int{min(row+3, rows-1), row + 1})
		}
	}
	return links
}

// nested is the layout with the parents that its cards tell.
func (f *floor) nested() (*Layout, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	for i := range l.Partitions {
		l.Partitions[i].Parents = l.Above(i)
	}
	return l, nil
}
