package partition_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

func generate(tb testing.TB, rows, columns int) *partition.Layout {
	tb.Helper()
	l, err := partition.Generate(rows, columns)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// irregular are Intrepid's partitions that are not generated, beside those of single
// cards.
func irregular() []string {
	return []string{
		// blocks of columns over the rows 0 and 1, and the middle halves of these rows
		"ANL-R00-R11-4096", "ANL-R02-R13-4096", "ANL-R04-R15-4096", "ANL-R06-R17-4096",
		"ANL-R02-R05-4096", "ANL-R12-R15-4096",
		"ANL-R00-R13-8192", "ANL-R02-R15-8192", "ANL-R04-R17-8192",
		// rows that are joined through another one
		"ANL-R30-R47-16384", "ANL-R20-R27-R40-R47-16384", "ANL-R10-R47-32768",
		// made once
		"ANL-R00-M0-R01-M1-1024", "MESH-R33-M0-512", "MESH-R40-M0-512", "MESH-R32-R33-2048", "SPLIT-R20-R21-R30-R31-4096",
	}
}

// TestGenerateIntrepid: all of Intrepid's regular partitions come out of the
// generator as they are, with nodes, cards, wires and the conflicts among them, and
// no others.
func TestGenerateIntrepid(t *testing.T) {
	t.Parallel()
	made, built := generate(t, 5, 8), intrepid(t)
	if !slices.Equal(made.Cards, built.Cards) {
		t.Fatal("the cards differ")
	}
	var regular []string
	for _, p := range built.Partitions {
		if !slices.Contains(irregular(), p.Name) && !strings.HasPrefix(p.Name, "_SAD_") {
			regular = append(regular, p.Name)
		}
	}
	if len(regular) != len(made.Partitions) || len(regular) != 1467-40-len(irregular()) {
		t.Errorf("%d partitions are made, %d are regular", len(made.Partitions), len(regular))
	}
	for i := range made.Partitions {
		p := &made.Partitions[i]
		at, ok := built.Find(p.Name)
		if !ok {
			t.Errorf("Intrepid has no %s", p.Name)
			continue
		}
		twin := &built.Partitions[at]
		if p.Nodes != twin.Nodes || p.Kind != twin.Kind || !slices.Equal(p.Cards, twin.Cards) || !slices.Equal(p.Wires, twin.Wires) {
			t.Errorf("%s is %+v, want %+v", p.Name, p, twin)
		}
		want := slices.DeleteFunc(conflicts(t, built, p.Name), func(name string) bool { return !slices.Contains(regular, name) })
		if got := conflicts(t, made, p.Name); !slices.Equal(got, want) {
			t.Errorf("%s excludes %v, want %v", p.Name, got, want)
		}
	}
}

// TestGenerate checks each machine that can be made: the whole of it is a partition,
// midplanes exclude nothing of their size, and the text of it can be read.
func TestGenerate(t *testing.T) {
	t.Parallel()
	for rows := 1; rows <= 10; rows++ {
		for _, columns := range []int{1, 2, 4, 8} {
			l := generate(t, rows, columns)
			nodes := rows * columns * 1024
			if l.Nodes() != nodes {
				t.Errorf("%d×%d racks have %d nodes", rows, columns, l.Nodes())
			}
			if !slices.ContainsFunc(l.Partitions, func(p partition.Partition) bool { return p.Nodes == nodes }) {
				t.Errorf("%d×%d racks have no partition of all", rows, columns)
			}
			for i := range l.Partitions {
				p := &l.Partitions[i]
				if p.Nodes != 512 || p.Kind == partition.Diagnostics {
					continue
				}
				if slices.ContainsFunc(l.Conflicts(i), func(j int) bool {
					return l.Partitions[j].Nodes == 512 && l.Partitions[j].Kind != partition.Diagnostics
				}) {
					t.Errorf("%d×%d racks: %s excludes another midplane", rows, columns, p.Name)
				}
			}
			if text := written(t, l); text != written(t, parse(t, text)) {
				t.Errorf("%d×%d racks are not written as they are read", rows, columns)
			}
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{0, 8}, {11, 8}, {1, 0}, {1, 3}, {1, 16}, {-1, -1}} {
		if _, err := partition.Generate(size[0], size[1]); err == nil {
			t.Errorf("%d rows of %d racks were laid out", size[0], size[1])
		}
	}
}

// TestGenerateRack: a machine of one rack closes its loop in itself.
func TestGenerateRack(t *testing.T) {
	t.Parallel()
	l := generate(t, 1, 1)
	i, ok := l.Find("ANL-R00-1024")
	if !ok {
		t.Fatal("there is no rack")
	}
	wires := l.Partitions[i].Wires
	for _, loop := range []string{"Z_R00-M0Z_R00-M1", "Z_R00-M1Z_R00-M0"} {
		if !slices.Contains(wires, loop) {
			t.Errorf("no wire %s in %v", loop, wires)
		}
	}
	if len(wires) != 14 {
		t.Errorf("%d wires, want 12 to the switches and 2 between them", len(wires))
	}
}

func BenchmarkIntrepid(b *testing.B) {
	for b.Loop() {
		intrepid(b)
	}
}
